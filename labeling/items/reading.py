"""Answers faster than anybody can read: absolute, so that a whole team of quick fingers is seen as well.

Silent reading of prose is about 4 words a second (238 a minute: Brysbaert, 2019, a review of 190 studies),
skimming about 7.5 and scanning for a word about 10 (450 and 600 a minute: Carver, 1992); comprehension falls
long before (Rayner, Schotter, Masson, Potter & Treiman, 2016). An answer is too fast where WORDS_PER_SECOND
would still not have been enough for what was shown: its first MOST_WORDS words at most, because a part is
often enough to judge a long text. A word is CHARACTERS_PER_WORD characters, which asks less of scripts with
shorter words.
"""

from __future__ import annotations

from dataclasses import dataclass

from pooling.formats.wording import counted

WORDS_PER_SECOND = 12
CHARACTERS_PER_WORD = 6
MOST_WORDS = 40
MOST_CHARACTERS = MOST_WORDS * CHARACTERS_PER_WORD
MS_PER_CHARACTER = 1000 / (WORDS_PER_SECOND * CHARACTERS_PER_WORD)
# Fewer timed answers say nothing of a person; with this share of them too fast, nobody has read.
ENOUGH = 20
TOO_MANY = 0.7


@dataclass(frozen=True)
class FastAnnotator:
    """Somebody who answered `too_fast` of `timed` pairs faster than anybody can read."""

    username: str
    too_fast: int
    timed: int

    @property
    def sentence(self) -> str:
        of = f"{self.too_fast:,} of {counted(self.timed, 'pair')}"
        return f"{self.username} answered {of} faster than anybody can read."


def least_ms(characters: int) -> float:
    """The time below which nobody can have read as much of a text as it takes to judge it.

    >>> round(least_ms(240)), round(least_ms(100_000)), least_ms(0)
    (3333, 3333, 0.0)
    """
    return min(characters, MOST_CHARACTERS) * MS_PER_CHARACTER


def is_implausible(too_fast: int, timed: int) -> bool:
    return timed >= ENOUGH and too_fast >= TOO_MANY * timed
