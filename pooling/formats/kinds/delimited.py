"""CSV and TSV with a header, and the TSV of BEIR.

CSV is quoted as in RFC 4180, and the mark that keeps an id from being a formula is taken off. TSV is not
quoted at all, so that an id may begin with a quotation mark.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from pooling.formats.cells import table_lines, table_text
from pooling.formats.registry import Format, LineWriter, Record, Target
from pooling.formats.rows import Row
from pooling.formats.sources import MAX_LINE_BYTES, OutputBudget, Source
from pooling.formats.tables import MOST_FIELDS, Roles, breaks_rule
from pooling.formats.writing import delimited, refuse
from pooling.heavy import pl

# The csv module refuses fields above 128 KiB unless told otherwise; a document may well be longer.
csv.field_size_limit(MAX_LINE_BYTES)


BLANKS = re.compile(r"[ \t]+")
#: Ratings of a case in Quepid, where a query without any is a row of its text alone.
RATINGS = ["query", "docid", "rating"]


def delimited_rows(source: Source, kind: str) -> Iterator[Row]:
    """Every row in turn, with the number of the line where it ends."""
    roles = None
    for line, record in delimited_records(source):
        if list(record) == RATINGS and not record["docid"] and not record["rating"]:
            continue
        roles = roles or Roles(source, line, record, kind)
        yield roles.row(line, record)


def delimited_records(source: Source) -> Iterator[Record]:
    """Records of CSV or TSV below their header, with the number of the line where each ends."""
    lines = source.text_lines()
    numbered = csv_rows(source, lines) if source.format == "csv" else tsv_rows(source, lines)
    header = list(source.names) or next(numbered, (0, []))[1]
    yield from with_header(source, header, numbered)


def csv_rows(source: Source, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row, with the number of the line where it ends."""
    taken = line = 0
    first = next(lines, (0, ""))
    # Excel writes its separator in a line above the header.
    given = chain([] if first[1].lower() == f"sep={separator_of(source)}" else [first], lines)

    def counted() -> Iterator[str]:
        nonlocal taken, line
        for line, text in given:
            taken += len(text) + 1
            # A field in quotes may go on over lines.
            if taken > MAX_LINE_BYTES:
                raise source.too_long(line)
            yield text + "\n"

    spaced = f"{separator_of(source)} " in first[1]
    rows = csv.reader(counted(), delimiter=separator_of(source), skipinitialspace=spaced, strict=True)
    try:
        for fields in rows:
            yield line, fields
            taken = 0
    except csv.Error as error:
        raise source.error(line, f"not CSV ({error})", "Quote fields as RFC 4180 says.") from error


