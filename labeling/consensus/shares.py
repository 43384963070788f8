"""Shares of labels with intervals, and the difference of two. Pure: arrays in, figures out.

Labels may weigh unequally, where a design drew them with unequal probabilities (weight 1/π). An interval then
takes the number of equal labels that would have the share's linearised variance, p (1 - p) / variance, never
more than there are (Korn and Graubard, 1998); with equal weights that is the number of labels itself.
Labels of one group, such as those of several people on one pair, hang together: their sums make the variance.
Where groups are few, the variance between them is itself uncertain: the interval then takes Student's t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import sqrt

from pooling.heavy import Booleans, Floats, Integers, np, special

TWO_SIDED_95 = 1.959964


def wilson(right: float, answers: float, z: float = TWO_SIDED_95) -> tuple[float, float]:
    """The Wilson interval of a share (E. B. Wilson, 1927), 95 % unless `z` says otherwise.

    >>> [round(bound, 2) for bound in wilson(9, 10)]
    [0.6, 0.98]
    """
    if not answers:
        return 0.0, 1.0
    share, part = right / answers, z * z / answers
    centre = (share + part / 2) / (1 + part)
    half = z * sqrt(share * (1 - share) / answers + part / (4 * answers)) / (1 + part)
    return max(0.0, centre - half), min(1.0, centre + half)


WILSON = "Wilson"
CLOPPER_PEARSON = "Clopper–Pearson"


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval, by `method`; None without a label to take it from, or `why`. `count` of
    `labels` are meant, unweighted."""

    value: float | None
    low: float | None
    high: float | None
    count: int
    labels: int
    method: str
    why: str = ""

    def flipped(self) -> Share:
        """The share of the others.

        >>> Share(0.25, 0.1, 0.5, 2, 8, WILSON).flipped()
        Share(value=0.75, low=0.5, high=0.9, count=6, labels=8, method='Wilson', why='')
        """
        value, low, high = (None if one is None else 1 - one for one in (self.value, self.high, self.low))
        return Share(value, low, high, self.labels - self.count, self.labels, self.method, self.why)


@dataclass(frozen=True)
class Difference:
    """A share, or the difference of two, with its 95 % interval; null where there is nothing to divide by."""

    value: float | None
    low: float | None
    high: float | None

    @property
    def is_decided(self) -> bool:
        """The interval leaves 0 out."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def share_of(
    hits: Booleans,
    weights: Floats | None = None,
    *,
    exact: bool = False,
    groups: Integers | None = None,
    freedom: int | None = None,
) -> Share:
    """The share of labels that are hits, (n,). Wilson's interval (1927), or the exact one of Clopper and
    Pearson (1934), which is wider and never covers less than it says: for a share that is a risk. groups:
    whole numbers from 0, (n,), the same for labels that hang together; absent, each is alone. freedom: the
    groups less one, where they are few: the equal labels then shrink as t exceeds the normal limit (Korn and
    Graubard, 1998).

    >>> found = share_of(np.arange(10) < 9)
    >>> round(found.low, 2), round(found.high, 2)
    (0.6, 0.98)
    """
    labels, method = len(hits), CLOPPER_PEARSON if exact else WILSON
    if not labels:
        return Share(None, None, None, 0, 0, method)
    weights = np.ones(labels) if weights is None else weights
    value = float(np.average(hits, weights=weights))
    size = _equal_labels(hits, weights, value, np.arange(labels) if groups is None else groups)
    if freedom is not None:
        size *= _shrunk(freedom)
    low, high = clopper_pearson(value * size, size) if exact else wilson(value * size, size)
    return Share(value, min(low, value), max(high, value), int(hits.sum()), labels, method)


def clopper_pearson(hits: float, labels: float, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share, also for counts that are not whole.

    >>> low, high = clopper_pearson(0, 59)
    >>> low, round(high, 4)
    (0.0, 0.0606)
    """
    level = (1 - confidence) / 2
    low = 0.0 if hits <= 0 else float(special.betaincinv(hits, labels - hits + 1, level))
    high = 1.0 if hits >= labels else float(special.betaincinv(hits + 1, labels - hits, 1 - level))
    return low, high


def difference_of(first: Share, second: Share) -> Difference:
    """Of two independent shares, from the interval of each (Newcombe, 1998, method 10, with Wilson's).

    >>> found = difference_of(share_of(np.arange(70) < 56), share_of(np.arange(80) < 48))
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
    (0.2, 0.0524, 0.3339)
    """
    if first.value is None or second.value is None:
        return Difference(None, None, None)
    assert first.low is not None
    assert first.high is not None
    assert second.low is not None
    assert second.high is not None
    value = first.value - second.value
    down = math.hypot(first.value - first.low, second.high - second.value)
    up = math.hypot(first.high - first.value, second.value - second.low)
    return Difference(value, value - down, value + up)


def _shrunk(freedom: int) -> float:
    """Factor on equal labels, where the variance has this many degrees of freedom."""
    limit = float(special.stdtrit(freedom, 0.975))
    return (TWO_SIDED_95 / limit) ** 2 * freedom / (freedom + 1)


def _equal_labels(hits: Booleans, weights: Floats, value: float, groups: Integers) -> float:
    """Number of equally weighted labels that would say as much; never more than unequal weights leave (Kish,
    1965), since hits among light labels alone make the variance look small."""
    total = weights.sum()
    most = float(total**2 / (weights**2).sum())
    if 0 < value < 1:
        parts = np.bincount(groups, weights=weights * (hits - value))
        variance = float((parts**2).sum() / total**2)
        return min(value * (1 - value) / variance, most) if variance else most
    return min(float(total**2 / (np.bincount(groups, weights=weights) ** 2).sum()), most)
