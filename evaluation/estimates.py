"""Totals and recall estimated from a sample with known inclusion probabilities, and bounds on what is
missing.

A sample is a frame with one row for each labelled pair: `query_id`, `document_id`, `relevant` (Boolean) and
`inclusion_probability` (Float64, above 0 up to 1). Pairs with probability 1 are certain. Pairs of a query
that share one probability below 1 are a simple random sample of a stratum of n/π documents; pairs whose
probability nobody shares were drawn on their own (priority or Poisson sampling).

Every interval here is about *which labels* were drawn, never about which queries were asked.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

COLUMNS = ("query_id", "document_id", "relevant", "inclusion_probability")


@dataclass(frozen=True)
class Estimate:
    """A value with the standard error of the draw; None where it is undefined."""

    value: float | None
    standard_error: float | None

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """The normal interval; meant for five and more relevant documents in the audit."""
        if self.value is None or self.standard_error is None:
            return None
        reach = float(stats.norm.ppf((1 + confidence) / 2)) * self.standard_error
        return self.value - reach, self.value + reach


def estimated_total(sample: pl.DataFrame) -> Estimate:
    """The number of relevant pairs: Σ y/π (Horvitz and Thompson, 1952), over all queries of the sample."""
    drawn = Drawn.of(sample)
    return Estimate(drawn.total(drawn.relevant), math.sqrt(drawn.variance(drawn.relevant)))


def micro_recall(sample: pl.DataFrame, retrieved: pl.DataFrame) -> Estimate:
    """Relevant pairs retrieved / relevant pairs, both weighted by 1/π, over all queries together.

    `retrieved` names the pairs (query_id, document_id) of a run's top K. The variance is that of the
    residuals y · (retrieved - recall) / total. Undefined while no relevant pair is in the sample.
    """
    drawn = Drawn.of(sample)
    return ratio(drawn, drawn.found_by(retrieved))


def micro_recall_difference(sample: pl.DataFrame, first: pl.DataFrame, second: pl.DataFrame) -> Estimate:
    """Micro recall of one run minus that of another on the same sample, with their covariance."""
    drawn = Drawn.of(sample)
    return ratio(drawn, drawn.found_by(first) - drawn.found_by(second))


def ratio(drawn: "Drawn", counted: Floats) -> Estimate:
    """Σ counted·y/π over Σ y/π with its linearised standard error."""
    total = drawn.total(drawn.relevant)
    if total == 0:
        return Estimate(None, None)
    value = drawn.total(drawn.relevant * counted) / total
    residual = drawn.relevant * (counted - value) / total
    return Estimate(value, math.sqrt(drawn.variance(residual)))


@dataclass(frozen=True)
class Drawn:
    """The sample as arrays; `stratum` numbers the pairs that share a query and a probability."""

    pairs: pl.DataFrame
    relevant: Floats
    probability: Floats
    stratum: NDArray[np.int64]

    @classmethod
    def of(cls, sample: pl.DataFrame) -> "Drawn":
        absent = [name for name in COLUMNS if name not in sample.columns]
        if absent:
            raise ValueError(f"The sample has no column {', '.join(absent)}; it needs {', '.join(COLUMNS)}.")
        probability = sample["inclusion_probability"].to_numpy().astype(np.float64)
        if not bool(((probability > 0) & (probability <= 1)).all()):
            raise ValueError("An inclusion probability lies outside the range above 0 up to 1.")
        group = pl.struct("query_id", "inclusion_probability").rank("dense").cast(pl.Int64) - 1
        return cls(
            sample.select("query_id", "document_id"),
            sample["relevant"].to_numpy().astype(np.float64),
            probability,
            sample.select(group.alias("stratum"))["stratum"].to_numpy(),
        )

    def found_by(self, retrieved: pl.DataFrame) -> Floats:
        """1 for the pairs of the sample that a run retrieved."""
        pairs = retrieved.select("query_id", "document_id", found=pl.lit(1.0)).unique(COLUMNS[:2])
        joined = self.pairs.join(pairs, on=["query_id", "document_id"], how="left", maintain_order="left")
        return joined["found"].fill_null(0.0).to_numpy()

    def total(self, values: Floats) -> float:
        return float((values / self.probability).sum())

    def variance(self, values: Floats) -> float:
        """Of `total(values)`: by strata where they hold two pairs or more, else Σ (1 - π)/π² · value²."""
        count = np.bincount(self.stratum, minlength=1)
        mean = np.bincount(self.stratum, weights=values, minlength=1) / np.maximum(count, 1)
        many = count[self.stratum] >= 2
        squares = (values - np.where(many, mean[self.stratum], 0.0)) ** 2
        # n/(n-1) turns the mean square into the sample variance; N²(1-f)s²/n, written pair by pair.
        n = count[self.stratum]
        factor = np.where(many, n / np.maximum(n - 1, 1), 1.0)
        return float((factor * (1 - self.probability) / self.probability**2 * squares).sum())


@dataclass(frozen=True)
class Remainder:
    """What a query's greedy part left: `size` documents, of which `sampled` were judged and `relevant`
    found so.
    """

    size: int
    sampled: int
    relevant: int

    def __post_init__(self) -> None:
        if not 0 <= self.relevant <= self.sampled <= self.size:
            raise ValueError(f"{self} cannot be: relevant ≤ sampled ≤ size must hold.")


def most_missing(remainder: Remainder, confidence: float = 0.95) -> int | None:
    """The greatest number of relevant documents in a query's remainder that the audit does not rule out.

    One-sided and exact: the largest M with P(at most `relevant` drawn | M) > 1 - confidence under the
    hypergeometric distribution. The relevant documents of the audit are among the M. None without an audit.
    """
    if not remainder.sampled:
        return None if remainder.size else 0
    candidates = np.arange(remainder.relevant, remainder.size - (remainder.sampled - remainder.relevant) + 1)
    chance = stats.hypergeom.cdf(remainder.relevant, remainder.size, candidates, remainder.sampled)
    return int(candidates[chance > 1 - confidence].max(initial=remainder.relevant))


def most_missing_in_all(remainders: Iterable[Remainder], confidence: float = 0.95) -> int | None:
    """The same bound over several queries together.

    Each relevant document was drawn with at least the smallest sampling fraction f, so the number drawn of
    M is bounded by the binomial (M, f) (Hoeffding, 1956). None when a query with a remainder has no audit.
    """
    open_ones = [remainder for remainder in remainders if remainder.size > 0]
    if not open_ones:
        return 0
    if any(not remainder.sampled for remainder in open_ones):
        return None
    relevant = sum(remainder.relevant for remainder in open_ones)
    possible = sum(remainder.size - remainder.sampled + remainder.relevant for remainder in open_ones)
    fraction = min(remainder.sampled / remainder.size for remainder in open_ones)
    if fraction == 1:
        return relevant
    return min(possible, largest_unrefuted(relevant, fraction, 1 - confidence))


def largest_unrefuted(relevant: int, fraction: float, level: float) -> int:
    """The largest M with P(Binomial(M, fraction) ≤ relevant) > level."""
    low, high = relevant, relevant + 1
    while stats.binom.cdf(relevant, high, fraction) > level:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if stats.binom.cdf(relevant, middle, fraction) > level else (low, middle)
    return low


def remainders_of(sizes: Sequence[int], sample: pl.DataFrame) -> list[Remainder]:
    """One remainder for each query of the sample, in the order of its ids bytewise, from the sizes of
    its pools.
    """
    uncertain = pl.col("inclusion_probability") < 1
    counted = sample.group_by("query_id").agg(
        pl.len().alias("judged"),
        uncertain.sum().alias("sampled"),
        (uncertain & pl.col("relevant")).sum().alias("relevant"),
    )
    rows = counted.sort("query_id").select("judged", "sampled", "relevant").rows()
    return [
        Remainder(size - judged + sampled, sampled, relevant)
        for size, (judged, sampled, relevant) in zip(sizes, rows, strict=True)
    ]
