"""The fields of a regular text, found by their blanks in one pass over the bytes."""

from __future__ import annotations

from dataclasses import dataclass

from pooling.formats.bytes.ids import Codes, Ids
from pooling.heavy import Integers, np

LINE_FEED, HASH = 10, 35
FIRST_PRINTED, PRINTED = 33, 94  # of ASCII


@dataclass(frozen=True)
class Layout:
    kind: str
    columns: tuple[str, ...]
    expected: str

    @property
    def fields(self) -> int:
        return len(self.columns)

    @property
    def ids(self) -> list[str]:
        return [name for name in self.columns if name.endswith("_id")]

    @property
    def has_rank(self) -> bool:
        return "rank" in self.columns


RUN = Layout(
    "run", ("query_id", "_", "document_id", "rank", "value", "tag"), "query Q0 document rank score tag"
)
QRELS = Layout("qrels", ("query_id", "_", "document_id", "value"), "query 0 document relevance")


class IrregularError(Exception):
    """The text needs the reading that looks at every line."""


def separator_of(beginning: bytes) -> bytes:
    first_line = beginning.partition(b"\n")[0]
    return b"\t" if b"\t" in first_line and b" " not in first_line else b" "


class Lines:
    """Lines of exactly `fields` fields in codes[start:end], separated by one separator each, ended by LF.

    IrregularError for anything else: ids beyond ASCII, control characters, doubled blanks and comments too.
    """

    def __init__(self, codes: Codes, start: int, end: int, *, fields: int, separator: bytes) -> None:
        text = codes[start:end]
        other = (text - np.uint8(FIRST_PRINTED)) >= PRINTED
        blanks = np.flatnonzero(other)
        if len(blanks) % fields or not len(blanks) or other[0] or bool((other[1:] & other[:-1]).any()):
            raise IrregularError
        blanks += start
        self._blanks = blanks.reshape(-1, fields)
        ends = self._blanks[:, -1]
        separators = np.count_nonzero(text == separator[0])
        if separators != len(blanks) - len(ends) or ends[-1] != end - 1:
            raise IrregularError
        if bool((codes[ends] != LINE_FEED).any()):
            raise IrregularError
        self._codes = codes
        self._start = np.empty(len(ends), dtype=np.int64)
        self._start[0], self._start[1:] = start, ends[:-1] + 1
        if bool((codes[self._start] == HASH).any()):
            raise IrregularError

    def field(self, number: int) -> Ids:
        """The column of that number, from 0."""
        start: Integers = self._blanks[:, number - 1] + 1 if number else self._start
        return Ids(self._codes, start, self._blanks[:, number] - start)
