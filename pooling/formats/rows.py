"""Rows read one by one: for files no column reader may be trusted with, and to find the line of an error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pooling.formats.cells import unguarded
from pooling.formats.sources import Source
from pooling.heavy import pl

CHUNK = 100_000


@dataclass(frozen=True)
class Row:
    """One row of a run or of qrels: `value` is score or relevance, `line` is 0 where there are no lines."""

    query_id: str
    document_id: str
    value: float
    rank: int | None
    line: int


def frame_of(rows: Iterable[Row]) -> pl.DataFrame:
    """The rows as columns, built in chunks so that Python objects of a few rows exist at a time."""
    schema = {
        "query_id": pl.String,
        "document_id": pl.String,
        "value": pl.Float64,
        "rank": pl.Int64,
        "line": pl.Int64,
    }
    iterator = iter(rows)
    chunks = []
    while chunk := list(islice(iterator, CHUNK)):
        columns = ([getattr(row, name) for row in chunk] for name in schema)
        chunks.append(pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema))
    return pl.concat(chunks) if chunks else pl.DataFrame(schema=schema)


def checked_id(source: Source, line: int, kind: str, value: Any) -> str:
    """An id as text: whole numbers written out, the mark of a CSV cell taken off, anything else refused."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise source.error(line or None, f"the {kind} id {value!r} is not text", "Write ids as strings.")
    if not value:
        raise source.error(line or None, f"the {kind} id is empty", "Give it one.")
    return unguarded(value) if source.format == "csv" else value
