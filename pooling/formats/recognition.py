"""A file's format, by its first lines, and by the suffix of its name where they leave it open."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from pooling.formats.bytes.lines import QRELS, RUN
from pooling.formats.names import DOCUMENT, DOCUMENT_TEXT, ID, QUERY, TITLE, column_named, plain_name

#: How many bytes of a file are looked at.
BEGINNING = 1 << 16
PARQUET_MAGIC = b"PAR1"
DELIMITED = ("csv", "tsv")
TEXTUAL = ("trec", *DELIMITED)
#: What stands between the cells of a table; a blank stands for any number of blanks and tabs.
SEPARATORS = ("\t", ",", ";", " ")
LINES = 30
VALUES = {"run": "score", "qrels": "relevance"}
_RECORD_NAMES = frozenset((*ID, *DOCUMENT_TEXT, *TITLE, *QUERY, *DOCUMENT, "metadata", "answer"))
_BLANKS = re.compile(r"[ \t]+")
_TEXTS_OF_TREC = re.compile(
    r"\ufeff?\s*(?:<\?[^>]*>\s*|<!--[^>]*>\s*|<topics\b[^>]*>\s*)*<(?:top(?:ic)?|doc)\b", re.IGNORECASE
)


class Recognized(NamedTuple):
    """A format by its name. Of a table also what separates its cells, where that is not what the format has
    (",", tab), and the names of its columns where no line has them."""

    format: str
    separator: str = ""
    names: tuple[str, ...] = ()


def recognized(beginning: bytes, named: str, kind: str) -> Recognized:
    """The format of a file that begins so, whose name has the suffix of the format `named`.

    kind: `run`, `qrels`, or `records` for queries, documents and anything else with named fields.

    >>> recognized(b"q1\\t0\\td1\\t1\\n", "tsv", "qrels").format
    'trec'
    >>> recognized(b"qid;docid;score\\nq1;d1;0.5\\n", "csv", "run")
    Recognized(format='csv', separator=';', names=())
    >>> recognized(b"q1\\td7\\t1\\nq1\\td3\\t2\\n", "tsv", "run").names
    ('query_id', 'document_id', 'rank')
    """
    if beginning.startswith(PARQUET_MAGIC):
        return Recognized("parquet")
    if named not in (*TEXTUAL, "json", "jsonl"):
        return Recognized(named)
    text = beginning.decode(errors="replace")
    if format := _json_format(text.lstrip(), named):
        return Recognized(format)
    if named not in TEXTUAL:
        return Recognized(named)
    if kind == "records" and _TEXTS_OF_TREC.match(text):
        return Recognized("trec-texts")
    complete = text if len(beginning) < BEGINNING else text[: text.rfind("\n") + 1]
    lines = [line.rstrip("\r") for line in complete.split("\n") if line.strip()][:LINES]
    return _table(lines, named, kind) or Recognized(named)


def _json_format(text: str, named: str) -> str | None:
    """`json` or `jsonl` for a text that is one of them."""
    if not re.match(r'\[\s*[\[{"\]-]|\[\s*\d|\{\s*["}]', text):
        return None
    if text.startswith("["):
        return "json"
    first, _, rest = text.partition("\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        # One object over several lines, or a line that is broken or longer than what is looked at.
        return "jsonl" if named == "jsonl" else "json"
    if rest.lstrip().startswith("{"):
        return "jsonl"
    if named in ("json", "jsonl"):
        return named
    return "json" if all(isinstance(inner, dict | list) for inner in value.values()) else "jsonl"


def _table(lines: list[str], named: str, kind: str) -> Recognized | None:
    """A table with a header, rows of TREC, or a table without one; None for anything else."""
    separator_line = re.fullmatch(r"sep=(.)", lines[0].strip("\ufeff"), re.IGNORECASE) if lines else None
    if separator_line:
        return Recognized(_format_with(separator_line[1]), separator_line[1])
    usual = {"csv": ",", "tsv": "\t"}.get(named)
    separators = sorted(SEPARATORS, key=lambda separator: separator != usual)
    is_comment = not lines or lines[0].startswith("#")
    for separator in separators[: None if kind != "records" else 3]:
        if not is_comment and names_columns(cells(lines[0], separator), kind):
            return _recognized(named, separator)
    rows_of = [line for line in lines if not line.startswith("#")]
    if kind == "records" or not rows_of:
        # Ids and texts, as `topics.txt` of MS MARCO has them.
        return Recognized("tsv") if rows_of and all(line.count("\t") == 1 for line in rows_of) else None
    for separator in separators:
        rows = [cells(line, separator) for line in rows_of]
        if names := columns_of(rows, kind, blanks=separator in "\t "):
            is_trec = names == (RUN if kind == "run" else QRELS).columns and separator in "\t "
            return Recognized("trec") if is_trec else _recognized(named, separator, names)
    return None


def _recognized(named: str, separator: str, names: tuple[str, ...] = ()) -> Recognized:
    format = named if named in DELIMITED and separator == {"csv": ",", "tsv": "\t"}[named] else None
    format = format or _format_with(separator)
    return Recognized(format, "" if separator == {"csv": ",", "tsv": "\t"}[format] else separator, names)


def _format_with(separator: str) -> str:
    return "tsv" if separator in "\t " else "csv"


def cells(line: str, separator: str) -> list[str]:
    if separator == " ":
        return _BLANKS.split(line.strip(" \t"))
    return [cell.strip().strip('"') for cell in line.split(separator)]


def names_columns(cells: Sequence[str], kind: str) -> bool:
    """A header: it names query and document, or one part of a record."""
    if len(cells) < 2 or any(map(is_number, cells)):
        return False
    if kind == "records":
        return any(plain_name(cell) in _RECORD_NAMES for cell in cells)
    return column_named(cells, QUERY) is not None and column_named(cells, DOCUMENT) is not None


def columns_of(rows: Sequence[Sequence[str]], kind: str, *, blanks: bool) -> tuple[str, ...] | None:
    """The columns of a table without a header; None where its rows are not alike, or no number is where one
    must be.

    Of three columns the last is a relevance, a rank (1, 2, 3 … in each query) or a score.
    """
    widths = {len(row) for row in rows}
    width = widths.pop()
    trec = (RUN if kind == "run" else QRELS).columns
    if widths:
        return None
    names: tuple[str, ...]
    if width == len(trec):
        names = trec if blanks else tuple(column if column != "value" else VALUES[kind] for column in trec)
    elif width == 3:
        names = ("query_id", "document_id", _number(rows) if kind == "run" else VALUES[kind])
    elif kind == "run" and width == 4:
        names = ("query_id", "document_id", "rank", "score")
    else:
        return None
    numbers = [place for place, name in enumerate(names) if name in ("value", "score", "rank", "relevance")]
    pairs = [(row[0], row[names.index("document_id")]) for row in rows]
    is_right = all(is_number(row[place]) for row in rows for place in numbers)
    # Of the four columns of qrels the second is always the same: as documents they would come twice.
    return names if is_right and (width == len(trec) or len(set(pairs)) == len(pairs)) else None


def _number(rows: Sequence[Sequence[str]]) -> str:
    """`rank` where the third cells count from 0 or 1 in each query, else `score`."""
    before: tuple[str, int] | None = None
    for query, _, text in rows:
        if not text.isascii() or not text.isdigit():
            return "score"
        number = int(text)
        follows = before is not None and before[0] == query and number == before[1] + 1
        if not follows and not (number in (0, 1) and (before is None or before[0] != query)):
            return "score"
        before = query, number
    return "rank"


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
