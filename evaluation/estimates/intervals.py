"""Intervals of estimates from an audit sample: the one place that chooses how, and says which it chose.

A sample is the frame of `evaluation.estimates.totals`. Every interval here is about *which labels* were
drawn, never about which queries were asked; means over queries are in `evaluation/estimates/macro_recall.py`.

Gamma limits. Of a kind of relevant documents (those a run found, those it missed) the certain ones are
counted and the rest is a weighted count: u = Σ (1 - π)/π over those drawn, with variance v = Σ (1 - π)/π².
Its lower limit is the quantile of the gamma distribution with that mean and variance; the upper limit counts
half a document more, of the largest weight there can be, which also keeps it above 0 where none was drawn
(Fay and Feuer, Confidence intervals for directly standardized rates, 1997; half a document is in the spirit
of the mid-p form of Fay and Kim, 2017). A normal interval fails here: a draw that missed the few heavy
documents has both a low estimate and a small standard error. Strata that run across queries can hold relevant
documents almost alone; of a number (not of a recall, whose residuals they part little) the variance is then
that of the strata, without which they would have been drawn in vain.

Recall H / (H + M) is joined from both kinds: a value r stays in the interval while 0 lies between the limits
of (1 - r) H - r M, made from those of H and M (Zou and Donner, Construction of confidence limits about effect
measures, 2008; Fieller, 1954, is the same with symmetric limits). H and M are taken as independent, which
within a stratum errs to the wide side. Differences of two runs are joined in the same way from three kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from evaluation.estimates.sample import PAIR
from evaluation.estimates.totals import SampleArrays, largest_unrefuted, ratio
from evaluation.measures.hajek import Design, effective_size, further, ratio_means
from evaluation.measures.intervals import share_unlike
from pooling.heavy import Booleans, Floats, Integers, np, optimize, pl, special

#: Below this many relevant audit documents outside the greedy part only the exact bound is used.
FEWEST_FOR_GAMMA = 5
#: Part of a document that the upper gamma limit counts more than was drawn.
MORE = 0.5

#: p-values are no smaller, and found by halving this range so often: to a part in a million.
LEAST_LEVEL, HALVINGS = 1e-9, 25

COMPLETE = "complete"
GAMMA = "gamma limits"
EXACT_BOUND = "exact bound"
POWERED = "prediction-powered"
BOOTSTRAP = "bootstrap over queries"
SPAN = "span of what waits"
UNDEFINED = "undefined"

#: How each method is said to people.
METHODS = {
    COMPLETE: "every pair of the pool has a label, so nothing is uncertain",
    GAMMA: "from gamma limits of the relevant documents found and missed; covers which labels were drawn",
    EXACT_BOUND: "from exact bounds on what was not seen, since the audit drew fewer than five relevant "
    "documents; covers which labels were drawn",
    POWERED: "from gamma limits of what a model's predictions and the labels that check them leave open; "
    "covers which labels were drawn",
    BOOTSTRAP: "bootstrap over queries, each with the labels drawn for it; covers both together",
    SPAN: "the least and the largest limit over all that the documents which wait for a label can turn out "
    "to be; covers which labels were drawn",
    UNDEFINED: "no relevant document in the sample",
}


#: How queries were drawn, by their ids.
DesignOf: TypeAlias = Callable[[Sequence[str]], Design]


@dataclass(frozen=True)
class LabelInterval:
    """An estimate and its interval; None where undefined.

    `method` is a key of METHODS; `relevant_drawn` counts the relevant audit documents outside the greedy
    part, which is what the method was chosen by. `p_value`, of differences alone, is the level at which the
    interval just reaches 0.
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    relevant_drawn: int
    p_value: float | None = None


