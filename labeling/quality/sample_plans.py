"""Number and choice of a model's pre-labels to check, and the spread of an audit over the strata of its
scores.

Pure: numbers and frames in, plans and designs out. The model's negatives and its positives are samples of
their own: what is relevant among the negatives (elusion) and what is not among the positives answer different
questions, and one sample of both says little of either.

Two plans. *Zero failures*: this many pairs that, if none of them fails, the failure rate is at most a bound,
with the stated confidence; exact for a finite population, by the hypergeometric distribution. One failure and
the bound is not shown, so it is for models that are very good. *Half-width*: this many that the rate is known
to ± that much, whatever it turns out to be.

Strata of scores are cut by the cum √f rule (Dalenius and Hodges, 1959). Over them an audit is spread by N·S,
the size of a stratum times the standard deviation of its labels (Neyman, 1934), in whole pairs that minimise
the variance of the total exactly (Wright, 2017), with a least number in each stratum.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

from pooling.heavy import ArrayLike, Integers, np, pl, special
from pooling.ranking.bounds import Remainder, most_missing
from pooling.ranking.sample import sampling_order

PAIR = ["query_id", "document_id"]
#: Fewer pairs of a stratum than this say too little of it.
LEAST_IN_STRATUM = 30
#: Of the histogram that the cum √f rule cuts.
BINS = 100
#: A rate supposed to be 0 or 1 would get nobody to look.
LEAST_RATE = 0.02

ZERO_FAILURES = "zero failures"
HALF_WIDTH = "half-width"


@dataclass(frozen=True)
class Plan:
    """Number of `population` pairs to check: `size`, by `method`, at `confidence`. `bound` is the greatest
    failure rate that a clean sample leaves, or the half-width of the interval."""

    population: int
    size: int
    method: str
    bound: float
    confidence: float

    def sentence(self) -> str:
        """What the plan promises.

        >>> print(zero_failure_plan(500, 0.05).sentence())
        Check 54 of 500 at random: if none fails, at most 5 % fail, with 95 % confidence.
        """
        bound, sure = (f"{one * 100:g} %" for one in (self.bound, self.confidence))
        if self.size >= self.population:
            return f"Check all {self.population}."
        task = f"Check {self.size} of {self.population} at random"
        if self.method == ZERO_FAILURES:
            return f"{task}: if none fails, at most {bound} fail, with {sure} confidence."
        return f"{task}: the failure rate is then known to about ±{self.bound * 100:g} points at {sure}."


def zero_failure_plan(population: int, bound: float, confidence: float = 0.95) -> Plan:
    """The fewest pairs none of which may fail: exact, at `confidence`; ValueError outside (0, 1)."""
    _check(bound, confidence)
    failures = math.floor(round(bound * population, 9)) + 1
    if failures > population:
        return Plan(population, 0, ZERO_FAILURES, bound, confidence)
    # log of C(N - D, n) / C(N, n), which falls as n rises; at n = N - D + 1 it is log 0.
    low, high = 0, population - failures + 1
    allowed = math.log1p(-confidence) - 1e-12  # a tie counts as not shown
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _log_none(population, failures, middle) <= allowed else (middle, high)
    return Plan(population, high, ZERO_FAILURES, bound, confidence)


def half_width_plan(population: int, half_width: float, rate: float = 0.5, confidence: float = 0.95) -> Plan:
    """Pairs to know a failure rate to ± `half_width` (normal, finite); rates are kept within 2 and 98 %."""
    _check(half_width, confidence)
    if not 0 <= rate <= 1:
        raise ValueError(f"The supposed rate is {rate:g}; it must be between 0 and 1.")

    rate = min(max(rate, LEAST_RATE), 1 - LEAST_RATE)
    wanted = float(special.ndtri((1 + confidence) / 2)) ** 2 * rate * (1 - rate) / half_width**2
    size = wanted / (1 + (wanted - 1) / population) if population else 0.0
    return Plan(population, min(math.ceil(round(size, 9)), population), HALF_WIDTH, half_width, confidence)


@dataclass(frozen=True)
class Checked:
    """Result of a sample of `sampled` of `population` pairs with `failed` failures: at least `least` and at
    most `most` of all fail. `most` is one-sided, at the confidence asked for; `least` are those seen.
    `interval` is the exact two-sided one of the failure rate, of this population (Buonaccorsi, 1987)."""

    population: int
    sampled: int
    failed: int
    least: int
    most: int | None
    interval: tuple[float, float]

    @property
    def highest_rate(self) -> float | None:
        """`most` as a share of the population; None without a sample."""
        return None if self.most is None or not self.population else self.most / self.population


def checked(population: int, sampled: int, failed: int, confidence: float = 0.95) -> Checked:
    """The exact bound of a sample (hypergeometric), whichever plan it was drawn by.

    >>> checked(500, 54, 0).most
    25
    """
    most = most_missing(Remainder(population, sampled, failed), confidence)
    if not sampled:
        return Checked(population, sampled, failed, failed, most, (0.0, 1.0))
    kinds = (Remainder(population, sampled, one) for one in (sampled - failed, failed))
    sound, failing = (most_missing(one, (1 + confidence) / 2) or 0 for one in kinds)
    ends = (1 - sound / population, failing / population)
    return Checked(population, sampled, failed, failed, most, ends)


def cut_points(scores: ArrayLike, strata: int) -> list[float]:
    """Cuts of scores into at most `strata` strata: rising, without the ends (Dalenius and Hodges, 1959).

    A score at a cut belongs to the stratum above. Scores of few values (verdicts, grades) are cut between
    values; where they are fewer than the strata, each value is a stratum. Raises ValueError for scores that
    are not finite or for fewer than one stratum.

    >>> cut_points([0.0] * 70 + [1.0] * 30, 4)
    [1.0]
    """
    if strata < 1:
        raise ValueError(f"{strata} strata cannot be; ask for 1 or more.")
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("A score is not a finite number.")
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= strata:
        return [float(one) for one in distinct[1:]]
    if len(distinct) <= BINS:
        edges, frequency = distinct, counts
    else:
        frequency, ends = np.histogram(values, bins=BINS)
        edges = ends[:-1]
    roots = np.cumsum(np.sqrt(frequency))
    wanted = roots[-1] * np.arange(1, strata) / strata
    # The cut after which the sum is nearest to the wanted part, and never before the first value.
    places = np.searchsorted(roots, wanted)
    nearer = (places > 0) & (wanted - roots[np.maximum(places - 1, 0)] < roots[places] - wanted)
    after = np.where(nearer, places - 1, places) + 1
    cuts = sorted({float(edges[place]) for place in after if place < len(edges)})
    kept, below = [], -math.inf
    for cut in cuts:
        # An empty bin between two cuts makes no stratum.
        if ((values >= below) & (values < cut)).any() and (values >= cut).any():
            kept.append(cut)
            below = cut
    return kept


def strata_of(scores: ArrayLike, cuts: Sequence[float]) -> Integers:
    """(n,) the number of each score's stratum, from 0 for the lowest."""
    return np.searchsorted(np.asarray(cuts, dtype=np.float64), np.asarray(scores, np.float64), side="right")


