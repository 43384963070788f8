"""Ranges of characters, half open, and sets of them: rising, none empty, and no two that touch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

Range: TypeAlias = tuple[int, int]
#: A set of characters, as `union` gives it.
Ranges: TypeAlias = Sequence[Range]


def union(ranges: Iterable[Range]) -> list[Range]:
    """The characters that are in any of the ranges, which may overlap and come in any order.

    >>> union([(5, 9), (0, 3), (2, 4), (9, 9)])
    [(0, 4), (5, 9)]
    """
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def intersection(one: Ranges, other: Ranges) -> list[Range]:
    """The characters in both of two sets.

    >>> intersection([(0, 4), (6, 9)], [(2, 8)])
    [(2, 4), (6, 8)]
    """
    common: list[Range] = []
    first = second = 0
    while first < len(one) and second < len(other):
        start, end = max(one[first][0], other[second][0]), min(one[first][1], other[second][1])
        if start < end:
            common.append((start, end))
        if one[first][1] < other[second][1]:
            first += 1
        else:
            second += 1
    return common


def difference(one: Ranges, other: Ranges) -> list[Range]:
    """The characters of the first set that are not in the second.

    >>> difference([(0, 9)], [(2, 4), (8, 12)])
    [(0, 2), (4, 8)]
    """
    left: list[Range] = []
    for start, end in one:
        for taken, freed in other:
            if freed <= start:
                continue
            if taken >= end:
                break
            if start < taken:
                left.append((start, taken))
            start = max(start, freed)
        if start < end:
            left.append((start, end))
    return left


def length(ranges: Ranges) -> int:
    """How many characters a set has."""
    return sum(end - start for start, end in ranges)


def is_within(one: Range, ranges: Ranges) -> bool:
    """Whether a set has every character of a range."""
    return any(start <= one[0] and one[1] <= end for start, end in ranges)