def tsv_rows(source: Source, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    if source.separator == " ":
        return ((line, BLANKS.split(text.strip(" \t"))) for line, text in lines if not text.startswith("#"))
    return ((line, text.split("\t")) for line, text in lines)


def separator_of(source: Source) -> str:
    return source.separator or {"csv": ",", "tsv": "\t"}[source.format]


def with_header(
    source: Source, header: list[str], numbered: Iterable[tuple[int, list[str]]]
) -> Iterator[Record]:
    if len(header) > MOST_FIELDS:
        raise source.error(1, f"{len(header):,} columns", f"Give at most {MOST_FIELDS:,}.")
    empty, output, names = True, OutputBudget(source), sum(map(len, header))
    for line, fields in numbered:
        if not any(fields):
            continue
        if len(fields) == 1 and header == RATINGS:
            fields = [*fields, "", ""]
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where the header has {len(header)}"
            raise source.error(line, problem, "Give every row one field for each column.")
        empty = False
        output.take(names + sum(map(len, fields)))
        yield line, dict(zip(header, fields, strict=True))
    if empty:
        raise source.error(1, "nothing but a header or one line", "Write a header and at least one row.")


def fast_delimited(source: Source, kind: str) -> pl.DataFrame | None:
    """CSV and TSV through Polars; None as soon as anything is unusual, so that the careful reader decides."""
    content = source.whole()
    separator, is_csv = separator_of(source), source.format == "csv"
    if b"\0" in content or b"\r" in content or (is_csv and _is_unusual(content)):
        return None
    if source.separator == " " and (content.startswith(b"#") or b"\n#" in content):
        return None
    try:
        first = content.partition(b"\n")[0].decode()
    except UnicodeDecodeError:
        return None
    header = list(source.names) or first.split(separator)
    # Polars fills up short rows, so that a wide header makes a million cells of a few bytes.
    rows = content.count(b"\n") + (not content.endswith(b"\n"))
    is_regular = content.count(separator.encode()) == rows * (len(header) - 1)
    is_spaced = is_csv and f"{separator} " in first
    if len(set(header)) != len(header) or len(header) > MOST_FIELDS or not is_regular or is_spaced:
        return None

    roles = Roles(source, 1, header, kind)
    try:
        frame = pl.read_csv(
            content,
            separator=separator,
            quote_char='"' if is_csv else None,
            has_header=not source.names,
            new_columns=header,
            infer_schema=False,
            glob=False,
        )
        return fast_typed(frame, roles, kind, first_line=1 if source.names else 2)
    except pl.exceptions.PolarsError:
        return None


def _is_unusual(csv_content: bytes) -> bool:
    """Something is quoted, or begins with what may be a mark."""
    return any(sign in csv_content for sign in (b'"', b",'", b"\n'")) or csv_content.startswith(b"'")


def fast_typed(frame: pl.DataFrame, roles: Roles, kind: str, *, first_line: int) -> pl.DataFrame | None:
    if roles.query is None or roles.document is None or frame.null_count().sum_horizontal()[0]:
        return None
    rank = pl.col(roles.rank).cast(pl.Int64) if roles.rank else pl.lit(None, dtype=pl.Int64)
    value = -rank if roles.value is None else pl.col(roles.value)
    typed = frame.select(
        pl.col(roles.query).alias("query_id"),
        pl.col(roles.document).alias("document_id"),
        value.cast(pl.Float64).alias("value"),
        rank.alias("rank"),
        pl.int_range(first_line, frame.height + first_line, dtype=pl.Int64).alias("line"),
    )
    odd = typed.filter(breaks_rule(kind) | (pl.col("query_id") == "") | (pl.col("document_id") == ""))
    return typed if typed.height and not odd.height else None


def csv_text(frame: pl.DataFrame, target: Target) -> str:
    return table_text(frame.columns, frame.iter_rows())


def tsv_text(frame: pl.DataFrame, target: Target) -> str:
    refuse(target.path, frame, r"[\t\n\r\x00]", "a tab, a line end or a NUL")
    return "\t".join(frame.columns) + "\n" + delimited(frame, "\t")


def beir_text(frame: pl.DataFrame, target: Target) -> str:
    names = {"query_id": "query-id", "document_id": "corpus-id", "relevance": "score"}
    return tsv_text(frame.rename(names), target)


def lines_with(delimiter: str) -> LineWriter:
    """Tables for people: every cell is guarded and quoted, and true is 1."""

    def lines(columns: tuple[str, ...], rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
        return table_lines(columns, (map(cell, row.values()) for row in rows), delimiter)

    return lines


def cell(value: object) -> object:
    return int(value) if isinstance(value, bool) else value


FORMATS = (
    Format(
        name="csv",
        title="CSV",
        suffix=".csv",
        media_type="text/csv; charset=utf-8",
        suffixes=(".csv",),
        rows=delimited_rows,
        fast_rows=fast_delimited,
        records=delimited_records,
        writers={"run": csv_text, "qrels": csv_text},
        write_lines=lines_with(","),
    ),
    Format(
        name="tsv",
        title="TSV",
        suffix=".columns.tsv",
        suffixes=(".tsv",),
        rows=delimited_rows,
        fast_rows=fast_delimited,
        records=delimited_records,
        writers={"run": tsv_text, "qrels": tsv_text},
        write_lines=lines_with("\t"),
    ),
    # Read as any other TSV.
    Format(name="beir", title="BEIR TSV", suffix=".tsv", writers={"qrels": beir_text}),
)
