"""Audits by scores: bands of a model's scores as strata, and how many pairs to draw of each.

Pure: arrays in, plans out; the cuts, the allocation and the draw are those of
`labeling/quality/sample_plans.py`. The strata run across queries. Where the scores tell relevant documents
from others, they hold much of one kind each, and the number of relevant pairs is known better from as many
labels; where the scores tell nothing, the estimate is as good as from a simple random sample, never wrong.
How wide its interval will be, nothing tells before: in simulations it was .12 to 1.41 times what the scores
foretold, and .55 to 1.27 times what labels did that were no random sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, TypedDict, cast

from labeling.quality.sample_plans import (
    LEAST_IN_STRATUM,
    cut_points,
    neyman_allocation,
    strata_of,
)
from pooling.formats.wording import counted, plural
from pooling.heavy import ArrayLike, NDArray, np

#: This many blind labels of a band say more of its rate than its scores do.
ENOUGH_LABELS = 20
#: Scores alone are never believed further than this: where models were measured, a tenth and more of what
#: they called not relevant was, and the other way round.
SUREST_SCORES = 0.9
MOST_STRATA = 10

LABELS = "labels"
SCORES = "scores"
OTHERS = "the other strata"


class StratumFacts(TypedDict):
    """Pairs with a score from `low` to below `high`; null is open."""

    name: str
    low: float | None
    high: float | None
    has_scores: bool
    pairs: int
    rate: Annotated[float, "Share of relevant that is supposed."]
    rests_on: Annotated[str, "labels, scores or the other strata."]
    labels: Annotated[int, "Blind labels of such scores."]
    drawn: int


class PlanFacts(TypedDict):
    """An `AuditPlan` in plain values."""

    population: Annotated[int, "Pairs without a label, which are drawn from."]
    pairs: int
    strata: list[StratumFacts]
    half_width: Annotated[float | None, "Always null: nothing that is there before the draw foretells it."]
    simple_half_width: Annotated[float | None, "Always null, likewise."]
    sentence: str


@dataclass(frozen=True)
class Stratum:
    """Pairs with a score from `low` to below `high`; None is open, and both None, with `has_scores` false,
    are the pairs without one. `rate` is the share of relevant that is supposed of its `pairs`, which rests on
    `labels` blind labels, or where they are too few on the scores; `drawn` are drawn."""

    low: float | None
    high: float | None
    has_scores: bool
    pairs: int
    rate: float
    rests_on: str
    labels: int
    drawn: int = 0

    def facts(self) -> StratumFacts:
        return cast("StratumFacts", {"name": self.name, **vars(self)})

    @property
    def name(self) -> str:
        """Such as “0.12 to 0.34”."""
        if not self.has_scores:
            return "no score"
        low, high = ("" if one is None else f"{one:.3g}" for one in (self.low, self.high))
        if low and high:
            return f"{low} to {high}"
        return f"below {high}" if high else f"{low} or more" if low else "all scores"


@dataclass(frozen=True)
class AuditPlan:
    """Numbers of pairs drawn of each stratum."""

    strata: tuple[Stratum, ...]

    @property
    def population(self) -> int:
        """Pairs that are drawn from."""
        return sum(one.pairs for one in self.strata)

    @property
    def drawn(self) -> int:
        return sum(one.drawn for one in self.strata)

    def sentence(self) -> str:
        pairs, verb = counted(self.population, "pair"), plural(self.drawn, "is", "are")
        return (
            f"{self.drawn:,} of {pairs} {verb} drawn. How surely they tell the number of relevant pairs, "
            "only their labels can say."
        )

    def facts(self) -> PlanFacts:
        return {
            "population": self.population,
            "pairs": self.drawn,
            "strata": [one.facts() for one in self.strata],
            "half_width": None,
            "simple_half_width": None,
            "sentence": self.sentence(),
        }


def plan_by_scores(
    scores: ArrayLike,
    total: int,
    strata: int,
    *,
    labelled_scores: ArrayLike = (),
    labelled_relevant: ArrayLike = (),
    least: int | None = None,
) -> tuple[AuditPlan, NDArray[np.int64]]:
    """The plan of a draw of `total` pairs, and the stratum of each pair, (n,), from 0.

    scores (n,): of the pairs that can be drawn, NaN where there is none; these are a separate stratum
    next to at most `strata` bands. labelled_scores, labelled_relevant (m,): of pairs that people judged
    blind, for the rates. Raises ValueError where nothing has a score, or `total` will not do.
    """
    values = np.asarray(scores, dtype=np.float64)
    has_scores = ~np.isnan(values)
    if not has_scores.any():
        raise ValueError("No pair that could be drawn has a score.")
    cuts = cut_points(values[has_scores], strata)
    numbers = np.full(len(values), len(cuts) + 1, dtype=np.int64)
    numbers[has_scores] = strata_of(values[has_scores], cuts)
    labelled, relevant = (
        np.asarray(labelled_scores, np.float64),
        np.asarray(labelled_relevant, dtype=np.float64),
    )
    labelled_bands = strata_of(labelled, cuts)
    ends = [None, *cuts, None]
    bands = [
        _band(ends[at], ends[at + 1], values[numbers == at], relevant[labelled_bands == at])
        for at in range(len(cuts) + 1)
    ]
    if not has_scores.all():
        among = sum(one.pairs * one.rate for one in bands) / int(has_scores.sum())
        bands.append(Stratum(None, None, False, int((~has_scores).sum()), among, OTHERS, 0))
    sizes, rates = [one.pairs for one in bands], [one.rate for one in bands]
    least = LEAST_IN_STRATUM if least is None else least
    try:
        allocation = neyman_allocation(sizes, rates, total, least=least).tolist()
    except ValueError as error:
        others = "" if has_scores.all() else " One of the strata holds the pairs without a score."
        raise ValueError(f"{error}{others}") from error
    taken = tuple(replace(one, drawn=count) for one, count in zip(bands, allocation, strict=True))
    return AuditPlan(taken), numbers


def _band(low: Any, high: Any, scores: NDArray[np.float64], relevant: NDArray[np.float64]) -> Stratum:
    """A band with its supposed rate: of blind labels by Laplace's rule, else the mean score within belief."""
    labels = len(relevant)
    if labels >= ENOUGH_LABELS:
        rate, rests_on = (float(relevant.sum()) + 1) / (labels + 2), LABELS
    else:
        rate, rests_on = min(max(float(scores.mean()), 1 - SUREST_SCORES), SUREST_SCORES), SCORES
    return Stratum(low, high, True, len(scores), rate, rests_on, labels)
