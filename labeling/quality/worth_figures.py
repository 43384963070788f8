"""Worth of a model's pre-labels, measured on labels that people gave blind. Pure.

Two questions that are easily confused. As *labels*: how many of the relevant documents would they miss, and
how much of what they call relevant is not? As *help to an estimate*: the variance that is left where each
label is compared with the prediction, 1 - ρ², is the share of an audit's labels that is still needed for an
interval of the same width (Angelopoulos et al., Prediction-powered inference, 2023); 1/(1 - ρ²) is what one
such label is worth with the predictions next to it. Nobody may leave pairs of a queue unjudged for it.

Intervals are at 95 %, with the query as the cluster (`labeling.consensus.clustered`). Shares have Wilson's,
but elusion, the risk of believing a negative, has the exact one of Clopper and Pearson. Where labels come
from a design with unequal probabilities, each weighs 1/π.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, TypedDict

from labeling.consensus.agreement import Figure
from labeling.consensus.clustered import (
    FEWEST_QUERIES,
    LEVEL,
    correlation_over_queries,
    kappa_over_queries,
    numbered,
    share_over_queries,
)
from labeling.consensus.shares import Share
from pooling.formats.wording import plural
from pooling.heavy import ArrayLike, Booleans, Floats, Integers, np

#: Below this many blind labels there is no verdict.
FEWEST_LABELS = 50
BINS = 10


@dataclass(frozen=True)
class Compared:
    """Pairs that a person judged blind and the model labelled too: arrays (n,).

    relevant: the person's verdict; verdict: the model's; score: its score in [0, 1]; weight: 1/π; query: the
    number of the pair's query.
    """

    relevant: Booleans
    verdict: Booleans
    score: Floats
    weight: Floats
    query: Integers

    @classmethod
    def of(
        cls,
        relevant: ArrayLike,
        verdict: ArrayLike,
        score: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
        query: ArrayLike | None = None,
    ) -> Compared:
        """From anything that makes an array. A score that is missing (NaN, or none at all) is the verdict as
        0 or 1; without `query`, each pair is of a separate query. Raises ValueError where lengths differ, a
        score lies outside [0, 1], or a weight is not above 0."""
        people, model = np.asarray(relevant, dtype=np.bool_), np.asarray(verdict, dtype=np.bool_)
        scores = model.astype(np.float64) if score is None else np.asarray(score, dtype=np.float64)
        weights = np.ones(len(people)) if weight is None else np.asarray(weight, dtype=np.float64)
        number = np.arange(len(people)) if query is None else numbered(query)[1]
        if len({people.shape, model.shape, scores.shape, weights.shape, number.shape}) > 1:
            raise ValueError("Labels, verdicts, scores, weights and queries must be equally many.")
        scores = np.where(np.isnan(scores), model, scores)
        if not ((scores >= 0) & (scores <= 1)).all():
            raise ValueError("A score lies outside the range 0 to 1; divide graded ones by the top grade.")
        if not ((weights > 0) & np.isfinite(weights)).all():
            raise ValueError(
                "A weight is not a number above 0; it is 1 divided by the inclusion probability."
            )
        return cls(people, model, scores, weights, number)

    def __len__(self) -> int:
        return len(self.relevant)

    def only(self, chosen: Booleans) -> Compared:
        return Compared(
            self.relevant[chosen],
            self.verdict[chosen],
            self.score[chosen],
            self.weight[chosen],
            self.query[chosen],
        )

    @cached_property
    def queries(self) -> int:
        return numbered(self.query)[0]


@dataclass(frozen=True)
class Confusion:
    """Pairs by what people and the model call relevant."""

    both: int
    model_only: int
    person_only: int
    neither: int


class ShareOfBin(TypedDict):
    """The share of a bin's pairs that people found relevant; no interval below eight queries."""

    value: float | None
    low: float | None
    high: float | None
    count: int
    labels: int


@dataclass(frozen=True)
class Bin:
    """Pairs whose score lies in [low, high)."""

    # The last bin holds its end too.
    low: float
    high: float
    score: Annotated[float, "Mean."]
    relevant: Annotated[Share, ShareOfBin]


@dataclass(frozen=True)
class Calibration:
    """Test of scores as chances: expected calibration error and Brier score."""

    # The mean distance of a bin's score from its share (Naeini et al., 2015), and the mean squared distance
    # of score and label (Brier, 1950).
    bins: tuple[Bin, ...]
    error: float | None
    brier: float | None


