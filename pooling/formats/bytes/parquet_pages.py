"""Unpacked size of a Parquet file, added up page by page before anything reads it.

A few bytes can stand for millions of rows, and the footer can be wrong about that. What a reader sets memory
aside for are the sizes that stand before each page; they are read here, in the compact protocol of Thrift,
for the columns that are wanted and no other. Bounded by rows and columns alone, a file of 32 kB whose one
text has a gigabyte takes Polars 4.8 GB.

The layout: https://parquet.apache.org/docs/file-format/
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pooling.formats.bytes.arrow_schema import KEY, UnreadableError, cells_of_columns
from pooling.formats.errors import excerpt
from pooling.formats.sources import GZIP_MAGIC, PARQUET_MAGIC, Source

Content: TypeAlias = bytes | mmap.mmap
Struct: TypeAlias = dict[int, Any]

#: Values of footer and page headers that are looked at; each becomes an object of Python.
MOST_VALUES = 2_000_000
#: Bytes that a value takes once it is read; a string is a view of this many, next to its text.
VALUE_BYTES = 16
DEEPEST = 32
#: Each value is written as its difference to the one before, so that a few bytes make many long texts.
DELTA_BYTE_ARRAY = 7

# Of the compact protocol: which types a value can have.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_INTEGERS = (4, 5, 6)
# Where footer and page headers keep what is asked here.
_SCHEMA, _ROW_GROUPS, _PAIRS = 2, 4, 5
_KIND, _LENGTH, _NAME, _CHILDREN = 1, 2, 4, 5
_PAIR_KEY, _PAIR_VALUE = 1, 2
_COLUMNS, _ROWS, _COLUMN_METADATA = 1, 3, 3
_PATH, _VALUES, _COMPRESSED, _DATA_PAGE, _DICTIONARY_PAGE = 3, 5, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED = 2, 3
# Bytes of a fixed length, which take as many in each row, also where there is no value.
_FIXED_LENGTH = 7
# The kinds of pages: where each has its header, and its encoding in it.
_PAGES = {5: 2, 7: 2, 8: 4}


class DamagedError(ValueError):
    """The bytes are no Parquet."""


class _Thrift:
    """Reads values of the compact protocol, from `at` on and never past the end of the content."""

    def __init__(self, content: Content, budget: list[int]) -> None:
        self.content, self.at = content, 0
        self._budget = budget

    def struct(self, depth: int = 0) -> Struct:
        """A struct: the number of each field -> its value."""
        fields: Struct = {}
        number = 0
        while (head := self._byte()) & 15:
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 15, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        self._budget[0] -= 1
        if depth > DEEPEST or self._budget[0] < 0:
            raise DamagedError
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in _INTEGERS:
            return self._integer()
        if kind == _STRUCT:
            return self.struct(depth)
        if kind == _BINARY:
            return self._bytes(self._whole())
        if kind in (_LIST, _SET):
            head = self._byte()
            size = self._whole() if head >> 4 == 15 else head >> 4
            return [self._element(head & 15, depth + 1) for _ in range(size)]
        if kind == _MAP:
            return self._map(depth)
        if kind in (_BYTE, _DOUBLE):
            return self._bytes(1 if kind == _BYTE else 8)
        raise DamagedError

    def _element(self, kind: int, depth: int) -> Any:
        # In a list a truth value takes a byte, and a field of a struct none.
        return self._value(_BYTE if kind in (_TRUE, _FALSE) else kind, depth)

    def _map(self, depth: int) -> None:
        if size := self._whole():
            kinds = self._byte()
            for _ in range(size):
                self._element(kinds >> 4, depth + 1)
                self._element(kinds & 15, depth + 1)

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, size: int) -> bytes:
        if self.at + size > len(self.content):
            raise DamagedError
        self.at += size
        return self.content[self.at - size : self.at]

    def _whole(self) -> int:
        """A number of seven bits a byte, the lowest first."""
        value = 0
        for place in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << place
            if byte < 128:
                return value
        raise DamagedError

    def _integer(self) -> int:
        value = self._whole()
        return (value >> 1) ^ -(value & 1)


@dataclass(frozen=True)
class Parquet:
    """A file and its footer: the bytes of a value of each column once read, and row groups as in Thrift."""

    source: Source
    content: Content
    value_bytes: dict[str, int]
    names: list[str]
    groups: list[Struct]
    budget: list[int] = field(repr=False)

    @property
    def rows(self) -> int:
        """By the footer alone."""
        return sum(_count(group, _ROWS) for group in self.groups)

    def refuse_bomb(self, names: set[str]) -> None:
        """FormatError where the columns of these names take more memory than a packed file may."""
        total = 0
        for size in self._sizes(names):
            total += size
            if total > self.source.unpacked_bound:
                raise self.source.unpacks_too_far("Write it as TREC text or JSON lines.")

    def _sizes(self, names: set[str]) -> Iterator[int]:
        """The bytes that each part of the columns takes once it is read."""
        for group in self.groups:
            for column in _structs(group, _COLUMNS):
                chunk = column.get(_COLUMN_METADATA)
                if not isinstance(chunk, dict) or not isinstance(path := chunk.get(_PATH), list) or not path:
                    raise DamagedError
                if (name := _text(path[0])) in names:
                    each = self.value_bytes.get(name, VALUE_BYTES)
                    yield each * max(_count(group, _ROWS), _count(chunk, _VALUES))
                    yield from self._page_sizes(chunk, name)

    def _page_sizes(self, chunk: Struct, name: str) -> Iterator[int]:
        thrift = _Thrift(self.content, self.budget)
        thrift.at = _count(chunk, _DICTIONARY_PAGE) or _count(chunk, _DATA_PAGE)
        end = thrift.at + _count(chunk, _COMPRESSED)
        if thrift.at < len(PARQUET_MAGIC) or end > len(self.content):
            raise DamagedError
        values = 0
        while thrift.at < end:
            page = thrift.struct()
            thrift.at += _count(page, _PAGE_PACKED)
            yield _count(page, _PAGE_UNPACKED)
            for place, encoding in _PAGES.items():
                if isinstance(header := page.get(place), dict):
                    values += _count(header, 1)
                    if header.get(encoding) == DELTA_BYTE_ARRAY:
                        problem = f"the column {excerpt(name)} is delta-encoded (DELTA_BYTE_ARRAY)"
                        raise self.source.error(None, problem, "Use plain or dictionary encoding.")
        if thrift.at > end:
            raise DamagedError
        yield self.value_bytes.get(name, VALUE_BYTES) * max(values - _count(chunk, _VALUES), 0)


@contextmanager
def opened(source: Source) -> Iterator[Parquet]:
    """The file, a gzip file around it unpacked; `DamagedError` for one that is no Parquet."""
    with _content(source) as content:
        if len(content) < 12 or content[:4] != PARQUET_MAGIC or content[-4:] != PARQUET_MAGIC:
            raise DamagedError
        budget = [MOST_VALUES]
        thrift = _Thrift(content, budget)
        thrift.at = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        if thrift.at < len(PARQUET_MAGIC):
            raise DamagedError
        footer = thrift.struct()
        lengths = _top_columns(_structs(footer, _SCHEMA))
        cells = _cells(_structs(footer, _PAIRS))
        value_bytes = {name: length * cells.get(name, 1) for name, length in lengths}
        names = [name for name, _ in lengths]
        yield Parquet(source, content, value_bytes, names, _structs(footer, _ROW_GROUPS), budget)


def rows_in_footer(source: Source) -> int | None:
    """Number of rows in the footer of a Parquet file; None for another file."""
    try:
        with opened(source) as file:
            return file.rows
    except DamagedError:
        return None


@contextmanager
def _content(source: Source) -> Iterator[Content]:
    if source.head.startswith(GZIP_MAGIC):
        yield source.whole()
        return
    with source.opened_raw() as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        yield content


def _structs(struct: Struct, field: int) -> list[Struct]:
    structs = struct.get(field, [])
    if not isinstance(structs, list) or not all(isinstance(one, dict) for one in structs):
        raise DamagedError
    return structs


def _top_columns(schema: list[Struct]) -> list[tuple[str, int]]:
    """Columns below the root, each with the bytes of its longest value; a column's children follow it."""
    columns: list[tuple[str, int]] = []
    left: list[int] = []  # children to come, of the root and of each element on the way down
    for element in schema:
        if len(left) == 1:
            columns.append((_text(element.get(_NAME)), VALUE_BYTES))
        if columns and element.get(_KIND) == _FIXED_LENGTH:
            name, longest = columns[-1]
            columns[-1] = name, max(longest, _count(element, _LENGTH))
        if left:
            left[-1] -= 1
        left.append(_count(element, _CHILDREN))
        while left and left[-1] <= 0:
            left.pop()
        if len(left) > DEEPEST:
            raise DamagedError
    return columns


def _cells(pairs: list[Struct]) -> dict[str, int]:
    """The cells of a row of each column, by the schemas that programs have left; most leave none."""
    cells_by_name: dict[str, int] = {}
    for pair in pairs:
        if pair.get(_PAIR_KEY) == KEY:
            if not isinstance(encoded := pair.get(_PAIR_VALUE), bytes):
                raise DamagedError
            try:
                columns = cells_of_columns(encoded)
            except UnreadableError as error:
                raise DamagedError from error
            cells_by_name |= {name: max(cells, cells_by_name.get(name, 1)) for name, cells in columns.items()}
    return cells_by_name


def _count(struct: Struct, field: int) -> int:
    value = struct.get(field, 0)
    if not isinstance(value, int) or value < 0:
        raise DamagedError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, bytes):
        raise DamagedError
    return value.decode(errors="replace")
