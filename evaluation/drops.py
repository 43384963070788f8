"""Whether a value fell from one run to the next, or only seems to have. No Django here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.measures import Floats

# What tells the versions of one system apart at the end of a name: -v3, _2026-11-20, .12, -rc1.
_VERSION = re.compile(r"(?:[-_.@ +]+(?:v|rc|run|build)?\d[\dT:Z]*)+$", re.IGNORECASE)


def family_of(name: str) -> str:
    """The name of a run without the version at its end: runs of one family are versions of one system.

    >>> [family_of(name) for name in ("dense-v2", "dense_2026-11-20", "bm25", "splade.12-rc1", "42")]
    ['dense', 'dense', 'bm25', 'splade', '42']
    """
    return _VERSION.sub("", name) or name


@dataclass(frozen=True)
class Change:
    """The mean difference of two runs over the queries that count in both, with its interval.

    low, high: None where fewer than two queries count.
    """

    difference: float | None
    low: float | None
    high: float | None
    queries: int

    @property
    def is_drop(self) -> bool:
        """Whether it fell beyond noise: the whole interval is below 0."""
        return self.high is not None and self.high < 0


def change_between(now: Floats, before: Floats, *, confidence: float, samples: int, seed: int) -> Change:
    """The change of (Q,) values by query, NaN where a query does not count; the interval is paired."""
    import numpy as np

    from evaluation.significance import difference_intervals

    differences = now - before
    counted = differences[~np.isnan(differences)]
    if not len(counted):
        return Change(None, None, None, 0)
    low, high = difference_intervals(differences[:, None], samples=samples, seed=seed, level=confidence)
    if np.isnan(low[0]):
        return Change(float(counted.mean()), None, None, len(counted))
    return Change(float(counted.mean()), float(low[0]), float(high[0]), len(counted))


def marked_by_chance(comparisons: int, confidence: float) -> float:
    """How many of so many comparisons are marked as drops where nothing changed: half of what the intervals
    miss.

    >>> round(marked_by_chance(40, 0.95), 3)
    1.0
    """
    return comparisons * (1 - confidence) / 2
