"""Runs and qrels with named columns: see `pooling.formats.names`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pooling.formats.answers import other_tool
from pooling.formats.errors import excerpt
from pooling.formats.names import DOCUMENT, QUERY, RANK, RELEVANCE, SCORE, column_named
from pooling.formats.registry import formats
from pooling.formats.rows import Row, checked_id, frame_of
from pooling.formats.sources import Source
from pooling.formats.values import INT32, BadValueError, parse_rank, parse_relevance, parse_score
from pooling.heavy import pl

#: Columns of a table, or fields of a record.
MOST_FIELDS = 1_000


class Roles:
    """Columns of a file by their part; an error lists the columns found."""

    def __init__(self, source: Source, line: int | None, names: Iterable[str], kind: str) -> None:
        self.source, self.kind = source, kind
        self.names = [str(name) for name in names]
        self.query = column_named(self.names, QUERY)
        self.document = column_named(self.names, DOCUMENT)
        self.value = column_named(self.names, SCORE if kind == "run" else RELEVANCE)
        self.rank = column_named(self.names, RANK) if kind == "run" else None
        self._complain(line)

    def _complain(self, line: int | None) -> None:
        needed = {"query_id": self.query, "document_id": self.document}
        needed["score" if self.kind == "run" else "relevance"] = self.value or self.rank
        missing = [name for name, column in needed.items() if column is None]
        if missing and (other := other_tool(self.names, self.kind)):
            raise self.source.error(line, *other)
        if missing:
            columns = excerpt(", ".join(self.names), 80)
            raise self.source.error(
                line,
                f"no column {' or '.join(missing)} among {columns}",
                f"Name the columns {', '.join(needed)}" + self._where(),
            )

    def _where(self) -> str:
        return " in the first line." if self.source.format in ("csv", "tsv") else "."

    def row(self, line: int, record: dict[str, Any]) -> Row:
        """One record as a row; raises FormatError where an id or a number will not do."""
        query = checked_id(self.source, line, "query", record.get(self.query or ""))
        document = checked_id(self.source, line, "document", record.get(self.document or ""))
        try:
            value, rank = self._numbers(record)
        except BadValueError as bad:
            raise self.source.error(line or None, bad.problem, bad.remedy) from bad
        return Row(query, document, value, rank, line)

    def _numbers(self, record: dict[str, Any]) -> tuple[float, int | None]:
        place = number_text(record.get(self.rank or ""))
        # A file of a run without ranks may have the column, empty.
        rank = parse_rank(place) if self.rank and (place or self.value is None) else None
        if self.value is None and rank is not None:
            return -float(rank), rank
        text = number_text(record.get(self.value or ""))
        return (parse_score(text) if self.kind == "run" else float(parse_relevance(text))), rank


def number_text(value: Any) -> str:
    return repr(value) if isinstance(value, float) else "" if value is None else str(value).strip(" \t")


def read_table(source: Source, kind: str) -> pl.DataFrame:
    """Columns query_id, document_id, value, rank and line in file order, every rule of the format checked."""
    format = formats()[source.format]
    frame = format.fast_rows(source, kind) if format.fast_rows else None
    if frame is None:
        frame = frame_of(format.rows(source, kind) if format.rows else ())
    if not frame.height:
        raise source.empty()
    return frame


def breaks_rule(kind: str) -> pl.Expr:
    """The column `value` is no score of a `run`, or no relevance."""
    value = pl.col("value")
    whole = (value == value.round(0)) & (value.abs() < INT32)
    return ~value.is_finite() if kind == "run" else ~whole