@dataclass(frozen=True)
class Kind:
    """Relevant documents of one kind: those certain, those drawn with their weights, and how heavy an unseen
    one can be.

    `lightest` is the smallest inclusion probability with which one could have been drawn; None where no
    document of the kind can be left. Where queries count differently, `weights` (of those drawn) and
    `certain` say how much; `heaviest` is the most that one which is left can count.
    """

    certain: float
    probabilities: Floats
    lightest: float | None
    weights: Floats | None = None
    heaviest: float = 1.0

    @classmethod
    def of(cls, arrays: SampleArrays, marks: Floats, possible: Booleans) -> Kind:
        """marks: 1 for the pairs of the sample that would be of the kind; possible: pairs whose stratum can
        hold more of it."""
        chosen, sure = arrays.relevant * marks > 0, arrays.probability == 1
        lightest = float(arrays.probability[possible].min()) if possible.any() else None
        heaviest = float(arrays.weight[possible].max()) if possible.any() else 1.0
        uncertain = chosen & ~sure
        return cls(
            float(arrays.weight[chosen & sure].sum()),
            arrays.probability[uncertain],
            lightest,
            arrays.weight[uncertain],
            heaviest,
        )

    @property
    def _worth(self) -> Floats:
        return np.ones(len(self.probabilities)) if self.weights is None else self.weights

    @property
    def seen(self) -> float:
        return self.certain + float(self._worth.sum())

    @property
    def value(self) -> float:
        return self.certain + float((self._worth / self.probabilities).sum())

    def gamma_limits(self, level: float, variance: float | None = None) -> tuple[float, float]:
        """Limits that are each wrong at about `level`; `variance` of the rest, if it is known otherwise."""
        left = self._worth * (1 - self.probabilities) / self.probabilities
        mean = float(left.sum())
        if variance is None:
            variance = float((left * self._worth / self.probabilities).sum())
        return gamma_limits(
            self.seen, mean, variance, lightest=self.lightest, heaviest=self.heaviest, level=level
        )

    def most(self, level: float) -> float:
        """The most documents that the sample does not refute at `level`; exact, as `most_missing_in_all`."""
        if self.lightest is None:
            return self.seen
        return self.certain + self.heaviest * largest_unrefuted(len(self.probabilities), self.lightest, level)


def gamma_limits(
    seen: float, mean: float, variance: float, *, lightest: float | None, level: float, heaviest: float = 1.0
) -> tuple[float, float]:
    """Limits of `seen` documents and an unseen rest of this mean and variance; weights as in `Kind`."""
    low = gamma_quantile(level, mean, variance)
    if lightest is None:
        return seen + low, seen + mean
    weight = MORE * heaviest * (1 - lightest) / lightest
    high = gamma_quantile(1 - level, mean + weight, variance + weight * heaviest / lightest)
    return seen + low, seen + high


def gamma_quantile(level: float, mean: float, variance: float) -> float:
    """Of the gamma distribution with this mean and variance; the mean itself without a variance."""
    if not variance:
        return mean
    return float(special.gammaincinv(mean**2 / variance, level)) * variance / mean


def interval_of_total(sample: pl.DataFrame, *, confidence: float = 0.95) -> LabelInterval:
    """The pool's relevant documents with an interval, of `sample`; without one, 0 to what is not refuted."""
    arrays = SampleArrays.of(sample)
    marks = np.ones(len(arrays.relevant))
    return interval_of_kind(arrays, marks, arrays.probability < 1, confidence)


def interval_of_hits(
    sample: pl.DataFrame, retrieved: pl.DataFrame, *, confidence: float = 0.95
) -> LabelInterval:
    """`interval_of_total` for a run's relevant documents; divided by the places of its top K, precision."""
    arrays = SampleArrays.of(sample)
    return interval_of_kind(arrays, arrays.hits_of(retrieved), still_open(arrays, retrieved), confidence)


def interval_of_kind(
    arrays: SampleArrays, marks: Floats, possible: Booleans, confidence: float
) -> LabelInterval:
    """Number of relevant documents of one kind (as in `Kind.of`), by the rule of `chosen_interval`: it counts
    the relevant audit documents of all kinds, so that the method does not depend on the estimate."""
    kind = Kind.of(arrays, marks, possible)
    count = arrays.relevant_drawn
    if kind.lightest is None:
        return LabelInterval(kind.value, kind.value, kind.value, COMPLETE, count)
    level = (1 - confidence) / 2
    if count >= FEWEST_FOR_GAMMA:
        variance = arrays.variance_of_count(marks) if arrays.across else None
        return LabelInterval(kind.value, *kind.gamma_limits(level, variance), GAMMA, count)
    return LabelInterval(kind.value, kind.seen, kind.most(level), EXACT_BOUND, count)


