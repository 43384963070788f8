"""Runs and qrels with named columns: CSV, TSV, JSON lines, Parquet, and ranx's JSON.

Names of columns are compared in lower case with `-`, `.` and blanks as `_`; the first of these that is there
counts:

- query: query_id qid q_id queryid query topic_id topic
- document: document_id doc_id docid docno corpus_id documentid document doc passage_id pid did
- score of a run: score similarity sim; without one, `rank` (or position) makes the score -rank
- relevance: relevance rel relevancy label rating grade judgment judgement score

CSV is quoted as in RFC 4180, and the mark that keeps an id from being a formula is taken off. TSV is not
quoted at all, so that an id may begin with a quotation mark.
"""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import polars as pl

from pooling.formats.errors import FormatError, shown
from pooling.formats.nesting import TOO_DEEP, NestedTooDeeplyError, loads
from pooling.formats.rows import Row, checked_id, frame_of
from pooling.formats.sources import MAX_LINE_BYTES, Source
from pooling.formats.values import INT32, BadValueError, parse_rank, parse_relevance, parse_score

QUERY = ("query_id", "qid", "q_id", "queryid", "query", "topic_id", "topic")
DOCUMENT = (
    "document_id", "doc_id", "docid", "docno", "corpus_id", "documentid", "document", "doc",
    "passage_id", "pid", "did",
)  # fmt: skip
SCORE = ("score", "similarity", "sim")
RANK = ("rank", "position")
RELEVANCE = ("relevance", "rel", "relevancy", "label", "rating", "grade", "judgment", "judgement", "score")

#: Columns of a table, or fields of a record.
MOST_FIELDS = 1_000
#: Bytes of one JSON object from elsewhere that is a whole run (16 MiB). In memory it takes 25 times as many.
MAX_JSON_BYTES = 16 * 2**20

Record = tuple[int, dict[str, Any]]

# The csv module refuses fields above 128 KiB unless told otherwise; a document may well be longer.
csv.field_size_limit(MAX_LINE_BYTES)


def plain_name(name: str) -> str:
    name = name.strip().lower()
    return "".join("_" if letter in "-. " else letter for letter in name)


