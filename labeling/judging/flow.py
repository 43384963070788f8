"""Texts that were broken into lines of a fixed width, as they flow without those breaks."""

from __future__ import annotations

import re

# Lines of a wrapped text are this long; shorter ones are lists or verse, longer ones were never wrapped.
LEAST_WIDTH, MOST_WIDTH = 40, 120
# So many breaks at least, and such a share of them, must be where a program would have had to break.
LEAST_BREAKS, LEAST_SHARE = 3, 0.8
# What begins a line of its own: list, quotation, table, heading, indented text.
_OWN_LINE = re.compile(r"\s|[-*+•–>|#]|\d{1,3}[.)]\s|[a-zA-Z][.)]\s")
# What a line of prose has not: columns, signs of code and of JSON, rows of numbers.
_NO_PROSE = re.compile(r"\t|[^\s.!?:;,]\s\s|[{}<>|=\\]|;$|\d {1,4}\d[\d.,]{0,15} {1,4}\d")
# Of a line of prose, characters that are letters or blanks; of its breaks, those before a small letter.
LEAST_LETTERS, LEAST_SMALL = 0.75, 0.5


def reflowed(text: str) -> str:
    """`text` with the breaks of a hard wrap turned into spaces. Its length and all offsets stay; a text that
    is not wrapped at one width is returned as it is, and so are tables, verse, code and JSON.

    A break belongs to the wrap if the first word after it would not have fit into its line, where a line is
    as wide as the longest one.
    """
    lines = text.split("\n")
    width = max((len(line.rstrip()) for line in lines), default=0)
    if not LEAST_WIDTH <= width <= MOST_WIDTH:
        return text
    inside = [place for place in range(len(lines) - 1) if lines[place].strip() and lines[place + 1].strip()]
    wrapped = {place for place in inside if _is_full(lines[place], lines[place + 1], width)}
    if len(wrapped) < LEAST_BREAKS or len(wrapped) < LEAST_SHARE * len(inside):
        return text
    beginnings = [first for place in wrapped if (first := lines[place + 1].lstrip("\"'(“‘«")[:1]).isalpha()]
    small = sum(not first.isupper() for first in beginnings)
    if text != text.upper() and small < LEAST_SMALL * len(beginnings):  # verse
        return text
    joins = (" " if place in wrapped else "\n" for place in range(len(lines) - 1))
    pairs = zip(lines, [*joins, ""], strict=True)
    return "".join(_open(line, join) + join for line, join in pairs)


def _is_full(line: str, following: str, width: int) -> bool:
    first = following.split(maxsplit=1)[0]
    is_full = len(line.rstrip()) + 1 + len(first) > width and not _OWN_LINE.match(following)
    return is_full and _is_prose(line) and _is_prose(following)


def _is_prose(line: str) -> bool:
    line = line.strip()
    letters = sum(letter.isalpha() or letter == " " for letter in line)
    return letters >= LEAST_LETTERS * len(line) and not _NO_PROSE.search(line)


def _open(line: str, join: str) -> str:
    """A carriage return before a break that is gone would be a break too."""
    return f"{line[:-1]} " if join == " " and line.endswith("\r") else line
