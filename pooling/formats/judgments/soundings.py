"""Judgments as `export_judgments` writes them: CSV, TSV or JSON lines, a row for each event."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pooling.formats.cells import unguarded
from pooling.formats.errors import excerpt
from pooling.formats.judgments.records import JudgmentFormat, JudgmentRecord, Names
from pooling.formats.kinds.json_lines import json_line_records
from pooling.formats.registry import Record
from pooling.formats.rows import checked_id
from pooling.formats.sources import MAX_LINE_BYTES, OutputBudget, Source

TEXTS = (
    *("queue", "query_id", "document_id", "annotator", "kind", "verdict", "reason", "note", "state", "time"),
    *("shown", "prelabel_seen", "prelabel_model", "prelabel_prompt", "prelabel_prompt_hash"),
    *("prelabel_verdict", "evidence_sha256", "highlight"),
)
NUMBERS = (
    *("event", "document_version", "undoes", "repeats", "active_ms", "prelabel_prompt_version"),
    *("evidence_start", "evidence_end"),
)
FLAGS = ("is_set_aside", "is_extra", "is_adjudication", "is_gold")
NEEDED = ("query_id", "document_id", "annotator", "kind", "verdict")
LARGEST = 2**31 - 1
#: What each of these columns may say; "" where it says nothing.
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "kind": ("verdict", "undo", "skip"),
    "verdict": ("", "relevant", "not_relevant", "cannot_judge"),
    "reason": ("", "broken", "language", "expert", "query", "other"),
    "state": ("", "stands", "replaced", "undone", "repeat"),
    "shown": ("", "passage", "document"),
    "prelabel_seen": ("", "never", "before", "after"),
    "prelabel_verdict": ("", "relevant", "not_relevant", "cannot_judge"),
    "highlight": ("", "sentence", "terms", "none"),
}
LONGEST: Final = {"prelabel_model": 200, "prelabel_prompt": 60, "queue": 200, "annotator": 120}
LONGEST_HASH = 64
REMEDY = "Use a file of export_judgments as it was written."


def read_soundings(source: Source, names: Names) -> Iterator[JudgmentRecord]:
    """Every event in the order of the file."""
    records = json_line_records(source) if source.format == "jsonl" else _cells(source)
    if source.format not in ("jsonl", "csv", "tsv"):
        problem = f"judgments that Soundings exported are not read from {source.format} files"
        raise source.error(None, problem, "Give .csv, .tsv or .jsonl, or choose another format.")
    for line, record in records:
        row = _checked(source, line, record)
        value = row["verdict"] if row["kind"] == "verdict" else ""
        yield JudgmentRecord(
            line,
            checked_id(source, line, "query", row["query_id"]),
            checked_id(source, line, "document", row["document_id"]),
            row["annotator"],
            value,
            note=row["note"],
            reason=row["reason"],
            time=row["time"],
            active_ms=row["active_ms"],
            own=row,
        )


def _cells(source: Source) -> Iterator[Record]:
    """Rows of a table, with line ends inside cells as they were written."""
    rows = csv.reader(_whole_lines(source), delimiter="," if source.format == "csv" else "\t", strict=True)
    try:
        header, output = next(rows, []), OutputBudget(source)
        for fields in rows:
            if not fields:
                continue
            if len(fields) != len(header):
                problem = f"{len(fields)} fields where the header has {len(header)}"
                raise source.error(rows.line_num, problem, REMEDY)
            output.take(sum(map(len, fields)))
            yield rows.line_num, dict(zip(header, map(unguarded, fields), strict=True))
    except csv.Error as error:
        raise source.error(rows.line_num, f"not a table ({error})", REMEDY) from error


def _whole_lines(source: Source) -> Iterator[str]:
    number, rest = 0, b""
    if source.head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise source.error(1, "the file is UTF-16", "Save it as UTF-8.")
    for block in source.blocks():
        *complete, rest = (rest + block).split(b"\n")
        for line in complete:
            number += 1
            yield source.decoded(number, line) + "\n"
        if len(rest) > MAX_LINE_BYTES:
            raise source.too_long(number + 1)
    if rest:
        yield source.decoded(number + 1, rest)


def _checked(source: Source, line: int, record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The columns in their types; those that a file does not have say nothing."""
    missing = [name for name in NEEDED if name not in record]
    if missing:
        columns = excerpt(", ".join(map(str, record)), 80)
        raise source.error(line, f"no column {', '.join(missing)} among {columns}", REMEDY)
    row: dict[str, Any] = {name: _text(source, line, name, record.get(name)) for name in TEXTS}
    row |= {name: _number(source, line, name, record.get(name)) for name in NUMBERS}
    row |= {name: _flag(source, line, name, record.get(name)) for name in FLAGS}
    for name, words in WORDS.items():
        if row[name] not in words:
            allowed = ", ".join(word for word in words if word)
            raise source.error(line, f"{name} is {excerpt(row[name])}", f"It is one of {allowed}.")
    if (row["kind"] == "verdict") != bool(row["verdict"]):
        raise source.error(line, f"a {row['kind']} with the verdict {excerpt(row['verdict'])}", REMEDY)
    return row


def _text(source: Source, line: int, name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and name in ("query_id", "document_id", "annotator"):
        return str(value)
    if not isinstance(value, str):
        raise source.error(line, f"{name} is {excerpt(value)}, which is not text", REMEDY)
    most = LONGEST_HASH if name.endswith(("sha256", "hash")) else LONGEST.get(name)
    if most is not None and len(value) > most:
        raise source.error(line, f"{name} has {len(value)} characters; the most are {most}", REMEDY)
    return value


def _number(source: Source, line: int, name: str, value: Any) -> int | None:
    if value is None or value == "":
        return None
    text = str(value)
    most = 2**62 if name in ("event", "undoes", "repeats") else LARGEST
    if isinstance(value, bool) or not (text.isascii() and text.isdecimal()) or int(text[:25]) > most:
        raise source.error(line, f"{name} is {excerpt(value)}, which is not a whole number", REMEDY)
    return int(text)


def _flag(source: Source, line: int, name: str, value: Any) -> bool:
    flags = {"": False, "0": False, "1": True, "False": False, "True": True, "None": False}
    try:
        return flags[str(value)]
    except KeyError:
        raise source.error(line, f"{name} is {excerpt(value)}", "It is 0 or 1.") from None


FORMATS = (JudgmentFormat("soundings", "Soundings (export of judgments)", read_soundings, has_values=False),)
