"""Small files that are large once they are read."""

from __future__ import annotations

import gzip
import io
import json
import struct
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

MEGABYTE = 2**20
ROWS = 12_000_000
PARQUET_DELTA_BYTE_ARRAY = 7


def packed(*parts: tuple[bytes, int]) -> bytes:
    """Each part so many times over, as gzip: members one after the other are one text."""
    return b"".join(_compressed(part) * times for part, times in parts)


@cache
def _compressed(part: bytes) -> bytes:
    return gzip.compress(part)


def repeated(piece: bytes) -> bytes:
    """About a megabyte of whole pieces."""
    return piece * (MEGABYTE // len(piece))


@cache
def repeated_rows(rows: int = ROWS) -> bytes:
    """The same row of a run over and over, which Parquet writes in a few kilobytes."""
    file = io.BytesIO()
    columns = {"query_id": "q1", "document_id": "d1", "score": 1.0}
    pl.DataFrame({name: pl.repeat(value, rows, eager=True) for name, value in columns.items()}).write_parquet(
        file, row_group_size=1_000_000
    )
    return file.getvalue()


@dataclass(frozen=True)
class Long:
    """A whole number that Thrift writes as i64; others are i32."""

    value: int


def thrift(fields: dict[int, Any]) -> bytes:
    """A struct in the compact protocol."""
    written, before = b"", 0
    for number, value in fields.items():
        kind, content = _value(value)
        written += bytes([(number - before) << 4 | kind]) + content
        before = number
    return written + b"\0"


def _value(value: Any) -> tuple[int, bytes]:
    match value:
        case Long():
            return 6, _varint(value.value << 1)
        case int():
            return 5, _varint(value << 1)
        case bytes():
            return 8, _varint(len(value)) + value
        case dict():
            return 12, thrift(value)
        case list():
            kind = _value(value[0])[0]
            return 9, bytes([len(value) << 4 | kind]) + b"".join(_value(one)[1] for one in value)
    raise TypeError(value)


def _varint(number: int) -> bytes:
    written = b""
    while number > 127:
        written += bytes([number & 127 | 128])
        number >>= 7
    return written + bytes([number])


def parquet_that_says(
    rows: int,
    *,
    values: int = 1,
    unpacked: int = 8,
    encoding: int = 0,
    offset: int = 4,
    size: int | None = None,
) -> bytes:
    """A run in Parquet whose footer tells so many rows, and whose pages tell so many values and bytes."""
    names = {b"query_id": 6, b"document_id": 6, b"score": 5}
    schema: list[dict[int, Any]] = [{4: b"schema", 5: len(names)}]
    schema += [{1: kind, 3: 0, 4: name} for name, kind in names.items()]
    body, columns = b"PAR1", []
    for name, kind in names.items():
        header = {1: 0, 2: unpacked, 3: 8, 5: {1: values, 2: encoding, 3: 3, 4: 3}}
        page = thrift(header) + bytes(8)
        facts = {1: kind, 2: [encoding], 3: [name], 4: 0, 5: Long(rows), 6: Long(8)}
        place = {7: Long(len(page) if size is None else size), 9: Long(len(body) if offset == 4 else offset)}
        columns.append({2: Long(0), 3: facts | place})
        body += page
    group = {1: columns, 2: Long(24), 3: Long(rows)}
    footer = thrift({1: 1, 2: schema, 3: Long(rows), 4: [group]})
    return body + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def repeated_text(column: str = "text", rows: int = 5_000) -> bytes:
    """Documents whose long text stands in the file once, which Parquet writes in a few kilobytes."""
    file = io.BytesIO()
    text = {"long": "word " * 40_000}
    columns = {"text": text["long"], "list": [text["long"]], "struct": text}
    ids = pl.Series("_id", range(rows))
    frame = pl.DataFrame([ids, pl.repeat(columns[column], rows, eager=True).alias(column)])
    frame.write_parquet(file)
    return file.getvalue()


def one_text(characters: int = 200 * MEGABYTE) -> bytes:
    """One document, whose text Parquet writes in a few kilobytes."""
    file = io.BytesIO()
    pl.DataFrame({"_id": ["d1"], "text": ["x" * characters]}).write_parquet(file, compression="zstd")
    return file.getvalue()


def repeated_ids(rows: int = 120_000) -> bytes:
    """A run whose one document id is as long as ids may be."""
    file = io.BytesIO()
    columns = {"query_id": "q1", "document_id": "d" * 9_000, "score": 1.0}
    pl.DataFrame({name: pl.repeat(value, rows, eager=True) for name, value in columns.items()}).write_parquet(
        file
    )
    return file.getvalue()


def empty_values(kind: int, facts: dict[int, int], schema_of_arrow: bytes = b"") -> bytes:
    """Documents in Parquet with a column `c` that is empty in every row: its kind, what the file says of it,
    and what the schema of Arrow says of all."""
    rows, ids = 5_000, b"".join(b"\4\0\0\0%04d" % row for row in range(5_000))
    none = _varint(rows << 1) + b"\0"
    body, columns = b"PAR1", []
    for name, of, content in ((b"_id", 6, ids), (b"c", kind, len(none).to_bytes(4, "little") + none)):
        header = {1: 0, 2: len(content), 3: len(content), 5: {1: rows, 2: 0, 3: 3, 4: 3}}
        page = thrift(header) + content
        told = {1: of, 2: [0], 3: [name], 4: 0, 5: Long(rows), 6: Long(len(page)), 7: Long(len(page))}
        columns.append({2: Long(0), 3: told | {9: Long(len(body))}})
        body += page
    column: dict[int, Any] = dict(sorted({1: kind, 3: 1, 4: b"c", **facts}.items()))
    schema = [{4: b"schema", 5: 2}, {1: 6, 3: 0, 4: b"_id", 6: 0}, column]
    footer = {1: 1, 2: schema, 3: Long(rows), 4: [{1: columns, 2: Long(24), 3: Long(rows)}]}
    if schema_of_arrow:
        footer[5] = [{1: b"ARROW:schema", 2: b64encode(schema_of_arrow)}]
    written = thrift(footer)
    return body + written + len(written).to_bytes(4, "little") + b"PAR1"


def lists_inside_lists(levels: int) -> bytes:
    """A schema of Arrow, a FlatBuffer, with one column `c` of lists of lists of lists."""
    field, name = 60, b"\1\0\0\0c\0\0\0"
    # Each table stands before the places of its fields.
    content = bytearray(struct.pack("<IiIhBx6H", 4, -12, 20, 4, 1, 10, 12, 8, 10, 4, 0))
    content += struct.pack("<iI4H", -8, 12, 8, 8, 0, 4) + struct.pack("<II", 1, 4)
    for level in range(levels):
        is_last = level == levels - 1
        content += struct.pack("<iIIIBxxx", -20, (levels - level) * field - 4, 28, 40, 6 if is_last else 12)
        content += struct.pack("<8H", 16, 20, 4, 0, 16, 8, 0, 12)
        content += struct.pack("<iHHxxxx", -4, 4, 4) + bytes(4) + struct.pack("<II", 0 if is_last else 1, 4)
    return bytes(content + name)


def empty_lists_of_a_fixed_size() -> bytes:
    """Documents with a column of lists of a million numbers, none of which is there."""
    file, rows = io.BytesIO(), 1_000
    empty = pl.Series("c", [None] * rows, dtype=pl.Array(pl.Int8, 1_000_000))
    pl.DataFrame([pl.Series("_id", range(rows)), empty]).write_parquet(file)
    return file.getvalue()


TREC = repeated(b"q1 Q0 d1 1 2 t\n")
LISTS = repeated(b"[],")
WIDE = b"query_id,document_id,score," + b",".join(b"%d" % number for number in range(900)) + b"\n"
TOO_FAR = "unpack to more than 16,777,216. "
NO_PARQUET = "this is not a Parquet file"

Bomb = tuple[Callable[[], bytes], str]

#: Name of a file -> what is in it, and what its error says. Unbounded, most of them take a gigabyte or more.
RUNS: dict[str, Bomb] = {
    "packed.run.gz": (lambda: packed((TREC, 600)), "unpack to more than "),
    "packed-under-another-name.run": (lambda: packed((TREC, 600)), "unpack to more than "),
    "packed.tsv": (lambda: packed((repeated(b"q1\td1\t1\n"), 600)), "unpack to more than "),
    "lists.json.gz": (
        lambda: packed((b'{"q1": {"d1": [', 1), (LISTS, 60), (b"[]]}}", 1)),
        TOO_FAR,
    ),
    "one-line.jsonl.gz": (
        lambda: packed((b'{"qid": [', 1), (LISTS, 60), (b"[]]}", 1)),
        "line 1: a record of more than",
    ),
    "cells.csv": (lambda: WIDE + b"x\n" * 500_000, "line 2: 1 fields where the header has 903"),
    "rows.parquet": (repeated_rows, TOO_FAR),
    "rows.parquet.gz": (lambda: gzip.compress(repeated_rows()), TOO_FAR),
    "rows-told.parquet": (lambda: parquet_that_says(10**9), TOO_FAR),
    "values-not-told.parquet": (lambda: parquet_that_says(1, values=10**9), TOO_FAR),
    "bytes-not-told.parquet": (lambda: parquet_that_says(1, unpacked=2**30), TOO_FAR),
    "differences.parquet": (
        lambda: parquet_that_says(1, encoding=PARQUET_DELTA_BYTE_ARRAY),
        "the column 'query_id' is delta-encoded",
    ),
    "ids.parquet": (repeated_ids, TOO_FAR),
    "rows.jsonl.gz": (lambda: packed((repeated(b'{"qid":1,"docid":1,"score":1}\n'), 15)), TOO_FAR),
    "rows.csv.gz": (lambda: packed((b"qid,docid,score\n", 1), (repeated(b'"1",1,1\n'), 15)), TOO_FAR),
    "blank-lines.run.gz": (lambda: packed((repeated(b"#\n"), 15)), TOO_FAR),
    "beyond-the-end.parquet": (lambda: parquet_that_says(1, size=10**6), NO_PARQUET),
    "before-the-beginning.parquet": (lambda: parquet_that_says(1, offset=1), NO_PARQUET),
}
DOCUMENTS: dict[str, Bomb] = {
    "long-texts.jsonl.gz": (
        lambda: b"".join(
            packed((b'{"_id": "%d", "text": "' % number, 1), (b"x" * MEGABYTE, 4), (b'"}\n', 1))
            for number in range(300)
        ),
        "line 1: a text of document “0” has 4,194,304 characters",
    ),
    **{
        f"{column}.parquet": (lambda column=column: repeated_text(column), "unpack to more than ")
        for column in ("text", "list", "struct")
    },
    "one-text.parquet": (one_text, TOO_FAR),
    # What is empty takes as much as what is there, where its size is fixed.
    "empty-bytes.parquet": (lambda: empty_values(7, {2: 500_000}), TOO_FAR),
    "empty-bytes-without-end.parquet": (lambda: empty_values(7, {2: 2**31 - 1}), TOO_FAR),
    "empty-lists.parquet": (empty_lists_of_a_fixed_size, TOO_FAR),
    # Polars follows it with a recursion that ends the process.
    "deep-schema.parquet": (lambda: empty_values(6, {6: 0}, lists_inside_lists(20_000)), NO_PARQUET),
    # A header is handed out with every row.
    "names.csv": (
        lambda: (
            b"_id," + b",".join(b"%d" % number * 400 for number in range(900)) + (b"\n1" + b"," * 900) * 500
        ),
        "unpack to more than ",
    ),
    "records.jsonl.gz": (lambda: packed((repeated(b'{"_id":"1"}\n'), 15)), TOO_FAR),
    "records.csv.gz": (lambda: packed((b"_id\n", 1), (repeated(b"1\n"), 15)), TOO_FAR),
    "records.tsv.gz": (lambda: packed((b"_id\ttext\n", 1), (repeated(b"1\t\n"), 15)), TOO_FAR),
    "records.json.gz": (
        lambda: packed((b"[", 1), (repeated(b'{"_id":1},'), 15), (b'{"_id":1}]', 1)),
        TOO_FAR,
    ),
    "blank-lines.jsonl.gz": (lambda: packed((repeated(b"\n"), 15)), TOO_FAR),
    "fields.jsonl": (
        lambda: json.dumps({"_id": "d1"} | {f"n{number}": 0 for number in range(70_000)}).encode(),
        "line 1: 70,001 fields",
    ),
    "columns.csv": (lambda: b"id,text" + b",c" * 900_000 + b"\nd1,x", "line 1: 900,002 columns"),
    "one-field.csv.gz": (
        lambda: packed((b'id,text\nd1,"', 1), (repeated(b'""' * 500 + b"\n"), 60), (b'"', 1)),
        "a record of more than 8,388,608 bytes",
    ),
}


def write(folder: Path, name: str, content: bytes) -> Path:
    """The file, in a folder."""
    path = folder / name
    path.write_bytes(content)
    return path
