"""What a model's pre-labels are worth, measured on labels that people gave blind. Pure.

Two questions that are easily confused. As *labels*: how many of the relevant documents would they miss, and
how much of what they call relevant is not? As *help to an estimate*: the variance that is left where each
label is compared with the prediction, 1 - ρ², is the share of judgments that are still needed for an interval
of the same width (Angelopoulos et al., Prediction-powered inference, 2023); 1/(1 - ρ²) is what one label is
worth with the predictions beside it.

Intervals are at 95 %. Shares have Wilson's, but elusion, the risk of believing a negative, has the exact one
of Clopper and Pearson; kappa and the correlation have a linearised standard error, the correlation on the
scale of Fisher's z. Where labels come from a design with unequal probabilities, each weighs 1/π.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labeling.agreement import Figure, cohen_kappa
from labeling.shares import Booleans, Floats, Share, share_of

#: Below so many blind labels there is no verdict.
FEWEST_LABELS = 50
BINS = 10
Z = 1.959963984540054

ONE_SIDED = "undefined because people or the model said the same of every pair"
NO_SPREAD = "undefined because all labels or all scores are the same"
NOTHING_SAVED = "the model saves nothing, so nothing was bought"


@dataclass(frozen=True)
class Compared:
    """Pairs that a person judged blind and the model labelled too: arrays (n,).

    relevant: the person's verdict; verdict: the model's; score: its score in [0, 1]; weight: 1/π.
    """

    relevant: Booleans
    verdict: Booleans
    score: Floats
    weight: Floats

    @classmethod
    def of(
        cls,
        relevant: ArrayLike,
        verdict: ArrayLike,
        score: ArrayLike | None = None,
        weight: ArrayLike | None = None,
    ) -> Compared:
        """From anything that makes an array. A score that is missing (NaN, or none at all) is the verdict as
        0 or 1. Raises ValueError where lengths differ, a score lies outside [0, 1], or a weight is not above
        0.
        """
        people, model = np.asarray(relevant, dtype=np.bool_), np.asarray(verdict, dtype=np.bool_)
        scores = model.astype(np.float64) if score is None else np.asarray(score, dtype=np.float64)
        weights = np.ones(len(people)) if weight is None else np.asarray(weight, dtype=np.float64)
        if len({people.shape, model.shape, scores.shape, weights.shape}) > 1:
            raise ValueError("Labels, verdicts, scores and weights must be equally many.")
        scores = np.where(np.isnan(scores), model, scores)
        if not ((scores >= 0) & (scores <= 1)).all():
            raise ValueError("A score lies outside the range 0 to 1; divide graded ones by the top grade.")
        if not ((weights > 0) & np.isfinite(weights)).all():
            raise ValueError(
                "A weight is not a number above 0; it is 1 divided by the inclusion probability."
            )
        return cls(people, model, scores, weights)

    def __len__(self) -> int:
        return len(self.relevant)

    def only(self, chosen: Booleans) -> Compared:
        """Some of the pairs."""
        return Compared(self.relevant[chosen], self.verdict[chosen], self.score[chosen], self.weight[chosen])


@dataclass(frozen=True)
class Confusion:
    """Pairs by what the person and the model said of them, unweighted."""

    both: int
    model_only: int
    person_only: int
    neither: int


@dataclass(frozen=True)
class Bin:
    """Pairs whose score lies in [low, high) (the last bin holds its end too): the mean score, and how many of
    them people found relevant.
    """

    low: float
    high: float
    score: float
    relevant: Share


@dataclass(frozen=True)
class Calibration:
    """Whether scores are chances: `error` is the expected calibration error, the mean distance of a bin's
    score from its share (Naeini et al., 2015); `brier` the mean squared distance of score and label (Brier,
    1950).
    """

    bins: tuple[Bin, ...]
    error: float | None
    brier: float | None


@dataclass(frozen=True)
class Quality:
    """A model and prompt against blind labels.

    prevalence: relevant among the labels; called: what the model calls relevant. precision: relevant among
    these; recall, missed: the share of the relevant that the model finds, and that it would miss as labels;
    elusion: relevant among what it calls not relevant. correlation: of score and label; gain: 1/(1 - ρ²),
    labels that one is worth with the scores beside it; saved: ρ², the share of judgments saved at equal
    width of the interval. A score that errs in the other direction saves nothing, and one whose spread is too
    small saves what a weight λ of at most 1 can make of it. verdict: a sentence, or None and `why`.
    """

    labels: int
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
    >>> print(quality(Compared.of(labels, verdicts)).verdict)
    On 100 blind labels this model saves about 40 % of judgments; as labels it would miss 33 % of the \
relevant documents.
    """
    people, model, weight = pairs.relevant, pairs.verdict, pairs.weight
    recall = share_of(model[people], weight[people])
    correlation = correlation_of(pairs)
    saved = saved_by(pairs, correlation)
    missed = recall.flipped()
    verdict, why = _verdict(len(pairs), saved, missed)
    return Quality(
        labels=len(pairs),
        confusion=Confusion(
            *(
                int(cell.sum())
                for cell in (people & model, ~people & model, people & ~model, ~people & ~model)
            )
        ),
        agreement=share_of(people == model, weight),
        kappa=kappa_of(pairs),
        prevalence=share_of(people, weight),
        called=share_of(model, weight),
        precision=share_of(people[model], weight[model]),
        recall=recall,
        missed=missed,
        elusion=share_of(people[~model], weight[~model], exact=True),
        correlation=correlation,
        gain=_turned(saved),
        saved=saved,
        calibration=calibration_of(pairs),
        verdict=verdict,
        why=why,
    )


