"""JSON lines: one object for each row, whose fields have the names of the columns of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pooling.formats.bytes.nesting import loads, problem_of
from pooling.formats.kinds.ranx import rows_of_record
from pooling.formats.registry import Format, Record, Target
from pooling.formats.rows import Row
from pooling.formats.sources import Source
from pooling.heavy import pl


def json_line_rows(source: Source, kind: str) -> Iterator[Row]:
    """Every row in turn with its line, or those of its ranked list; each line may name its fields its way."""
    for line, record in json_line_records(source):
        yield from rows_of_record(source, line, record, kind)


def json_line_records(source: Source) -> Iterator[Record]:
    for line, text in source.text_lines():
        if text.strip():
            yield line, json_object(source, line, text)


def json_object(source: Source, line: int, text: str) -> dict[str, Any]:
    """One JSON object; errors name the line and what it is instead."""
    try:
        record = loads(text)
    except ValueError as error:
        raise source.error(line, *problem_of(error, "Write one object per line.")) from error
    if not isinstance(record, dict):
        raise source.error(line, "not a JSON object", "Write one object per line.")
    return record


def json_lines(columns: tuple[str, ...], rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def json_lines_text(frame: pl.DataFrame, target: Target) -> str:
    return "".join(json_lines((), frame.iter_rows(named=True)))


FORMATS = (
    Format(
        name="jsonl",
        title="JSON lines",
        suffix=".jsonl",
        media_type="application/jsonl",
        suffixes=(".jsonl",),
        rows=json_line_rows,
        records=json_line_records,
        writers={"run": json_lines_text, "qrels": json_lines_text},
        write_lines=json_lines,
    ),
)
