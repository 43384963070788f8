"""Expected width of the interval of micro recall, before anything is judged: the interval of expected counts.

What the report does with labels (`evaluation/estimates/intervals.py`) is done here with the numbers that are
expected of them, which takes two assumptions: where relevant documents are, and how soon the order of judging
comes to them.

Where they stand. A pair at place u (a share in (0, 1]) of the RRF order of its query is relevant with the
chance 1 / (1 + exp(b·u - a)). The two numbers are fitted to the labels that exist (logistic regression, Cox,
1958), or else b is 3 and a gives the share of relevant pairs that somebody assumes; without one, the width
is given for a range of shares, since it depends on little else. With b = 3 and half of
the pairs relevant, 38 % of them stand in the first quarter and 67 % in the first half; measured for `rrf` on
TREC-COVID round 3, 40 and 68 % (the guide's table of strategies). With one in twenty relevant, 54 % stand in
the first quarter; measured on Robust 2003, 56 %.

How soon. Another order is as if b were larger or smaller by a factor (`PACE`, from the same table), the
share of relevant pairs being the same. Of the budget of a query the audit takes its part by the rule of
`ranking/sample.py`, and in the remainder π is what that leads to when audit and order meet by chance. A
few queries then keep fewer audit documents than others, and these weigh most, so widths are means over draws
of how many each query keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.estimates.intervals import (
    COMPLETE,
    EXACT_BOUND,
    FEWEST_FOR_GAMMA,
    GAMMA,
    UNDEFINED,
    Kind,
    exact_limits,
    furthest,
    gamma_limits,
)
from pooling.heavy import Booleans, Floats, Integers, np, optimize

STEEPNESS = 3.0
#: By how much an order is steeper than `rrf`; others as `rrf`. A live order by one that learns: LEARNING.
PACE = {"depth": 0.7, "rbp": 0.7, "sampling": 0.0}
LEARNING = 1.4
#: Fewer labels than this say too little of where relevant documents stand.
FEWEST_LABELS = 50
#: Shares of relevant pairs that widths are told for, where nobody knows; the ends are those of TREC's pools.
SHARES = (0.05, 0.1, 0.2, 0.4)
#: Of how many audit documents the remainders keep.
DRAWS = 5
GRID = 1_000
BINS = 50


@dataclass(frozen=True)
class RelevanceCurve:
    """The chance that a pair is relevant, 1 / (1 + exp(b·u - a)), by its place u in (0, 1]."""

    a: float
    b: float

    def at(self, places: Floats) -> Floats:
        chances: Floats = 1.0 / (1.0 + np.exp(self.b * places - self.a))
        return chances

    @property
    def share(self) -> float:
        """Of all pairs, those that are relevant."""
        return float(self.at(_middles()).mean())

    def cumulative(self) -> Floats:
        """(GRID + 1,) the share of the relevant pairs found after 0, 1/GRID, … 1 of the order."""
        cumulative = np.concatenate(([0.0], np.cumsum(self.at(_middles()))))
        shares: Floats = cumulative / cumulative[-1]
        return shares


def _middles() -> Floats:
    return (np.arange(GRID) + 0.5) / GRID


def curve_with(share: float, steepness: float = STEEPNESS) -> RelevanceCurve:
    """The curve of this steepness with this share of relevant pairs, in (0, 1).

    >>> round(curve_with(0.2).share, 6)
    0.2
    """
    share = min(max(share, 1e-4), 1 - 1e-4)
    a = optimize.brentq(lambda a: RelevanceCurve(a, steepness).share - share, -15.0, 15.0 + steepness)
    return RelevanceCurve(float(a), steepness)


def fitted_curve(places: Floats, relevant: Booleans, weights: Floats | None = None) -> RelevanceCurve:
    """The curve that labelled pairs at these places follow, by maximum likelihood, drawn a little to b = 3.

    weights (n,): of each label; only their proportions count. The draw is worth four pairs' doubt (a normal
    prior on b with deviation 2), so that a handful of labels from the very top cannot claim anything.
    """
    weights = np.ones(len(places)) if weights is None else weights / weights.mean()
    bins = np.minimum((places * BINS).astype(np.int64), BINS - 1)
    count = np.bincount(bins, weights=weights, minlength=BINS)
    hits = np.bincount(bins, weights=weights * relevant, minlength=BINS)
    middle = (np.arange(BINS) + 0.5) / BINS

    def loss(given: Floats) -> float:
        logit = given[0] - given[1] * middle
        likelihood = hits * logit - count * np.logaddexp(0.0, logit)
        return float(-likelihood.sum() + (given[1] - STEEPNESS) ** 2 / 8 + given[0] ** 2 / 200)

    fit = optimize.minimize(loss, np.array([0.0, STEEPNESS]), method="BFGS")
    return RelevanceCurve(float(fit.x[0]), float(fit.x[1]))


@dataclass(frozen=True)
class Design:
    """Expected judging of each query: arrays (Q,).

    reached: the share of its pool that the greedy part comes to. probability: π in the remainder of its
    frame, nan where there is no remainder or no audit. chosen: the documents that will be judged. left: those
    of the remainder.
    """

    reached: Floats
    probability: Floats
    chosen: Integers
    left: Integers


def design_of(sizes: Integers, budgets: Integers, audits: Integers, frames: Integers | None = None) -> Design:
    """From the sizes of queries' pools, their budgets (audit included), the documents of their audits, and
    what these are drawn from; without `frames`, from the pool.

    The greedy part goes on until the budget is spent or the pool ends, and an audit document that it meets
    costs nothing: of x documents reached, x·audit/frame are met, so x = (budget - audit) / (1 - audit/frame).
    All others of the budget are drawn from the remainder.

    >>> found = design_of(np.array([100]), np.array([28]), np.array([10]))
    >>> float(found.reached[0]), float(found.probability[0])
    (0.2, 0.1)
    """
    frames = sizes if frames is None else frames
    given = np.minimum(budgets, frames)
    size, frame, budget, audit = (array.astype(np.float64) for array in (sizes, frames, given, audits))
    whole = budget >= frame
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(frame > 0, audit / frame, 0.0)
        walked = np.minimum((budget - audit) / (1.0 - share), size)
        reached = np.where(whole, 1.0, np.clip(walked / size, 0.0, 1.0))
        left = frame - size * reached
        # A remainder holds an audit document at least, where there is an audit.
        audited = np.maximum(budget - size * reached, np.minimum(audit, 1.0))
        probability = np.where(whole | (audit == 0), np.nan, np.minimum(audited / left, 1.0))
    remainder = np.where(whole, 0, np.rint(np.nan_to_num(left))).astype(np.int64)
    return Design(reached, probability, given, remainder)


def audit_probabilities(
    design: Design, frames: Integers, audits: Integers, draws: int = DRAWS
) -> list[Floats]:
    """(Q,) π in the remainders for each of a few draws of how many audit documents the order leaves there.

    The same for the same design: the draws are seeded. Where the order ends with the pool, what is drawn
    beyond it is the rest of the budget, however the draw falls.
    """
    left, generator, some = design.left, np.random.default_rng(0), ~np.isnan(design.probability)
    ends = (design.reached >= 1) & some
    result = []
    for _ in range(draws):
        kept = generator.hypergeometric(left, frames - left, np.minimum(audits, frames))
        kept = np.where(ends, np.rint(np.nan_to_num(design.probability) * left), kept)
        share = np.maximum(kept, 1) / np.maximum(left, 1)
        result.append(np.where(some, np.minimum(share, 1.0), np.nan))
    return result


def effective_reach(curve: RelevanceCurve, reached: Floats, pace: float) -> Floats:
    """Share of the RRF order that finds what an order `pace` times as steep finds at `reached`."""
    if pace == 1.0:
        return reached
    grid = np.linspace(0.0, 1.0, GRID + 1)
    other = curve_with(curve.share, curve.b * pace).cumulative()
    reach: Floats = np.interp(np.interp(reached, grid, other), curve.cumulative(), grid)
    return reach


@dataclass(frozen=True)
class Expectation:
    """An expected interval; None where undefined. audit_relevant: in the audit beyond the greedy part."""

    value: float | None
    low: float | None
    high: float | None
    method: str
    audit_relevant: float

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else self.high - self.low


def _mean(expectations: Sequence[Expectation]) -> Expectation:
    """The mean of what several draws come to; by the method of the first."""

    def mean(values: Sequence[float | None]) -> float | None:
        return None if None in values else float(np.mean([one for one in values if one is not None]))

    value, low, high = (mean([getattr(one, end) for one in expectations]) for end in ("value", "low", "high"))
    return Expectation(
        value, low, high, expectations[0].method, float(np.mean([one.audit_relevant for one in expectations]))
    )


@dataclass(frozen=True)
class ExpectedKind:
    """Relevant documents of one kind: certain and drawn ones, and mean and variance of the unseen rest."""

    certain: float
    in_audit: float
    mean: float
    variance: float
    lightest: float | None

    @classmethod
    def of(cls, certain: float, left: Floats, is_open: Booleans, probability: Floats) -> ExpectedKind:
        """certain: relevant documents among those reached; left (Q,): among those left to the audit, which
        takes `probability` (Q,) of them; is_open (Q,): where any pair is left."""
        share = probability[is_open]
        in_audit = left[is_open] * share
        mean = in_audit * (1.0 - share) / share
        lightest = float(share.min()) if len(share) else None
        return cls(
            float(certain), float(in_audit.sum()), float(mean.sum()), float((mean / share).sum()), lightest
        )

    @property
    def seen(self) -> float:
        return self.certain + self.in_audit

    @property
    def value(self) -> float:
        return self.seen + self.mean

    def as_kind(self) -> Kind:
        """In whole documents, for the exact bound."""
        probability = 1.0 if self.lightest is None else self.lightest
        return Kind(self.certain, np.full(round(self.in_audit), probability), self.lightest)


def expected_intervals(
    chance: Floats,
    certain: Booleans,
    query: Integers,
    draws: Sequence[Floats],
    *,
    tops: Sequence[Integers],
    confidence: float = 0.95,
) -> list[Expectation]:
    """One interval of micro recall for each run, the mean over draws of the audit.

    chance (P,): that a pair of the pool is relevant. certain (P,): it will be reached by the greedy part, or
    its label is known. query (P,): its query's number. draws: of each, π of each query's remainder, (Q,).
    tops: for each run the numbers of the pairs in its top K. The estimate's own spread is left out: this is
    the interval at the mean, not the mean interval.
    """
    queries, left = len(draws[0]), ~certain

    def by_query(pairs: Integers) -> tuple[float, Floats, Booleans]:
        """Certain relevant pairs, those left to the audit by query, and where any pair is left to it."""
        rest = pairs[left[pairs]]
        remainder = np.bincount(query[rest], weights=chance[rest], minlength=queries).astype(np.float64)
        is_open = np.bincount(query[rest], minlength=queries) > 0
        return float(chance[pairs[certain[pairs]]].sum()), remainder, is_open

    reached, waiting, is_open = by_query(np.arange(len(chance)))
    expected = []
    for pairs in tops:
        certain_hits, hits, hits_open = by_query(pairs)
        missed = _undusted(waiting - hits, waiting)
        certain_missed = float(_undusted(np.array(reached - certain_hits), np.array(reached)))
        each = [
            expectation(
                ExpectedKind.of(certain_hits, hits, hits_open, probability),
                ExpectedKind.of(certain_missed, missed, is_open, probability),
                confidence,
            )
            for probability in draws
        ]
        expected.append(_mean(each))
    return expected


def _undusted(difference: Floats, of: Floats) -> Floats:
    """The dust of a difference of sums is not a relevant document."""
    return np.where(difference > 1e-9 * of, difference, 0.0)


def expectation(hit: ExpectedKind, missed: ExpectedKind, confidence: float) -> Expectation:
    """The rule of `chosen_interval`, on expected numbers."""
    audit_relevant, total = hit.in_audit + missed.in_audit, hit.value + missed.value
    if total <= 0:
        return Expectation(None, None, None, UNDEFINED, audit_relevant)
    value = hit.value / total
    if missed.lightest is None:
        return Expectation(value, value, value, COMPLETE, audit_relevant)
    if audit_relevant < FEWEST_FOR_GAMMA:
        low, high = exact_limits((hit.as_kind(), missed.as_kind()), 1 - confidence)
        return Expectation(value, low, high, EXACT_BOUND, audit_relevant)
    level = (1 - confidence) / 2
    limits = [
        (one.value, *gamma_limits(one.seen, one.mean, one.variance, lightest=one.lightest, level=level))
        for one in (hit, missed)
    ]
    low, high = (furthest(limits, lambda r: (1 - r, -r), value, end) for end in (0.0, 1.0))
    return Expectation(value, low, high, GAMMA, audit_relevant)
