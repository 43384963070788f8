"""The numbers by which annotators know items: they tell nothing of the order in which items were made.

A gold question is often made later than the items around it, and a number out of turn would give it away. So
a number is the item's key behind a keyed permutation of 48 bits (a Feistel network of four rounds), which a
browser's numbers hold exactly.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from django.conf import settings

HALF = 24
MASK = (1 << HALF) - 1
ROUNDS = 4
LARGEST_NUMBER = (1 << 2 * HALF) - 1


def number_of(item: int) -> int:
    left, right = item >> HALF & MASK, item & MASK
    for turn in range(ROUNDS):
        left, right = right, left ^ _mixed(turn, right)
    return left << HALF | right


def item_of(number: int) -> int:
    """The key of the item with this number; there need not be such an item."""
    left, right = number >> HALF & MASK, number & MASK
    for turn in reversed(range(ROUNDS)):
        left, right = right ^ _mixed(turn, left), left
    return left << HALF | right


def _mixed(turn: int, half: int) -> int:
    digest = blake2b(bytes([turn]) + half.to_bytes(3), key=_key(settings.SECRET_KEY), digest_size=3).digest()
    return int.from_bytes(digest)


@lru_cache(maxsize=4)
def _key(secret: str) -> bytes:
    return blake2b(f"item numbers {secret}".encode(), digest_size=32).digest()