@dataclass(frozen=True)
class Quality:
    """A model and prompt against blind labels.

    prevalence: relevant among the labels; called: what the model calls relevant. precision: relevant among
    these; recall, missed: the share of the relevant that the model finds, and that it would miss as labels;
    elusion: relevant among what it calls not relevant. correlation: of score and label; gain: 1/(1 - ρ²),
    labels that one is worth with the scores next to it; saved: ρ², the share of an audit's labels saved at
    equal width of the interval. A score that errs in the other direction saves nothing, and one whose spread
    is too small saves what a weight λ of at most 1 can make of it. verdict: a sentence, or None and `why`.
    """

    labels: int
    queries: int
    confusion: Confusion
    agreement: Share
    kappa: Figure
    prevalence: Share
    called: Share
    precision: Share
    recall: Share
    missed: Share
    elusion: Share
    correlation: Figure
    gain: Figure
    saved: Figure
    calibration: Calibration
    verdict: str | None
    why: str


def quality(pairs: Compared) -> Quality:
    """All figures of a model on these pairs.

    >>> labels, verdicts = np.arange(100) < 30, (np.arange(100) >= 10) & (np.arange(100) < 35)
    >>> print(quality(Compared.of(labels, verdicts, query=np.arange(100) % 20)).verdict)
    On 100 blind labels of 20 queries this model saves about 40 % of an audit's labels (16 to 61 %); used \
as labels, it would miss 33 % of the relevant documents.
    """
    people, model = pairs.relevant, pairs.verdict
    every = np.ones(len(pairs), dtype=np.bool_)
    recall = _share(pairs, model, people)
    correlation, missed = correlation_of(pairs), recall.flipped()
    saved = saved_by(pairs, correlation)
    verdict, why = _verdict(pairs, saved, missed)
    return Quality(
        labels=len(pairs),
        queries=pairs.queries,
        confusion=Confusion(
            *(
                int(cell.sum())
                for cell in (people & model, ~people & model, people & ~model, ~people & ~model)
            )
        ),
        agreement=_share(pairs, people == model, every),
        kappa=kappa_of(pairs),
        prevalence=_share(pairs, people, every),
        called=_share(pairs, model, every),
        precision=_share(pairs, people, model),
        recall=recall,
        missed=missed,
        elusion=_share(pairs, people, ~model, exact=True),
        correlation=correlation,
        gain=_turned(saved),
        saved=saved,
        calibration=calibration_of(pairs),
        verdict=verdict,
        why=why,
    )


def quality_by_group(pairs: Compared, groups: Sequence[Collection[str]]) -> dict[str, Quality]:
    """Quality within each group, by name in order; `groups` are those of each pair, its query or its tags."""
    if len(groups) != len(pairs):
        raise ValueError(f"There are {len(pairs)} pairs, and groups for {len(groups)}.")
    rows: dict[str, list[int]] = {}
    for row, names in enumerate(groups):
        for name in dict.fromkeys(names):
            rows.setdefault(name, []).append(row)
    chosen = np.zeros(len(pairs), dtype=np.bool_)
    result = {}
    for name in sorted(rows):
        chosen[:] = False
        chosen[rows[name]] = True
        result[name] = quality(pairs.only(chosen))
    return result


def kappa_of(pairs: Compared) -> Figure:
    """Cohen's kappa of person and model."""
    return kappa_over_queries(pairs.relevant, pairs.verdict, pairs.weight, query=pairs.query)


def correlation_of(pairs: Compared, level: float = LEVEL) -> Figure:
    """Pearson's ρ of score and label."""
    return correlation_over_queries(pairs.relevant, pairs.score, pairs.weight, query=pairs.query, level=level)


def saved_by(pairs: Compared, correlation: Figure) -> Figure:
    """The share of an audit's labels that a prediction-powered estimate saves: ρ² where ρ > 0."""
    if correlation.value is None:
        return Figure(None, why=correlation.why)
    deviation = [
        math.sqrt(float(np.cov(one, aweights=pairs.weight, ddof=0))) for one in (pairs.relevant, pairs.score)
    ]
    slope = correlation.value * deviation[0] / deviation[1]
    # At λ = 1 the variance left is that of label - score; λ may be no larger.
    kept = (2 * slope - 1) / slope**2 if slope > 1 else 1.0
    ends = (correlation.value, correlation.low, correlation.high)
    value, low, high = (None if one is None else max(one, 0.0) ** 2 * kept for one in ends)
    return Figure(value, low, high, correlation.why)


