"""Where in a person's stream of items the gold questions come: drawn by a seed, at irregular places.

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


def gold_places(seed: int, start: int, count: int, shares: Shares) -> dict[int, int]:
    """The places of gold questions among `count` items from place `start` on (from 0), each with its number.

    Numbers are drawn for what else hangs on the question; two places never have the same one.
    """
    places = {}
    for place in range(start, start + count):
        begin, share = (0, shares.first) if place < FIRST_ITEMS else (FIRST_ITEMS, shares.later)
        if share <= 0:
            continue
        block = int((place - begin) * share + 1e-9)
        first, end = begin + _ceiling(block / share), begin + _ceiling((block + 1) / share)
        if begin == 0:
            end = min(end, FIRST_ITEMS)
        number = block * 2 + (begin > 0)
        if place == first + drawn(seed, number) % max(1, end - first):
            places[place] = number
    return places


def wants_relevant(seed: int, number: int) -> bool:
    """Whether the gold question with this number should be relevant: one of each two, in drawn order."""
    block, is_later = divmod(number, 2)
    pair_number = -1 - (block // 2 * 2 + is_later)
    return (drawn(seed, pair_number) + block) % 2 == 0


def drawn(seed: int, number: int) -> int:
    """A number that hangs on both and on nothing else."""
    return int.from_bytes(blake2b(f"{seed} {number}".encode(), digest_size=6).digest())


def _ceiling(value: float) -> int:
    return -int(-(value - 1e-9) // 1)