def quality_by_group(pairs: Compared, groups: Sequence[Collection[str]]) -> dict[str, Quality]:
    """The same within each group, by name in order; `groups` has, for each pair, the names that it belongs
    to: its query, or its query's tags.
    """
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
    """Cohen's kappa (1960) of person and model, with the standard error of Fleiss, Cohen and Everitt (1969),
    here by linearisation, so that labels may weigh unequally.
    """
    people, model, weight = pairs.relevant, pairs.verdict, pairs.weight
    if any(one.all() or not one.any() for one in (people, model)):
        # The formula makes 0 of it, with an interval of no width, whatever the other one said.
        return Figure(None, why=ONE_SIDED)
    total = weight.sum()
    cells = (people & model, people & ~model, ~people & model, ~people & ~model)
    value = float(cohen_kappa(np.array([float(weight[cell].sum()) for cell in cells])))
    yes, said = float(weight[people].sum() / total), float(weight[model].sum() / total)
    by_chance = yes * said + (1 - yes) * (1 - said)
    # The derivative of kappa by the share of a pair's cell: agreement, and what it adds to chance.
    chance = np.where(people, said, 1 - said) + np.where(model, yes, 1 - yes)
    observed = float(weight[people == model].sum() / total)
    slope = ((people == model) * (1 - by_chance) - (1 - observed) * chance) / (1 - by_chance) ** 2
    reach = Z * _standard_error(slope, weight)
    return Figure(value, max(value - reach, -1.0), min(value + reach, 1.0))


def correlation_of(pairs: Compared) -> Figure:
    """Pearson's ρ of score and label. Its standard error is linearised, since labels are not normal."""
    if len(pairs) < 2:
        return Figure(None, why=NO_SPREAD)
    label, score = (_standardised(one, pairs.weight) for one in (pairs.relevant, pairs.score))
    if label is None or score is None:
        return Figure(None, why=NO_SPREAD)
    value = float(np.clip(np.average(label * score, weights=pairs.weight), -1.0, 1.0))
    if 1 - abs(value) < 1e-12:
        return Figure(value, value, value)
    slope = label * score - value * (label**2 + score**2) / 2
    reach = Z * _standard_error(slope, pairs.weight) / (1 - value**2)
    middle = math.atanh(value)
    return Figure(value, math.tanh(middle - reach), math.tanh(middle + reach))