def interval_of_micro_recall(
    sample: pl.DataFrame, retrieved: pl.DataFrame, *, confidence: float = 0.95
) -> LabelInterval:
    """Micro recall of a run (estimated as `micro_recall` does) with an interval and the name of its method.

    sample: `query_id, document_id, relevant, inclusion_probability`, one row per labelled pair. retrieved:
    the pairs `query_id, document_id` of the run's top K. Limits lie within 0 to 1. Raises ValueError for a
    sample without its columns or with a probability out of range.
    """
    arrays = SampleArrays.of(sample)
    hit = arrays.hits_of(retrieved)
    kinds = (
        Kind.of(arrays, hit, still_open(arrays, retrieved)),
        Kind.of(arrays, 1 - hit, arrays.probability < 1),
    )
    return chosen_interval(arrays, hit, kinds, RECALL, confidence=confidence)


def with_queries(
    sample: pl.DataFrame,
    retrieved: pl.DataFrame,
    labels: LabelInterval,
    *,
    confidence: float = 0.95,
    design_of: DesignOf | None = None,
) -> tuple[float | None, float | None]:
    """Limits of a micro recall that cover which queries were asked as well as which labels were drawn.

    The parts of the linearised ratio that each query contributes vary by both (the first stage of a two-stage
    sample: Cochran, Sampling Techniques, 1977, chapter 11); Student's t over queries, `further` towards ½.
    Where nothing was found, or all, no part varies, and the limit is Clopper and Pearson's of as many queries
    as these are worth by their relevant documents (Kish). `labels` are the limits of the labels alone, which
    the answer is never narrower than: few relevant documents make parts that hardly vary. Without a second
    query nobody can tell how queries vary. design_of: how the queries were drawn, where the sample weighs
    them.
    """
    if labels.value is None or labels.low is None or labels.high is None:
        return None, None
    value = labels.value
    if labels.method == EXACT_BOUND and 0 < value < 1:
        certain = sample.filter(pl.col("inclusion_probability") == 1)
        arrays = SampleArrays.of(certain)
        seen = ratio(arrays, arrays.hits_of(retrieved)).value
        reach = _reach(certain, retrieved, seen or 0.0, confidence=confidence, design_of=design_of)
        below = reach * labels.low / seen if seen else 0.0
        return max(0.0, labels.low - below), min(1.0, labels.high + reach)
    reach = _reach(sample, retrieved, value, confidence=confidence, design_of=design_of)
    below, above = reach, reach
    if 0 < value < 1:
        below, above = (reach + float(further(one, reach)) for one in (1 - value, value))
    return max(0.0, min(labels.low, value - below)), min(1.0, max(labels.high, value + above))


def _reach(
    sample: pl.DataFrame,
    retrieved: pl.DataFrame,
    value: float,
    *,
    confidence: float,
    design_of: DesignOf | None,
) -> float:
    """Half the interval of a micro recall over queries; 0 where nobody can tell how they vary."""
    arrays = SampleArrays.of(sample)
    of = arrays.pairs["query_id"].rank("dense").to_numpy().astype(np.int64) - 1
    hit, total = arrays.hits_of(retrieved), arrays.total(arrays.relevant)
    if not total:
        return 0.0
    if value in (0, 1):
        relevant: Floats = np.bincount(of, arrays.relevant / arrays.probability).astype(np.float64)
        return float(share_unlike(np.array([effective_size(relevant)]), confidence)[0])
    if design_of is not None:
        design = design_of(arrays.pairs["query_id"].unique().sort().to_list())
        return _reach_of_draw(arrays, hit, of, design, value=value, confidence=confidence)
    parts = np.bincount(of, arrays.relevant * (hit - value) / (total * arrays.probability))
    if len(parts) < 2:
        return 0.0
    error = math.sqrt(len(parts) / (len(parts) - 1) * float(((parts - parts.mean()) ** 2).sum()))
    return float(special.stdtrit(len(parts) - 1, (1 + confidence) / 2)) * error


