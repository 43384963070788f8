"""CSV and TSV with a header, and the TSV of BEIR.

CSV is quoted as in RFC 4180, and the mark that keeps an id from being a formula is taken off. TSV is not
quoted at all, so that an id may begin with a quotation mark.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping

from pooling.formats.cells import table_lines, table_text
from pooling.formats.registry import Format, LineWriter, Record, Target
from pooling.formats.rows import Row
from pooling.formats.sources import MAX_LINE_BYTES, OutputBudget, Source
from pooling.formats.tables import MOST_FIELDS, Roles, breaks_rule
from pooling.formats.writing import delimited, refuse
from pooling.heavy import pl

# The csv module refuses fields above 128 KiB unless told otherwise; a document may well be longer.
csv.field_size_limit(MAX_LINE_BYTES)


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
    lines = (text + "\n" for _, text in source.text_lines())
    numbered = csv_rows(source, lines) if source.format == "csv" else tsv_rows(lines)
    header = next(numbered, (0, []))[1]
    yield from with_header(source, header, numbered)


def csv_rows(source: Source, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    taken = 0

    def counted() -> Iterator[str]:
        nonlocal taken
        for line in lines:
            taken += len(line)
            # A field in quotes may go on over lines.
            if taken > MAX_LINE_BYTES:
                raise source.too_long(rows.line_num + 1)
            yield line

    rows = csv.reader(counted(), strict=True)
    try:
        for fields in rows:
            yield rows.line_num, fields
            taken = 0
    except csv.Error as error:
        raise source.error(rows.line_num, f"not CSV ({error})", "Quote fields as RFC 4180 says.") from error


def tsv_rows(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    return enumerate((line[:-1].split("\t") for line in lines), start=1)


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
    quote = '"' if source.format == "csv" else None
    if b"\0" in content or b"\r" in content or (quote and _is_unusual(content)):
        return None
    try:
        header = content.partition(b"\n")[0].decode().split("," if quote else "\t")
    except UnicodeDecodeError:
        return None
    # Polars fills up short rows, so that a wide header makes a million cells of a few bytes.
    rows = content.count(b"\n") + (not content.endswith(b"\n"))
    is_regular = content.count(b"," if quote else b"\t") == rows * (len(header) - 1)
    if len(set(header)) != len(header) or len(header) > MOST_FIELDS or not is_regular:
        return None

    roles = Roles(source, 1, header, kind)
    try:
        frame = pl.read_csv(
            content, separator="," if quote else "\t", quote_char=quote, infer_schema=False, glob=False
        )
        return fast_typed(frame, roles, kind)
    except pl.exceptions.PolarsError:
        return None


def _is_unusual(csv_content: bytes) -> bool:
    """Whether something is quoted, or begins with what may be a mark."""
    return any(sign in csv_content for sign in (b'"', b",'", b"\n'")) or csv_content.startswith(b"'")


def fast_typed(frame: pl.DataFrame, roles: Roles, kind: str) -> pl.DataFrame | None:
    if (
        roles.value is None
        or roles.query is None
        or roles.document is None
        or frame.null_count().sum_horizontal()[0]
    ):
        return None
    rank = pl.col(roles.rank).cast(pl.Int64) if roles.rank else pl.lit(None, dtype=pl.Int64)
    typed = frame.select(
        pl.col(roles.query).alias("query_id"),
        pl.col(roles.document).alias("document_id"),
        pl.col(roles.value).cast(pl.Float64).alias("value"),
        rank.alias("rank"),
        pl.int_range(2, frame.height + 2, dtype=pl.Int64).alias("line"),
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
