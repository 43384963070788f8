"""Totals and recall estimated from a sample with known inclusion probabilities, and bounds on what is
missing.

A sample is a frame with one row for each labelled pair: `query_id`, `document_id`, `relevant` (Boolean) and
`inclusion_probability` (Float64, above 0 up to 1). Pairs with probability 1 are certain. Pairs of a query
that share one probability below 1 are a simple random sample of a stratum of n/π documents; pairs whose
probability nobody shares were drawn on their own (priority or Poisson sampling). Where a query was drawn from
more than once, as by the versions of a pool, a column `draw` keeps the strata of the draws apart. Where the
strata of a draw run across queries (by the score of a model, say), a column `stratum` names each pair's, in
the place of query and draw. A column `weight` says how much each pair's query counts.

Every interval here is about *which labels* were drawn, never about which queries were asked. The bounds on
what is missing are those of `pooling/ranking/bounds.py`, by which queues stop too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from pooling.heavy import Floats, NDArray, np, pl, special
from pooling.ranking.bounds import Remainder as Remainder
from pooling.ranking.bounds import largest_unrefuted as largest_unrefuted
from pooling.ranking.bounds import most_missing as most_missing
from pooling.ranking.bounds import most_missing_in_all as most_missing_in_all

COLUMNS = ("query_id", "document_id", "relevant", "inclusion_probability")
STRATUM = ("query_id", "draw")


@dataclass(frozen=True)
class Estimate:
    """A value with the standard error of the draw; None where it is undefined."""

    value: float | None
    standard_error: float | None

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """The normal interval; meant for five and more relevant documents in the audit."""
        if self.value is None or self.standard_error is None:
            return None
        reach = float(special.ndtri((1 + confidence) / 2)) * self.standard_error
        return self.value - reach, self.value + reach


def estimated_total(sample: pl.DataFrame) -> Estimate:
    """The number of relevant pairs: Σ y/π (Horvitz and Thompson, 1952), over all queries of the sample."""
    arrays = SampleArrays.of(sample)
    return Estimate(arrays.total(arrays.relevant), math.sqrt(arrays.variance(arrays.relevant)))


def micro_recall(sample: pl.DataFrame, retrieved: pl.DataFrame) -> Estimate:
    """Relevant pairs retrieved / relevant pairs, both weighted by 1/π, over all queries together.

    `retrieved` names the pairs (query_id, document_id) of a run's top K. The variance is that of the
    residuals y · (retrieved - recall) / total. Undefined while no relevant pair is in the sample.
    """
    arrays = SampleArrays.of(sample)
    return ratio(arrays, arrays.hits_of(retrieved))


def ratio(arrays: SampleArrays, counted: Floats) -> Estimate:
    """Σ counted·y/π over Σ y/π with its linearised standard error."""
    total = arrays.total(arrays.relevant)
    if total == 0:
        return Estimate(None, None)
    value = arrays.total(arrays.relevant * counted) / total
    residual = arrays.relevant * (counted - value) / total
    return Estimate(value, math.sqrt(arrays.variance(residual)))


@dataclass(frozen=True)
class SampleArrays:
    """The sample as arrays; `relevant` is how much each relevant pair counts, its `weight`, or 0; `stratum`
    numbers the pairs that share a query (or the sample's own `stratum`) and a probability. `across` says that
    strata run across queries."""

    pairs: pl.DataFrame
    relevant: Floats
    probability: Floats
    stratum: NDArray[np.int64]
    weight: Floats
    across: bool = False

    @classmethod
    def of(cls, sample: pl.DataFrame) -> SampleArrays:
        absent = [name for name in COLUMNS if name not in sample.columns]
        if absent:
            raise ValueError(f"The sample has no column {', '.join(absent)}; it needs {', '.join(COLUMNS)}.")
        probability = sample["inclusion_probability"].to_numpy().astype(np.float64)
        if not bool(((probability > 0) & (probability <= 1)).all()):
            raise ValueError("An inclusion probability lies outside the range above 0 up to 1.")
        across = "stratum" in sample.columns
        within = ("stratum",) if across else STRATUM
        keys = [name for name in (*within, "inclusion_probability") if name in sample.columns]
        group = pl.struct(keys).rank("dense").cast(pl.Int64) - 1
        weight = sample["weight"].to_numpy() if "weight" in sample.columns else np.ones(sample.height)
        return cls(
            sample.select("query_id", "document_id"),
            sample["relevant"].to_numpy().astype(np.float64) * weight,
            probability,
            sample.select(group.alias("stratum"))["stratum"].to_numpy(),
            weight,
            across,
        )

    @property
    def relevant_drawn(self) -> int:
        """The relevant pairs that are not certain."""
        return int(np.count_nonzero(self.relevant * (self.probability < 1)))

    def hits_of(self, retrieved: pl.DataFrame) -> Floats:
        """1 for the pairs of the sample that a run retrieved."""
        pairs = retrieved.select("query_id", "document_id", found=pl.lit(1.0)).unique(COLUMNS[:2])
        joined = self.pairs.join(pairs, on=["query_id", "document_id"], how="left", maintain_order="left")
        return joined["found"].fill_null(0.0).to_numpy()

    def total(self, values: Floats) -> float:
        return float((values / self.probability).sum())

    def variance(self, values: Floats) -> float:
        """Of `total(values)`: by strata where they hold two pairs or more, else Σ (1 - π)/π² · value²."""
        return float((self.spreads * self.deviations(values) ** 2).sum())

    @cached_property
    def spreads(self) -> Floats:
        """(n,) what each pair's squared deviation counts in the variance of a total."""
        # n/(n-1) turns the mean square into the sample variance; N²(1-f)s²/n, written pair by pair.
        n = np.bincount(self.stratum, minlength=1)[self.stratum]
        factor = np.where(n >= 2, n / np.maximum(n - 1, 1), 1.0)
        return np.asarray(factor * (1 - self.probability) / self.probability**2)

    def variance_of_count(self, marks: Floats) -> float:
        """Of `total(relevant · marks)`, by strata, for limits of a count.

        A stratum all of whose drawn pairs count has no deviation, yet of the others not all need to: half a
        pair of it is taken not to count.
        """
        counted = self.relevant * marks
        n = np.bincount(self.stratum, minlength=1)
        full = n == np.bincount(self.stratum, weights=counted, minlength=1)
        left = (1 - self.probability) / self.probability**2
        # N² (1 - n/N) p (1 - p)/n with p = 1 - 1/(2n), written pair by pair.
        doubted = left * full[self.stratum] * (1 - 0.5 / n[self.stratum]) * 0.5 / n[self.stratum]
        return self.variance(counted) + float(doubted.sum())

    def deviations(self, values: Floats) -> Floats:
        """(n,) from the mean of the stratum where it holds two pairs or more, else from 0."""
        count = np.bincount(self.stratum, minlength=1)
        mean = np.bincount(self.stratum, weights=values, minlength=1) / np.maximum(count, 1)
        return np.asarray(values - np.where(count >= 2, mean, 0.0)[self.stratum])