def neyman_allocation(
    sizes: ArrayLike, rates: ArrayLike, total: int, *, least: int = LEAST_IN_STRATUM
) -> Integers:
    """(H,) how many of `total` pairs to draw from each stratum; the sum is exact.

    sizes (H,): pairs of each stratum; rates (H,): the share of relevant that is supposed of it, from the
    pre-labels or from labels (0 and 1 are taken as 2 and 98 %). Each stratum gets `least` pairs, or all where
    it has fewer, and none more than it has. Among all allocations in whole pairs that keep this, the variance
    Σ N² S² (1/n - 1/N) is the smallest: the next pair goes where N S / √(n (n + 1)) is largest (Wright,
    2017). Raises ValueError where `total` does not suffice, or exceeds what there is.

    >>> neyman_allocation([800, 150, 50], [0.02, 0.3, 0.9], 150).tolist()
    [74, 46, 30]
    """
    pairs, share = np.asarray(sizes, dtype=np.int64), np.asarray(rates, dtype=np.float64)
    if pairs.shape != share.shape:
        raise ValueError(f"There are {len(pairs)} strata and rates for {len(share)}.")
    if not ((share >= 0) & (share <= 1)).all():
        raise ValueError("A supposed rate lies outside the range 0 to 1.")
    taken = np.minimum(pairs, least)
    if total < taken.sum():
        raise ValueError(
            f"{total} pairs are too few for {len(pairs)} strata with at least {least} each: it takes "
            f"{int(taken.sum())}, or fewer strata."
        )
    if total > pairs.sum():
        raise ValueError(f"{total} pairs cannot be drawn: there are {int(pairs.sum())}.")
    share = np.clip(share, LEAST_RATE, 1 - LEAST_RATE)
    weight = pairs * np.sqrt(share * (1 - share))

    def promise(stratum: int) -> float:
        n = int(taken[stratum])
        return -weight[stratum] / math.sqrt(n * (n + 1)) if n else -math.inf

    waiting = [(promise(one), one) for one in range(len(pairs)) if taken[one] < pairs[one]]
    heapq.heapify(waiting)
    for _ in range(total - int(taken.sum())):
        _, one = waiting[0]
        taken[one] += 1
        if taken[one] < pairs[one]:
            heapq.heapreplace(waiting, (promise(one), one))
        else:
            heapq.heappop(waiting)
    return taken


