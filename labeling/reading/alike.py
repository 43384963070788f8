"""Texts that are nearly the same: by the runs of three words that they share (Broder, 1997).

`static/judge/alike.js` compares texts on the page by the same rule and the same figures.
"""

from __future__ import annotations

import re

RUN = 3
#: Of a longer text its beginning is compared: nobody waits for a book.
COMPARED = 20_000
#: From this share of shared runs on, two texts are nearly the same.
NEARLY = 0.8
_WORD = re.compile(r"[^\W_]+")


def runs_of(text: str) -> frozenset[str]:
    """The runs of words of a text.

    >>> sorted(runs_of("Buses run all night."))
    ['buses run all', 'run all night']
    """
    words = _WORD.findall(text[:COMPARED].lower())
    if len(words) < RUN:
        return frozenset([" ".join(words)] if words else [])
    return frozenset(map(" ".join, zip(words, words[1:], words[2:], strict=False)))


def alikeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of runs that two sets have in common, from 0 to 1; 0 where they differ too much in size."""
    small, large = sorted((one, other), key=len)
    if not small or len(small) < NEARLY * len(large):
        return 0.0
    shared = len(small & large)
    return shared / (len(small) + len(large) - shared)