@dataclass(frozen=True)
class Best:
    """The model saving most of an audit's labels, by `key`; `saved` has an interval for any best one."""

    key: int
    compared: int
    saved: Figure

    def sentence(self, name: str) -> str:
        """The effect of choosing the best of many on its figure.

        >>> print(Best(7, 12, Figure(0.38, 0.09, 0.6)).sentence("small"))
        Of 12 models compared on these labels, small saves most: 38 % of an audit's labels. The best of many \
is partly luck; allowing for the choice, it saves 9 to 60 %.
        """
        low, high, value = (self.saved.low or 0.0, self.saved.high or 0.0, self.saved.value or 0.0)
        span = f"it saves {_span(low, high)}" if low else f"it may save nothing, and at most {_percent(high)}"
        return (
            f"Of {self.compared} models compared on these labels, {name} saves most: {_percent(value)} "
            f"of an audit's labels. The best of many is partly luck; allowing for the choice, {span}."
        )


def best_of(models: Mapping[int, Compared]) -> Best | None:
    """The best model with a verdict, by key, None of fewer than two; intervals by Bonferroni's rule."""
    measured = {key: saved_by(one, correlation_of(one)) for key, one in models.items() if len(one)}
    ready = {
        key: saved
        for key, saved in measured.items()
        if len(models[key]) >= FEWEST_LABELS and saved.low is not None
    }
    if len(ready) < 2:
        return None
    chosen = max(ready, key=lambda key: (ready[key].value or 0.0, -key))
    pairs = models[chosen]
    return Best(chosen, len(ready), saved_by(pairs, correlation_of(pairs, LEVEL / len(ready))))


def calibration_of(pairs: Compared) -> Calibration:
    """BINS equal bins with a pair; none below FEWEST_QUERIES, nor an interval in a bin of fewer queries."""
    if pairs.queries < FEWEST_QUERIES:
        return Calibration((), None, None)
    place = np.minimum((pairs.score * BINS).astype(np.int64), BINS - 1)
    table, error = [], 0.0
    for number in np.unique(place):
        inside = place == number
        weight = pairs.weight[inside]
        relevant_share = _share(pairs, pairs.relevant, inside)
        if relevant_share.value is None:
            relevant_share = replace(
                relevant_share, value=float(np.average(pairs.relevant[inside], weights=weight))
            )
        score = float(np.average(pairs.score[inside], weights=weight))
        table.append(Bin(number / BINS, (number + 1) / BINS, score, relevant_share))
        error += float(weight.sum()) * abs(score - (relevant_share.value or 0.0))
    brier = float(np.average((pairs.score - pairs.relevant) ** 2, weights=pairs.weight))
    return Calibration(tuple(table), error / float(pairs.weight.sum()), brier)


def _share(pairs: Compared, hits: Booleans, among: Booleans, *, exact: bool = False) -> Share:
    return share_over_queries(hits[among], pairs.weight[among], pairs.query[among], exact=exact)


def _verdict(pairs: Compared, saved: Figure, missed: Share) -> tuple[str | None, str]:
    labels, queries = len(pairs), pairs.queries
    if labels < FEWEST_LABELS or queries < FEWEST_QUERIES:
        given = f"{labels} {plural(labels, 'blind label')}"
        of = f" of {queries} {plural(queries, 'query')}" if queries else ""
        return None, f"{given}{of} so far; the verdict comes at {FEWEST_LABELS} of {FEWEST_QUERIES} queries."
    if not pairs.relevant.any():
        return None, f"None of {labels} blind labels is relevant, so what the model misses is unknown."
    if saved.value is None:
        return None, f"All {labels} blind labels, or all scores of the model, are the same."
    if saved.low is None or saved.high is None:
        return None, f"What the model saves cannot be estimated from {labels} blind labels: {saved.why}."
    if missed.value is None:
        return None, f"What the model misses cannot be estimated yet: relevant {missed.why}."
    lost = f"used as labels, it would miss {_percent(missed.value)} of the relevant documents."
    if not saved.low:
        saving = (
            "there is no evidence that this model saves any of an audit's labels (at most "
            f"{_percent(saved.high)})"
        )
    else:
        about = f"about {_percent(saved.value)} of an audit's labels"
        saving = f"this model saves {about} ({_span(saved.low, saved.high)})"
    return f"On {labels} blind labels of {queries} queries {saving}; {lost}", ""


def _span(low: float, high: float) -> str:
    return f"{_percent(low).removesuffix(' %')} to {_percent(high)}"


def _percent(share: float) -> str:
    """Whole percents, never rounded to none or all."""
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{share * 100:.0f} %"


def _turned(saved: Figure) -> Figure:
    """1/(1 - saved); infinite where everything is saved."""
    ends = (saved.value, saved.low, saved.high)
    value, low, high = (None if one is None else math.inf if one >= 1 else 1 / (1 - one) for one in ends)
    return Figure(value, low, high, saved.why)