def _reach_of_draw(
    arrays: SampleArrays, hit: Floats, of: Integers, design: Design, *, value: float, confidence: float
) -> float:
    """Half the interval of a micro recall of drawn queries; `of` numbers the query of each pair."""
    label = arrays.relevant / arrays.weight
    spread = arrays.spreads * arrays.deviations(label * (hit - value)) ** 2
    parts = (label * hit / arrays.probability, label / arrays.probability, spread)
    hits, relevant, within = (np.bincount(of, part)[:, None].astype(np.float64) for part in parts)
    return float(ratio_means(hits, relevant, design, within=within).reach(confidence)[0])


def interval_of_micro_recall_difference(
    sample: pl.DataFrame, first: pl.DataFrame, second: pl.DataFrame, *, confidence: float = 0.95
) -> LabelInterval:
    """Micro recall of one run less another's, as `interval_of_micro_recall`, within -1 to 1, with p-value."""
    arrays = SampleArrays.of(sample)
    ours, theirs = arrays.hits_of(first), arrays.hits_of(second)
    only_first, only_second = alone(first, second)
    kinds = (
        Kind.of(arrays, ours * (1 - theirs), still_open(arrays, only_first)),
        Kind.of(arrays, theirs * (1 - ours), still_open(arrays, only_second)),
        Kind.of(arrays, np.where(ours == theirs, 1.0, 0.0), arrays.probability < 1),
    )
    interval = chosen_interval(arrays, ours - theirs, kinds, RECALL_DIFFERENCE, confidence=confidence)
    return replace(interval, p_value=p_value_of_difference(kinds, interval.method))


