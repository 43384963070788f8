"""Quantiles of Student's t from NumPy alone, so that a first result need not load SciPy."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, pi
from statistics import NormalDist

from pooling.heavy import np

_STEPS = 60


@lru_cache(maxsize=4096)
def student_limit(level: float, freedom: int) -> float:
    """The t with P(|T| <= t) = level for whole degrees of freedom of at least 1.

    Solved by Newton's steps on the finite sums of Abramowitz and Stegun, Handbook of Mathematical Functions
    (1964), 26.7.3 and 26.7.4.

    >>> round(student_limit(0.95, 9), 6)
    2.262157
    """
    t, low, high = NormalDist().inv_cdf(0.5 + level / 2), 0.0, np.inf
    for _ in range(_STEPS):
        missing = level - _within(t, freedom)
        low, high = (t, high) if missing > 0 else (low, t)
        stepped = t + missing / (2 * _density(t, freedom))
        if not low < stepped < high:
            stepped = (low + high) / 2 if np.isfinite(high) else 2 * t
        if abs(stepped - t) <= 4e-16 * t:
            return float(stepped)
        t = stepped
    return float(t)


def _within(t: float, freedom: int) -> float:
    """P(|T| <= t)."""
    angle = np.arctan2(t, np.sqrt(freedom))
    sine, cosine = np.sin(angle), np.cos(angle)
    odd = freedom % 2
    # 1 + 1/2 c² + (1·3)/(2·4) c⁴ + …, or c + 2/3 c³ + (2·4)/(3·5) c⁵ + …, up to c to the freedom less 2.
    k = np.arange(1, (freedom - odd) // 2)
    ratios = (2 * k - 1 + odd) / (2 * k + odd) * cosine**2
    total = 1.0 + np.cumprod(ratios).sum()
    if not odd:
        return float(sine * total)
    return float(2 / pi * (angle + (sine * cosine * total if freedom > 1 else 0.0)))


def _density(t: float, freedom: int) -> float:
    scale = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - 0.5 * log(freedom * pi)
    return exp(scale - (freedom + 1) / 2 * np.log1p(t * t / freedom))