def stratified_design(
    pairs: pl.DataFrame, strata: ArrayLike, sizes: ArrayLike, *, seed: int = 0
) -> pl.DataFrame:
    """A simple random sample of each stratum, as many as `sizes` says of strata 0, 1, …

    pairs: query_id, document_id. strata (n,): the number of each pair's. Returns query_id, document_id,
    stratum (as text), inclusion_probability (n_h/N_h) and place (1-based, in the order of the draw within the
    stratum), one row for each pair drawn, by stratum and place: with labels, a sample for
    `evaluation.estimates.totals`. The same pairs, strata and seed give the same sample whatever order they
    come in, and a larger size a longer beginning of the same order. Raises ValueError for a stratum too
    small.
    """
    number, wanted = np.asarray(strata, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
    rows = pairs.select(PAIR).with_columns(number=pl.Series(number)).sort(PAIR)
    parts = []
    for stratum, size in enumerate(wanted.tolist()):
        inside = rows.filter(pl.col("number") == stratum).select(PAIR)
        if size > inside.height:
            raise ValueError(f"Stratum {stratum} has {inside.height} pairs, and {size} are to be drawn.")
        order = sampling_order(f"stratum {stratum}", np.arange(inside.height), seed)[:size]
        parts.append(
            inside[order].with_columns(
                stratum=pl.lit(f"{stratum}"),
                inclusion_probability=pl.lit(size / inside.height if inside.height else 1.0),
                place=pl.int_range(1, size + 1, dtype=pl.Int64),
            )
        )
    if not parts:
        raise ValueError("There is no stratum to draw from.")
    return pl.concat(parts)


def verification_design(
    pairs: pl.DataFrame, verdicts: ArrayLike, negatives: Plan, positives: Plan, *, seed: int = 0
) -> pl.DataFrame:
    """`stratified_design` with strata 0 (the model says not relevant) and 1; verdicts (n,): the model's."""
    is_relevant = np.asarray(verdicts, dtype=np.bool_)
    return stratified_design(pairs, is_relevant.astype(np.int64), [negatives.size, positives.size], seed=seed)


def _log_none(population: int, failures: int, sample_size: int) -> float:
    """log of the chance that none of the failures is among those drawn."""
    clean = population - failures
    if sample_size > clean:
        return -math.inf
    return (
        math.lgamma(clean + 1)
        - math.lgamma(clean - sample_size + 1)
        + math.lgamma(population - sample_size + 1)
        - math.lgamma(population + 1)
    )


def _check(bound: float, confidence: float) -> None:
    if not 0 < bound < 1:
        raise ValueError(f"The bound is {bound:g}; name a share above 0 and below 1.")
    if not 0 < confidence < 1:
        raise ValueError(f"The confidence is {confidence:g}; name a share such as 0.95.")
