"""Texts as sets of shingles: runs of neighbouring words, of characters where a script has no spaces.

Broder, "On the resemblance and containment of documents" (1997). Shingles are numbered, not hashed, so that
no likeness depends on chance.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from pooling.heavy import Booleans, Integers, np
from pooling.texts.word_forms import UNSPACED

#: Characters of a shingle in a text of a script that puts no space between words.
CHARACTERS = 5
WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
# A word with a digit, and what signs inside a number join to it: 2a, 3.5, 1,200, 2026-11-27.
_FIGURE = re.compile(r"\b[^\W\d]*\d\w*(?:[.,:/-][^\W\d]*\d\w*)*")
_FIGURE_UNSPACED = re.compile(r"\d+(?:[.,:/-]\d+)*")
_LARGEST = 2**62


class ShingleSets(NamedTuple):
    """(m,) numbers of shingles, rising within each of n texts; (n + 1,) where each text begins."""

    shingles: Integers
    start: Integers

    @property
    def sizes(self) -> Integers:
        return np.diff(self.start)

    def take(self, texts: Integers) -> ShingleSets:
        """The sets of these texts, in this order."""
        sizes = self.sizes[texts]
        start = np.concatenate(([0], np.cumsum(sizes)))
        rows = np.arange(start[-1]) + np.repeat(self.start[texts] - start[:-1], sizes)
        return ShingleSets(self.shingles[rows], start)


@dataclass(frozen=True)
class ShingledTexts:
    """n texts. sets: their shingles, none where a text has no word. figures: (n,) a number for the figures of
    each text, equal where they are equal; written: the figures by that number, each once, in their order.
    is_short: (n,) the text has fewer words than a shingle, and is one as a whole."""

    sets: ShingleSets
    figures: Integers
    written: tuple[tuple[str, ...], ...]
    is_short: Booleans


@dataclass
class _Units:
    """Texts of one kind as numbers of their words or characters, one text after the other."""

    size: int
    numbers: dict[str, int] = field(default_factory=dict)
    text: array[int] = field(default_factory=lambda: array("q"))
    length: array[int] = field(default_factory=lambda: array("q"))
    units: array[int] = field(default_factory=lambda: array("q"))

    def add(self, text: int, units: list[str]) -> None:
        numbers = self.numbers
        self.text.append(text)
        self.length.append(len(units))
        self.units.extend([numbers.setdefault(unit, len(numbers)) for unit in units])

    def shingles(self) -> tuple[Integers, Integers]:
        """(m,) the text of each shingle and its number, from 0."""
        units, length = (np.array(one, dtype=np.int64) for one in (self.units, self.length))
        start = np.repeat(np.cumsum(length) - length, length)
        left = np.repeat(length, length) - (np.arange(len(units)) - start)
        at = np.flatnonzero(left >= self.size)
        texts = np.repeat(np.array(self.text, dtype=np.int64), length)[at]
        number, many = units[at], len(self.numbers)
        for place in range(1, self.size):
            if (int(number.max(initial=0)) + 1) * many >= _LARGEST:
                number = np.unique(number, return_inverse=True)[1]
            number = number * many + units[at + place]
        return texts, np.unique(number, return_inverse=True)[1].reshape(-1)


def shingled(texts: Iterable[str], size: int) -> ShingledTexts:
    """The sets of shingles of `size` words, upper and lower case alike.

    A text mostly of a script without spaces has shingles of CHARACTERS characters.

    >>> shingled(["Buses run all night.", "buses RUN all day"], 3).sets.sizes.tolist()
    [2, 2]
    """
    words, characters = _Units(size), _Units(CHARACTERS)
    short: dict[tuple[str, ...], int] = {}
    short_texts: list[tuple[int, int]] = []
    written: dict[tuple[str, ...], int] = {(): 0}
    figures = array("q")
    for text, content in enumerate(texts):
        lower = content.lower()
        units, kind, figure = WORD.findall(lower), words, _FIGURE
        if not content.isascii() and _is_unspaced(units):
            units, kind, figure = list("".join(units)), characters, _FIGURE_UNSPACED
        of_text = tuple(dict.fromkeys(figure.findall(lower))) if _DIGIT.search(lower) else ()
        figures.append(written.setdefault(of_text, len(written)))
        if len(units) >= kind.size:
            kind.add(text, units)
        elif units:
            short_texts.append((text, short.setdefault(tuple(units), len(short))))
    count = len(figures)
    is_short = np.zeros(count, dtype=np.bool_)
    pairs = np.array(short_texts, dtype=np.int64).reshape(-1, 2)
    is_short[pairs[:, 0]] = True
    return ShingledTexts(
        _sets([words.shingles(), characters.shingles(), (pairs[:, 0], pairs[:, 1])], count),
        np.array(figures, dtype=np.int64),
        tuple(written),
        is_short,
    )


def _is_unspaced(words: list[str]) -> bool:
    unspaced = sum(len(part) for word in words if not word.isascii() for part in UNSPACED.findall(word))
    return 2 * unspaced > sum(map(len, words))


def _sets(kinds: list[tuple[Integers, Integers]], count: int) -> ShingleSets:
    """The shingles of each kind of text, which have none in common, each once per text."""
    ends = np.cumsum([int(numbers.max(initial=-1)) + 1 for _, numbers in kinds])
    many = max(int(ends[-1]), 1)
    firsts = [0, *ends[:-1].tolist()]
    keys = [texts * many + numbers + first for (texts, numbers), first in zip(kinds, firsts, strict=True)]
    each = distinct(np.concatenate(keys))
    text, shingles = np.divmod(each, many)
    return ShingleSets(shingles, np.searchsorted(text, np.arange(count + 1)))


def distinct(numbers: Integers) -> Integers:
    """Each number once, rising. NumPy's `unique` takes many times as long where most come again."""
    rising = np.sort(numbers)
    is_new = np.ones(len(rising), dtype=np.bool_)
    is_new[1:] = rising[1:] != rising[:-1]
    once: Integers = rising[is_new]
    return once
