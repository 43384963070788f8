"""At which places of a person's stream gold questions are due: drawn by a seed, and irregular.

Without Django. A stretch of work in which one item in `1 / share` is gold is cut into blocks of that length,
and each block has one gold question at a drawn place: so the share is kept, and neither the distance from
the one before nor a count tells where the next one is.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

# What comes first is watched more closely.
FIRST_ITEMS = 25


class Shares(NamedTuple):
    """The share of gold questions among the first `FIRST_ITEMS` items of a person, and after."""

    first: float
    later: float


def gold_places(seed: int, start: int, count: int, shares: Shares) -> list[int]:
    """The places at which gold questions are due among `count` items from place `start` on (from 0)."""
    places = []
    for place in range(start, start + count):
        begin, share = (0, shares.first) if place < FIRST_ITEMS else (FIRST_ITEMS, shares.later)
        if share <= 0:
            continue
        block = int((place - begin) * share + 1e-9)
        first, end = begin + _ceiling(block / share), begin + _ceiling((block + 1) / share)
        if begin == 0:
            end = min(end, FIRST_ITEMS)
        number = block * 2 + (begin > 0)
        if place == first + lot(seed, number) % max(1, end - first):
            places.append(place)
    return places


def wants_relevant(seed: int, number: int) -> bool:
    """One of each two of somebody's questions should be relevant, in drawn order."""
    return (lot(seed, -1 - number // 2) + number) % 2 == 0


def lot(seed: int, number: int) -> int:
    """A number that hangs on both and on nothing else."""
    return int.from_bytes(blake2b(f"{seed} {number}".encode(), digest_size=6).digest())


def _ceiling(value: float) -> int:
    return -int(-(value - 1e-9) // 1)