def saved_by(pairs: Compared, correlation: Figure) -> Figure:
    """The share of judgments that a prediction-powered estimate saves at equal width: ρ² where ρ > 0."""
    if correlation.value is None:
        return Figure(None, why=correlation.why)
    assert correlation.low is not None
    assert correlation.high is not None
    value, low, high = (max(one, 0.0) ** 2 for one in (correlation.value, correlation.low, correlation.high))
    deviation = [
        math.sqrt(float(np.cov(one, aweights=pairs.weight, ddof=0))) for one in (pairs.relevant, pairs.score)
    ]
    slope = correlation.value * deviation[0] / deviation[1]
    # At λ = 1 the variance left is that of label - score; λ may be no larger.
    kept = (2 * slope - 1) / slope**2 if slope > 1 else 1.0
    return Figure(value * kept, low * kept, high * kept)


def calibration_of(pairs: Compared, bins: int = BINS) -> Calibration:
    """`bins` bins of equal width, those without a pair left out."""
    if not len(pairs):
        return Calibration((), None, None)
    place = np.minimum((pairs.score * bins).astype(np.int64), bins - 1)
    table, error = [], 0.0
    for number in np.unique(place):
        inside = place == number
        weight = pairs.weight[inside]
        found = share_of(pairs.relevant[inside], weight)
        score = float(np.average(pairs.score[inside], weights=weight))
        table.append(Bin(number / bins, (number + 1) / bins, score, found))
        error += float(weight.sum()) * abs(score - (found.value or 0.0))
    brier = float(np.average((pairs.score - pairs.relevant) ** 2, weights=pairs.weight))
    return Calibration(tuple(table), error / float(pairs.weight.sum()), brier)


@dataclass(frozen=True)
class Cost:
    """What pre-labels cost, in the currency of `spent`: per pair, and per judgment saved. `labels_saved` of
    the campaign's judgments are not needed; None, and `why`, where nothing is known or saved.
    """

    per_pair: float | None
    labels_saved: float | None
    per_label_saved: float | None
    why: str


def cost_of(found: Quality, *, spent: float | None, pairs: int, labels: int) -> Cost:
    """spent: for pre-labels of `pairs` pairs, None where nobody knows; labels: the judgments that the
    campaign makes without them.
    """
    each = spent / pairs if pairs and spent is not None else None
    if found.verdict is None or found.saved.value is None:
        return Cost(each, None, None, found.why or found.saved.why)
    saved = labels * found.saved.value
    one_saved = spent / saved if saved and spent is not None else None
    return Cost(each, saved, one_saved, "" if saved else NOTHING_SAVED)


def _verdict(labels: int, saved: Figure, missed: Share) -> tuple[str | None, str]:
    if labels < FEWEST_LABELS:
        word = "label" if labels == 1 else "labels"
        return None, f"{labels} blind {word} so far; the verdict comes at {FEWEST_LABELS}."
    if missed.value is None:
        return None, f"None of {labels} blind labels is relevant, so what the model misses is not known."
    if saved.value is None:
        return None, f"All {labels} blind labels, or all scores of the model, are the same."
    lost = f"as labels it would miss {_percent(missed.value)} of the relevant documents."
    if not saved.low:
        most = _percent(saved.high or 0.0)
        said = f"it is not shown that this model saves any judgments (at most {most})"
    else:
        said = f"this model saves about {_percent(saved.value)} of judgments"
    return f"On {labels} blind labels {said}; {lost}", ""


def _percent(share: float) -> str:
    """Whole percents, never rounded to none or all."""
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{share * 100:.0f} %"


def _turned(saved: Figure) -> Figure:
    """1/(1 - saved); infinite where everything is saved."""
    if saved.value is None:
        return saved
    value, low, high = (
        math.inf if one >= 1 else 1 / (1 - one) for one in (saved.value, saved.low or 0.0, saved.high or 0.0)
    )
    return Figure(value, low, high)


def _standardised(values: Floats | Booleans, weight: Floats) -> Floats | None:
    centred = values - np.average(values, weights=weight)
    spread = math.sqrt(float(np.average(centred**2, weights=weight)))
    return np.asarray(centred / spread) if spread > 1e-12 else None


def _standard_error(slope: Floats, weight: Floats) -> float:
    """Of a figure whose derivative by each pair's part is `slope`."""
    centred = slope - np.average(slope, weights=weight)
    return math.sqrt(float((weight**2 * centred**2).sum())) / float(weight.sum())