class Roles:
    """Which column of a file plays which part; an error lists the columns found."""

    def __init__(self, source: Source, line: int | None, names: Iterable[str], kind: str) -> None:
        self.source, self.kind = source, kind
        self.names = [str(name) for name in names]
        by_plain = {plain_name(name): name for name in reversed(self.names)}
        self.query = self._pick(by_plain, QUERY)
        self.document = self._pick(by_plain, DOCUMENT)
        self.value = self._pick(by_plain, SCORE if kind == "run" else RELEVANCE)
        self.rank = self._pick(by_plain, RANK) if kind == "run" else None
        self._complain(line)

    @staticmethod
    def _pick(by_plain: dict[str, str], aliases: tuple[str, ...]) -> str | None:
        return next((by_plain[alias] for alias in aliases if alias in by_plain), None)

    def _complain(self, line: int | None) -> None:
        needed = {"query_id": self.query, "document_id": self.document}
        needed["score" if self.kind == "run" else "relevance"] = self.value or self.rank
        missing = [name for name, column in needed.items() if column is None]
        if missing:
            found = shown(", ".join(self.names), 80)
            raise self.source.error(
                line,
                f"no column {' or '.join(missing)} among {found}",
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
        rank = None if self.rank is None else parse_rank(number_text(record.get(self.rank)))
        if self.value is None and rank is not None:
            return -float(rank), rank
        text = number_text(record.get(self.value or ""))
        return (parse_score(text) if self.kind == "run" else float(parse_relevance(text))), rank


def number_text(value: Any) -> str:
    return repr(value) if isinstance(value, float) else "" if value is None else str(value).strip(" \t")


def read_table(source: Source, kind: str) -> pl.DataFrame:
    """Columns query_id, document_id, value, rank and line in file order, every rule of the format checked."""
    fast = FAST.get(source.format)
    frame = fast(source, kind) if fast else None
    if frame is None:
        frame = frame_of(careful_rows(source, kind))
    if not frame.height:
        raise source.empty()
    return frame


def careful_rows(source: Source, kind: str) -> Iterator[Row]:
    """Every row in turn, with its line number where the format has lines."""
    if source.format == "json":
        yield from ranx_rows(source, kind)
        return
    roles = None
    for line, record in RECORDS[source.format](source):
        if roles is None or source.format == "jsonl":
            roles = Roles(source, line or None, record, kind)
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
    empty = True
    for line, fields in numbered:
        if not any(fields):
            continue
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where the header has {len(header)}"
            raise source.error(line, problem, "Give every row one field for each column.")
        empty = False
        yield line, dict(zip(header, fields, strict=True))
    if empty:
        raise source.error(1, "nothing but a header or one line", "Write a header and at least one row.")


def json_line_records(source: Source) -> Iterator[Record]:
    for line, text in source.text_lines():
        if text.strip():
            yield line, json_object(source, line, text)


def json_object(source: Source, line: int, text: str) -> dict[str, Any]:
    """One JSON object; errors name the line and what it is instead."""
    try:
        record = loads(text)
    except ValueError as error:
        raise source.error(line, f"not JSON ({reason_of(error)})", "Write one object per line.") from error
    if not isinstance(record, dict):
        raise source.error(line, "no JSON object", "Write one object per line.")
    return record


def reason_of(error: ValueError) -> str:
    """Why a text is no JSON; Python also refuses whole numbers of more than a few thousand digits."""
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return TOO_DEEP if isinstance(error, NestedTooDeeplyError) else "a number with too many digits"


def breaks_rule(kind: str) -> pl.Expr:
    value = pl.col("value")
    whole = (value == value.round(0)) & (value.abs() < INT32)
    return ~value.is_finite() if kind == "run" else ~whole


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


def ranx_rows(source: Source, kind: str) -> Iterator[Row]:
    """ranx's JSON {query: {document: number}}; a key that comes twice is an error."""
    parse: Callable[[str], float] = parse_score if kind == "run" else parse_relevance
    for query, documents in ranx_object(source).items():
        if not isinstance(documents, dict):
            raise source.error(
                None, f"query {shown(query)} holds no object", "Write {query: {document: number}}."
            )
        for document, number in documents.items():
            try:
                value = parse(json_number(number))
            except BadValueError as bad:
                pair = f"query {shown(query)}, document {shown(document)}: {bad.problem}"
                raise source.error(None, pair, bad.remedy) from bad
            yield Row(
                checked_id(source, 0, "query", query),
                checked_id(source, 0, "document", document),
                value,
                None,
                0,
            )


def json_number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValueError(f"{shown(value)} is not a number", "Write {query: {document: number}}.")
    return repr(value)


def _json_text(source: Source) -> str:
    """The whole text, which a file of JSON may have on one line."""
    blocks, total = [], 0
    for block in source.blocks():
        blocks.append(block)
        total += len(block)
        if source.max_bytes is not None and total > MAX_JSON_BYTES:
            problem = f"one JSON object of more than {MAX_JSON_BYTES:,} bytes"
            raise source.error(None, problem, "Write JSON lines (.jsonl) or TREC text.")
    numbered = enumerate(b"".join(blocks).split(b"\n"), start=1)
    return "\n".join(source.decoded(number, line.removesuffix(b"\r")) for number, line in numbered)


def ranx_object(source: Source) -> dict[str, Any]:
    content = _json_text(source)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            raise source.error(
                None, f"the key {shown(twice)} comes twice in one object", "Keep one of the two."
            )
        return members

    try:
        found = loads(content, object_pairs_hook=unique)
    except FormatError:
        raise
    except ValueError as error:
        line = getattr(error, "lineno", None)
        problem = f"not JSON ({reason_of(error)})"
        raise source.error(line, problem, "Write {query: {document: number}}.") from error
    if not isinstance(found, dict):
        raise source.error(None, "no JSON object", "Write {query: {document: number}}.")
    return found


def _parquet_table(source: Source, kind: str) -> pl.DataFrame:
    from pooling.formats.parquet import parquet_table  # which needs the names of columns from here

    return parquet_table(source, kind)


RECORDS: dict[str, Callable[[Source], Iterator[Record]]] = {
    "csv": delimited_records,
    "tsv": delimited_records,
    "jsonl": json_line_records,
}
FAST: dict[str, Callable[[Source, str], pl.DataFrame | None]] = {
    "csv": fast_delimited,
    "tsv": fast_delimited,
    "parquet": _parquet_table,
}
