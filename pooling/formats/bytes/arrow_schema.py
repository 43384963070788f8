"""Columns of a Parquet file by its Arrow schema, before anything follows it.

Polars reads the schema that other programs leave in the footer, with a recursion that knows no bound, and
believes the sizes in it: a list of a fixed size takes as many cells in each row, also where it is empty.

The layout: https://github.com/apache/arrow/blob/main/format/Schema.fbs, a FlatBuffer in base64.
"""

from __future__ import annotations

import binascii
import struct
from base64 import b64decode

#: The name of the schema among the keys of a footer.
KEY = b"ARROW:schema"
#: Fields that are looked at, in all and below each other. Several may share the bytes of their children.
MOST_FIELDS, DEEPEST = 100_000, 64
#: Bytes of a cell; a piece of bytes of a fixed size counts as so many cells.
CELL_BYTES = 16

_CONTINUES = b"\xff\xff\xff\xff"
_FIXED_BINARY, _FIXED_LIST = 15, 16
# The places of what is asked here, in the tables of message, schema, field, and the types of a fixed size.
_HEADER, _FIELDS, _NAME, _KIND, _TYPE, _CHILDREN, _SIZE = 2, 1, 0, 2, 3, 5, 0


class UnreadableError(ValueError):
    """The bytes are no schema, or one that no program writes."""


def cells_of_columns(encoded: bytes) -> dict[str, int]:
    """The cells that each column takes in a row, at least one; `UnreadableError` for what is no schema."""
    try:
        content = b64decode(encoded, validate=True)
        if content.startswith(_CONTINUES):
            content = content[8:]
        return _Schema(content).cells()
    except (binascii.Error, struct.error, IndexError, UnicodeDecodeError) as error:
        raise UnreadableError from error


class _Schema:
    """A FlatBuffer: tables that name places further on."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._left = MOST_FIELDS

    def cells(self) -> dict[str, int]:
        schema = self._table_in(self._follow(0), _HEADER)
        counts: dict[str, int] = {}
        for field in self._tables_in(schema, _FIELDS):
            name = self._text_in(field)
            counts[name] = max(counts.get(name, 1), self._cells(field, 1))
        return counts

    def _cells(self, field: int, depth: int) -> int:
        self._left -= 1
        if depth > DEEPEST or self._left < 0:
            raise UnreadableError
        inner = sum(self._cells(child, depth + 1) for child in self._tables_in(field, _CHILDREN))
        place = self._place(field, _KIND)
        kind = self._content[place] if place else 0
        if kind not in (_FIXED_BINARY, _FIXED_LIST):
            return max(inner, 1)
        place = self._place(self._table_in(field, _TYPE), _SIZE)
        size = self._number("<i", place) if place else 0
        if size < 0:
            raise UnreadableError
        return max(size // CELL_BYTES, 1) if kind == _FIXED_BINARY else max(size, 1) * max(inner, 1)

    def _number(self, form: str, place: int) -> int:
        number: int = struct.unpack_from(form, self._content, place)[0]
        return number

    def _follow(self, place: int) -> int:
        return place + self._number("<I", place)

    def _place(self, table: int, field: int) -> int:
        """The offset of a field of a table; 0 for one that it leaves out."""
        places = table - self._number("<i", table)
        if places < 0 or 4 + 2 * field >= self._number("<H", places):
            return 0
        offset = self._number("<H", places + 4 + 2 * field)
        return table + offset if offset else 0

    def _table_in(self, table: int, field: int) -> int:
        if not (place := self._place(table, field)):
            raise UnreadableError
        return self._follow(place)

    def _tables_in(self, table: int, field: int) -> list[int]:
        if not (place := self._place(table, field)):
            return []
        start = self._follow(place)
        count = self._number("<I", start)
        if count > self._left:
            raise UnreadableError
        return [self._follow(start + 4 + 4 * number) for number in range(count)]

    def _text_in(self, field: int) -> str:
        if not (place := self._place(field, _NAME)):
            return ""
        start = self._follow(place)
        return self._content[start + 4 : start + 4 + self._number("<I", start)].decode()
