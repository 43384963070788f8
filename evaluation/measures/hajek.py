"""Means of a probability sample of queries, taken back to the log they were drawn from.

With importance a (how often the query is asked for traffic, 1 for distinct queries) and inclusion probability
π the mean is Σ a y / π ÷ Σ a / π (Hájek, Comment on an essay by D. Basu, 1971).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from evaluation.measures.intervals import FEWEST_QUERIES
from evaluation.measures.student import student_limit
from pooling.heavy import Floats, Integers, np, special


@dataclass(frozen=True)
class Design:
    """How n queries were drawn. importance, probability: (n,). stratum: (n,) numbers; neighbours in size have
    neighbouring numbers."""

    importance: Floats
    probability: Floats
    stratum: Integers

    @property
    def weights(self) -> Floats:
        """(n,) a / π."""
        result: Floats = self.importance / self.probability
        return result

    def of(self, rows: Integers) -> Design:
        """The design of these queries alone; those that were drawn speak for the others of their strata,
        which count as not answered, at random."""
        sampled = self.importance > 0
        kept = np.zeros(len(sampled), dtype=bool)
        kept[rows] = sampled[rows]
        many, answered = (
            np.bincount(self.stratum[some], minlength=int(self.stratum.max(initial=0)) + 1)
            for some in (sampled, kept)
        )
        share = np.divide(answered, many, out=np.ones(len(many)), where=answered > 0)
        probability = np.where(sampled, self.probability * share[self.stratum], 1.0)
        return Design(self.importance[rows], probability[rows], self.stratum[rows])


@dataclass(frozen=True)
class WeightedMeans:
    """(M,) of each column: mean, its standard error, the degrees of freedom of that, and how many queries."""

    mean: Floats
    error: Floats
    freedom: Integers
    queries: Integers

    def p_values(self) -> Floats:
        """(M,) Student's test of a mean of 0, on both sides; NaN where there is no degree of freedom."""
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.abs(self.mean / self.error)
        tails: Floats = 2 * special.stdtr(np.maximum(self.freedom, 1), -size)
        return np.where((self.freedom > 0) & (self.error > 0), tails, np.nan)

    def reach(self, level: float) -> Floats:
        """(M,) half the interval; where queries are certain, and only values vary, the normal one."""
        sure = NormalDist().inv_cdf((1 + level) / 2)
        tails = [student_limit(level, one) if one > 0 else sure for one in self.freedom.tolist()]
        result: Floats = np.array(tails) * self.error
        return result

    def limits(self, level: float) -> tuple[Floats, Floats]:
        """(M,) and (M,): Student's interval; NaN where there is no degree of freedom, and for few queries."""
        reach = np.where((self.freedom > 0) & (self.queries >= FEWEST_QUERIES), self.reach(level), np.nan)
        return self.mean - reach, self.mean + reach


def weighted_means(values: Floats, design: Design, within: Floats | None = None) -> WeightedMeans:
    """The mean of each column of `values` (n, M), NaN where a query does not count.

    A query that does not count is outside the domain: its residual is 0. The variance is that of sampling
    without replacement with unequal probabilities, Σ over strata of m/(m-1) Σ (1-π)(e/π - B)² over the m
    queries with π < 1, with e = a (y - mean) and B the mean of e/π weighted by 1-π (Hájek 1964; Deville and
    Tillé 2005). A stratum with one such query joins its neighbour. within: (n, M) the variance of each value
    itself, where it is an estimate: Σ a² v / π comes on top, as in a sample in two stages (Särndal, Swensson
    and Wretman, Model assisted survey sampling, 1992).

    >>> design = Design(np.array([3.0, 1.0, 1.0]), np.array([1.0, 0.5, 0.5]), np.zeros(3, dtype=int))
    >>> means = weighted_means(np.array([[1.0], [0.0], [0.5]]), design)
    >>> means.mean.round(4).tolist(), means.error.round(4).tolist()
    ([0.5714], [0.101])
    """
    counted = ~np.isnan(values)
    weights = np.where(counted, design.weights[:, None], 0.0)
    total = weights.sum(axis=0)
    filled = np.where(counted, values, 0.0)
    return ratio_means(filled * counted, counted.astype(np.float64), design, total=total, within=within)


def ratio_means(
    above: Floats,
    below: Floats,
    design: Design,
    *,
    total: Floats | None = None,
    within: Floats | None = None,
) -> WeightedMeans:
    """Σ w above ÷ Σ w below of each column (n, M); with residuals a (above - ratio · below)."""
    weights = design.weights[:, None]
    total = (weights * below).sum(axis=0) if total is None else total
    sums = (weights * above).sum(axis=0)
    ratio = np.divide(sums, total, out=np.full(len(total), np.nan), where=total > 0)
    residual = design.importance[:, None] * (above - np.nan_to_num(ratio) * below)
    variance, freedom = _variance(residual, design)
    if within is not None:
        variance = variance + (design.importance**2 / design.probability) @ within
    error = np.divide(np.sqrt(variance), total, out=np.full(len(total), np.nan), where=total > 0)
    queries = np.count_nonzero(below, axis=0)
    return WeightedMeans(ratio, error, np.full(len(total), freedom, dtype=np.int64), queries)


def _variance(residual: Floats, design: Design) -> tuple[Floats, int]:
    """(M,) the variance of the total of the residuals, and its degrees of freedom."""
    uncertain = design.probability < 1
    groups = _collapsed(design.stratum[uncertain])
    probability, expanded = design.probability[uncertain], residual[uncertain]
    expanded = expanded / probability[:, None]
    variance, freedom = np.zeros(residual.shape[1]), 0
    for group in np.unique(groups):
        inside = groups == group
        many = int(inside.sum())
        if many < 2:
            continue
        left = (1 - probability[inside])[:, None]
        centre = (left * expanded[inside]).sum(axis=0) / left.sum()
        variance += many / (many - 1) * (left * (expanded[inside] - centre) ** 2).sum(axis=0)
        freedom += many - 1
    return variance, freedom


def _collapsed(stratum: Integers) -> Integers:
    """The strata with at least two members each, where that can be had: a single one joins its neighbour."""
    numbers, counts = np.unique(stratum, return_counts=True)
    joined: dict[int, int] = {}
    current, size = None, 0
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        if current is None or size >= 2:
            current, size = number, 0
        joined[number], size = current, size + count
    if current is not None and size < 2 and len(set(joined.values())) > 1:
        before = max(one for one in joined.values() if one != current)
        joined = {number: before if one == current else one for number, one in joined.items()}
    return np.array([joined[number] for number in stratum.tolist()], dtype=np.int64)


def effective_size(weights: Floats) -> float:
    """Kish's (Σw)² ÷ Σw²: how many queries drawn with equal weights would be worth as much.

    >>> effective_size(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    return float(weights.sum() ** 2 / (weights**2).sum())