def alone(first: pl.DataFrame, second: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    return first.join(second, on=PAIR, how="anti"), second.join(first, on=PAIR, how="anti")


def p_value_of_difference(kinds: Sequence[Kind], method: str) -> float | None:
    """The level, from `LEAST_LEVEL` up to 1, at which the interval of the difference of `kinds`, found by the
    first run alone and by the second alone, just reaches 0; None where it is undefined.

    What neither or both found does not move the sign: 0 lies in the interval as long as the winner's lower
    limit and the other's upper limit, joined as `furthest` joins them, meet.
    """
    if method == UNDEFINED:
        return None
    winner, other = sorted(kinds[:2], key=lambda kind: -kind.value)
    gap = winner.value - other.value
    if method == COMPLETE:
        return float(gap == 0)

    def holds_zero(level: float) -> bool:
        if method == EXACT_BOUND:
            return winner.seen <= other.most(level / 4)
        low, high = winner.gamma_limits(level / 2)[0], other.gamma_limits(level / 2)[1]
        return gap**2 <= (winner.value - low) ** 2 + (high - other.value) ** 2

    below, above = math.log(LEAST_LEVEL), 0.0
    if gap == 0 or holds_zero(1.0):
        return 1.0
    if not holds_zero(LEAST_LEVEL):
        return LEAST_LEVEL
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        below, above = (middle, above) if holds_zero(math.exp(middle)) else (below, middle)
    return math.exp(above)


def still_open(arrays: SampleArrays, retrieved: pl.DataFrame) -> Booleans:
    """The pairs drawn from queries of which the run retrieved something that is not certain; where strata run
    across queries, from all strata as soon as there is such a query."""
    certain = arrays.pairs.filter(pl.Series(arrays.probability == 1))
    pairs = retrieved.select("query_id", "document_id")
    queries = pairs.join(certain, on=["query_id", "document_id"], how="anti")["query_id"].unique()
    if arrays.across:
        return np.asarray((arrays.probability < 1) & bool(len(queries)), dtype=np.bool_)
    inside = arrays.pairs["query_id"].is_in(queries.implode()).to_numpy()
    return np.asarray(inside & (arrays.probability < 1), dtype=np.bool_)


@dataclass(frozen=True)
class RatioOfKinds:
    """A ratio of numbers of documents of some kinds, such as recall.

    exact(kinds, level): limits that hold at 1 - level whatever the labels. weights(value): the weight of each
    kind in the sum that is 0 where the ratio has that value. ends: the least and most it can be.
    """

    exact: Callable[[Sequence[Kind], float], tuple[float, float]]
    weights: Callable[[float], Sequence[float]]
    ends: tuple[float, float]


def chosen_interval(
    arrays: SampleArrays, counted: Floats, kinds: Sequence[Kind], ratio_of: RatioOfKinds, *, confidence: float
) -> LabelInterval:
    """The rule: all judged, else gamma limits, else, with few relevant audit documents, the exact bound."""
    count = arrays.relevant_drawn
    value = ratio(arrays, counted).value
    if value is None:
        return LabelInterval(None, None, None, UNDEFINED, count)
    if not (arrays.probability < 1).any():
        return LabelInterval(value, value, value, COMPLETE, count)
    if count < FEWEST_FOR_GAMMA:
        return LabelInterval(value, *ratio_of.exact(kinds, 1 - confidence), EXACT_BOUND, count)
    limits = [(kind.value, *kind.gamma_limits((1 - confidence) / 2)) for kind in kinds]
    low, high = (furthest(limits, ratio_of.weights, value, end) for end in ratio_of.ends)
    return LabelInterval(value, low, high, GAMMA, count)


def furthest(
    parts: Sequence[tuple[float, float, float]],
    weights: Callable[[float], Sequence[float]],
    estimate: float,
    end: float,
) -> float:
    """The value furthest from the estimate, towards `end`, at which 0 lies within the limits of
    Σ weight · part.

    parts: value, low and high of each. The sum falls as the value rises.
    """
    side = math.copysign(1.0, end - estimate)

    def kept(at: float) -> float:
        total, squares = 0.0, 0.0
        for weight, (value, low, high) in zip(weights(at), parts, strict=True):
            total += weight * value
            squares += (weight * ((high if weight * side > 0 else low) - value)) ** 2
        return side * total + math.sqrt(squares)

    if estimate == end or kept(end) >= 0:
        return end
    return float(optimize.brentq(kept, estimate, end)) if kept(estimate) > 0 else estimate


def exact_limits(kinds: Sequence[Kind], level: float) -> tuple[float, float]:
    """Limits that hold at 1 - level whatever the labels: each side bounds one number of unseen documents.

    Recall is H / (H + M), relevant documents found and missed. It is least with the H that was seen and the
    most M that the sample does not refute at level / 2, and largest the other way round.
    """
    hit, missed = kinds
    low = hit.seen / (hit.seen + missed.most(level / 2)) if hit.seen else 0.0
    most_hits = hit.most(level / 2)
    return low, most_hits / (most_hits + missed.seen) if most_hits else 0.0


def exact_limits_of_difference(kinds: Sequence[Kind], level: float) -> tuple[float, float]:
    """(A - B) / (A + B + O) with A found by the first run alone, B by the second alone and O all others.

    Each side bounds two numbers at level / 4: the other run's finds, and O, which draws towards 0.
    """
    a, b, others = kinds
    return (
        least_difference(a.seen, b.most(level / 4), others, level / 4),
        0.0 - least_difference(b.seen, a.most(level / 4), others, level / 4),
    )


def least_difference(wins: float, losses: float, others: Kind, level: float) -> float:
    """The least (wins - losses) / all over the number of the others; 0 without any."""
    total = wins + losses + (others.most(level) if wins > losses else others.seen)
    return (wins - losses) / total if total else 0.0


RECALL = RatioOfKinds(exact_limits, lambda r: (1 - r, -r), (0.0, 1.0))
RECALL_DIFFERENCE = RatioOfKinds(exact_limits_of_difference, lambda d: (1 - d, -1 - d, -d), (-1.0, 1.0))
