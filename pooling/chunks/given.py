"""Records with offsets, from a file or from what a program has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pooling.formats.errors import excerpt
from pooling.formats.names import END, START, column_named
from pooling.formats.records import records_source
from pooling.formats.registry import Record
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source
from pooling.heavy import pl
from pooling.inputs.columns import columns_of
from pooling.inputs.given import described

#: A path, a frame, or records as dicts.
Records: TypeAlias = Any


def records_of(source: Records, what: str) -> tuple[Source, Iterator[Record]]:
    """The file, or a stand-in called `what` for data in memory, and its records with line or row numbers."""
    if isinstance(source, str | Path):
        return records_source(source, None, None)
    file = Source(Path(what), what, format="jsonl")
    columns = columns_of(source)
    if columns is not None:
        frame = pl.DataFrame({name: columns.column(name) for name in columns.names})
        return file, enumerate(frame.iter_rows(named=True), 1)
    if isinstance(source, Iterable) and not isinstance(source, Mapping | bytes):
        return file, _counted(file, source)
    raise ValueError(f"{what} is {described(source)}; give a path, a frame, or a list of dicts.")


def _counted(file: Source, rows: Iterable[Any]) -> Iterator[Record]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise file.error(number, f"{described(row)} in place of a record", "Give a list of dicts.")
        yield number, dict(row)


def id_in(source: Source, line: int, record: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The id under the first of these names that is there."""
    return checked_id(source, line, names[0].removesuffix("_id"), _field(source, line, record, names))


def offsets_in(source: Source, line: int, record: Mapping[str, Any]) -> tuple[int, int]:
    """Where a range begins and ends, in characters of its document."""
    start, end = (_offset(source, line, record, names) for names in (START, END))
    if start >= end:
        problem = f"it starts at {start:,} and ends at {end:,}"
        raise source.error(line, problem, "The end is the place behind the last character.")
    return start, end


def _offset(source: Source, line: int, record: Mapping[str, Any], names: tuple[str, ...]) -> int:
    value = _field(source, line, record, names)
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value % 1 == 0:
        return int(value)
    remedy = "Write a whole number of characters, counted from 0."
    raise source.error(line, f"{names[0]} is {excerpt(value)}", remedy)


def _field(source: Source, line: int, record: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    name = column_named(record, names)
    if name is None or record[name] is None:
        fields = excerpt(", ".join(map(str, record)), 80)
        raise source.error(line, f"no {names[0]} among the fields {fields}", f"Add {names[0]}.")
    return record[name]
