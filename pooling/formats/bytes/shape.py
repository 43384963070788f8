"""Test of a text file for a column reader, which may be trusted with regular ones: one pass over its bytes.

Regular means: each line has exactly the fields it should, separated by one blank of one kind, ended by LF; no
comment line, no other control character. Polars fills short lines with nulls and can drop long ones, so this
is found out here, at about 2 GB a second.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pooling.heavy import NDArray, np

LINE_FEED, HASH, HIGHEST_BLANK = 10, 35, 32


@dataclass
class LineShape:
    """Feeds on blocks of bytes; `regular` says whether all of them had the shape."""

    fields: int
    separator: bytes
    ascii: bool = True
    _phase: int = 0
    _last_low: bool = True  # a blank before the first byte would be one too many

    def __post_init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def takes(self, block: bytes) -> bool:
        """The block goes on in the same shape; UTF-8 is checked on the way."""
        if not block.isascii() or self._decoder.getstate()[0]:
            self.ascii = False
            self._decoder.decode(block)
        codes = np.frombuffer(block, dtype=np.uint8)
        low = codes <= HIGHEST_BLANK
        if (self._last_low and (low[0] or self._is_comment(codes[0]))) or bool((low[1:] & low[:-1]).any()):
            return False
        self._last_low = bool(low[-1])
        return self._blanks_fit(codes, np.flatnonzero(low))

    def _is_comment(self, code: int) -> bool:
        return self._phase == 0 and code == HASH

    def _blanks_fit(self, codes: NDArray[np.uint8], blanks: NDArray[Any]) -> bool:
        """Every n-th blank is a line feed and all others are the separator."""
        line_ends = blanks[self.fields - 1 - self._phase :: self.fields]
        self._phase = (self._phase + len(blanks)) % self.fields
        separators = np.count_nonzero(codes == self.separator[0])
        if separators + len(line_ends) != len(blanks) or not bool((codes[line_ends] == LINE_FEED).all()):
            return False
        starts = line_ends[:-1] + 1 if len(line_ends) and line_ends[-1] == len(codes) - 1 else line_ends + 1
        return not bool((codes[starts] == HASH).any())

    def ends_well(self) -> bool:
        """The last line is whole, with or without its line feed."""
        self._decoder.decode(b"", final=True)
        return self._phase == (0 if self._last_low else self.fields - 1)


def shape_of(blocks: Iterable[bytes], fields: int, separator: bytes) -> LineShape | None:
    """The shape of a regular file, or None where a careful reader is needed."""
    shape = LineShape(fields, separator)
    try:
        regular = all(shape.takes(block) for block in blocks) and shape.ends_well()
    except UnicodeDecodeError:
        return None
    return shape if regular else None
