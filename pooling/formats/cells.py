"""Cells of tables that people open in a program for tables, which must not calculate with what others wrote.

A text that such a program would take for a formula gets one ' before it, and so does a text that begins with
one: anyone who takes one ' off has what was written. Every CSV file of ours is made here, and reading an id
from CSV takes the mark off again. TREC and TSV files of runs, qrels and pools are for machines, which take
an id as it is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from pooling.heavy import pl

if TYPE_CHECKING:
    Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

MARK = "'"
# What a formula begins with, in full width as well, and what such programs leave out before it.
CALCULATING = r"[=+\-@\t\r\n＝＋－＠]"
# A number is only shown.
NUMBER = r"[+-][0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"

_NEEDS_MARK = re.compile(rf"'|{CALCULATING}")
_HAS_MARK = re.compile(rf"'(?:'|{CALCULATING})")
_NUMBER = re.compile(NUMBER)


def guarded(value: object) -> object:
    """A value as a cell may hold it.

    >>> guarded("=1+1"), guarded("'tis"), guarded("-0.5"), guarded("plain"), guarded(-1)
    ("'=1+1", "''tis", '-0.5', 'plain', -1)
    """
    if isinstance(value, str) and _NEEDS_MARK.match(value) and not _NUMBER.fullmatch(value):
        return MARK + value
    return value


def unguarded(text: str) -> str:
    """The text of a cell as it was written; others that begin with ' are left as they are.

    >>> unguarded("'=1+1"), unguarded("''tis"), unguarded("'tis")
    ('=1+1', "'tis", "'tis")
    """
    return text[1:] if _HAS_MARK.match(text) else text


def guarded_frame(frame: Frame) -> Frame:
    """The frame with every text, and every name of a column, guarded."""
    text = pl.col(pl.String)
    needs = text.str.contains(rf"^(?:'|{CALCULATING})") & ~text.str.contains(rf"^(?:{NUMBER})$")
    names = {name: str(guarded(name)) for name in frame.collect_schema().names()}
    return frame.with_columns(pl.when(needs).then(MARK + text).otherwise(text).name.keep()).rename(names)


def table_lines(
    columns: Sequence[str], rows: Iterable[Iterable[object]], delimiter: str = ","
) -> Iterator[str]:
    """The lines of a table, header first, with every cell guarded; each ends with LF."""
    line = _Line()
    # With both in its terminator, the writer quotes a cell that holds either of them.
    writer = csv.writer(line, delimiter=delimiter, lineterminator="\r\n")
    for cells in chain([columns], rows):
        writer.writerow(map(guarded, cells))
        yield line.text


def table_text(columns: Sequence[str], rows: Iterable[Iterable[object]], delimiter: str = ",") -> str:
    """`table_lines` in one."""
    return "".join(table_lines(columns, rows, delimiter))


class _Line:
    """Receives from a csv.writer: the last line, which ends with LF like every file of ours."""

    text = ""

    def write(self, line: str) -> None:
        self.text = line.removesuffix("\r\n") + "\n"
