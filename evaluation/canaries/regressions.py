"""Tests of a fall from one run to the next, beyond noise. No Django here."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from statistics import NormalDist

from evaluation.measures import Floats
from evaluation.measures.intervals import LARGEST_RESAMPLED, difference_intervals
from evaluation.measures.significance import least_difference, randomisation_test
from pooling.formats.wording import counted
from pooling.heavy import np

# What tells the versions of one system apart at the end of a name: -v3, _2026-11-20, .12, -rc1.
_SIGNS = re.compile(r"([-_.@ +]+)")
_VERSION = re.compile(r"(?:v|rc|run|build)?\d[\dT:Z]*", re.IGNORECASE)


def family_of(name: str) -> str:
    """The name of a run without the version at its end: runs of one family are versions of one system.

    >>> [family_of(name) for name in ("dense-v2", "dense_2026-11-20", "bm25", "splade.12-rc1", "42")]
    ['dense', 'dense', 'bm25', 'splade', '42']
    """
    parts = _SIGNS.split(name)  # a word, signs, a word, …
    while len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        del parts[-2:]
    return "".join(parts) or name


@dataclass(frozen=True)
class ValueChange:
    """The mean difference of two runs over the queries that count in both, with its interval.

    low, high: None where too few queries count for an interval. p: the chance of such a fall where each
    query's values may as well be the other way round, times the number of comparisons; None where no query
    counts.
    deviation: standard deviation of the differences by query.
    """

    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    deviation: float | None


NOTHING = ValueChange(None, None, None, None, None)


def is_fall(high: float | None, p: float | None, confidence: float) -> bool:
    """A change beyond noise: too rare by chance, and its whole interval below 0 where it has one.

    Where the two runs are equally good, so that each query's difference may have either sign, this has at
    most the chance `false_falls(confidence)`.
    """
    return p is not None and p <= false_falls(confidence) and (high is None or high < 0)


def change_between(
    now: Floats, before: Floats, *, confidence: float, comparisons: int = 1, samples: int, seed: int
) -> ValueChange:
    """The change of (Q,) values by query, NaN where a query does not count; the interval is paired.

    comparisons: p is multiplied by it (Bonferroni), 1 at most; the interval is that of one comparison.
    """
    differences = now - before
    counted = differences[~np.isnan(differences)]
    if not len(counted):
        return NOTHING
    # Enough draws for so small a level.
    draws = max(samples, math.ceil(10 * comparisons / false_falls(confidence)))
    p = min(1.0, _chance_of_fall(counted, draws, seed) * comparisons)
    if len(counted) < 2:
        return ValueChange(float(counted.mean()), None, None, p, None)
    low, high = difference_intervals(differences[:, None], samples=samples, seed=seed, level=confidence)
    mean, deviation = float(counted.mean()), float(counted.std(ddof=1))
    if np.isnan(low[0]):  # too few queries for an interval, and with it for a fall
        return ValueChange(mean, None, None, p, deviation)
    return ValueChange(mean, float(low[0]), float(high[0]), p, deviation)


def _chance_of_fall(counted: Floats, draws: int, seed: int) -> float:
    """One-sided p-value under random signs; of very many queries its normal limit."""
    if len(counted) <= LARGEST_RESAMPLED:
        p_values = randomisation_test(counted[:, None], permutations=draws, seed=seed, falls_only=True)
        return float(p_values[0])
    spread = float(np.sqrt(np.square(counted).sum()))
    return NormalDist().cdf(float(counted.sum()) / spread) if spread else 1.0


def false_falls(confidence: float) -> float:
    """The share of runs that are marked as falls where nothing changed, at most: half of what intervals miss.

    >>> round(false_falls(0.95), 4)
    0.025
    """
    return (1 - confidence) / 2


def marked_by_chance(comparisons: int, confidence: float) -> float:
    """At most this many runs are marked as falls where nothing changed.

    >>> round(marked_by_chance(40, 0.95), 3)
    1.0
    """
    return comparisons * false_falls(confidence)


# What a query's value changes by from one version to the next where no two versions have been measured.
ASSUMED_DEVIATION = 0.2
POWER = 0.8


@dataclass(frozen=True)
class LeastFall:
    """The least true fall of the mean over `queries` that is marked four times in five.

    deviation: of the differences by query, from this many `pairs` of runs; assumed where there is none.
    fewest: when fewer queries than this fall and none rises, it is never marked.
    """

    queries: int
    difference: float | None
    deviation: float
    pairs: int
    fewest: int

    def sentence(self) -> str:
        if self.difference is None:
            return (
                f"These {self.queries:,} queries can show no fall beyond noise: that takes at least "
                f"{self.fewest} that got worse. The threshold is watched all the same."
            )
        if self.pairs:
            source = f"by the noise between {counted(self.pairs, 'pair')} of runs"
        else:
            source = f"if a query changes by about {self.deviation:g}; no two runs have been compared yet"
        return (
            f"The least fall that these {self.queries:,} queries show four times in five is about "
            f"{self.difference:.3f} ({source}). It takes at least "
            f"{self.fewest} queries that got worse."
        )


def least_fall(
    queries: int, deviation: float | None, pairs: int, *, confidence: float, comparisons: int
) -> LeastFall:
    """The smallest fall that this many queries can show when a run is compared with this many others.

    >>> found = least_fall(100, 0.2, 3, confidence=0.95, comparisons=1)
    >>> round(found.difference or 0, 3), found.fewest
    (0.056, 6)
    """
    level = false_falls(confidence) / comparisons
    fewest = math.floor(-math.log2(level)) + 1  # this many equal signs by chance: one in 2 to their number
    noise = deviation or ASSUMED_DEVIATION
    difference = least_difference(noise, queries, power=POWER, level=2 * level) if queries >= fewest else None
    difference = None if difference is None or difference > 1 else difference
    return LeastFall(queries, difference, noise, pairs if deviation else 0, fewest)
