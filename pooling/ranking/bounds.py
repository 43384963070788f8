"""Exact bounds on the relevant documents of a remainder, from a random sample; p-values of several tests."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from pooling.heavy import ArrayLike, Floats, np, special

#: Of fewer queries or users there is no interval: their spread is as uncertain as their mean.
FEWEST_FOR_INTERVAL = 10


@dataclass(frozen=True)
class Remainder:
    """A query beyond its greedy part: `size` documents, `sampled` of them judged, and `relevant` of those."""

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

    possible = range(remainder.relevant + 1, remainder.size - (remainder.sampled - remainder.relevant) + 1)
    level = 1 - confidence + 1e-12  # a chance that equals the level, but for its last digits, is refuted
    unrefuted = bisect_left(possible, True, key=lambda many: _few_sampled(remainder, many) <= level)
    return remainder.relevant + unrefuted


def _few_sampled(remainder: Remainder, many: int) -> float:
    """P(at most `relevant` drawn) where `many` of the remainder are relevant, as the hypergeometric sum."""
    others = remainder.size - many
    counts = np.arange(max(0, remainder.sampled - others), min(remainder.relevant, many) + 1)
    ways = _log_choices(many, counts) + _log_choices(others, remainder.sampled - counts)
    return float(np.exp(ways - _log_choices(remainder.size, remainder.sampled)).sum())


def _log_choices(of: int, taken: ArrayLike) -> Floats:
    taken = np.asarray(taken)
    result: Floats = special.gammaln(of + 1) - special.gammaln(taken + 1) - special.gammaln(of - taken + 1)
    return result


def most_missing_in_all(remainders: Iterable[Remainder], confidence: float = 0.95) -> int | None:
    """`most_missing` over several queries together.

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
    while special.bdtr(relevant, high, fraction) > level:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if special.bdtr(relevant, middle, fraction) > level else (low, middle)
    return low


def holm(p_values: Floats) -> Floats:
    """Holm's step-down adjustment: the chance of any false discovery stays at the level.

    Holm, A simple sequentially rejective multiple test procedure (1979).

    >>> import numpy as np
    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    stepped = p_values[order] * np.arange(len(p_values), 0, -1)
    result = np.empty(len(p_values))
    result[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return result
