"""Quepid: a book as JSON or CSV, and the ratings of a case as CSV. Queries are known by their text.

The shapes are those of Quepid's exports in 2026 (`app/views/api/v1/books`, `app/views/api/v1/export`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pooling.formats.bytes.nesting import loads
from pooling.formats.errors import excerpt
from pooling.formats.judgments.elements import first_sign, json_elements
from pooling.formats.judgments.records import (
    CANNOT_JUDGE,
    UNNAMED,
    JudgmentFormat,
    JudgmentRecord,
    Names,
    as_text,
    object_of,
    passed_over,
)
from pooling.formats.kinds.delimited import csv_rows
from pooling.formats.names import DOCUMENT, QUERY, plain_name
from pooling.formats.sources import Source

PAIRS = "query_doc_pairs"
#: What it calls the text of a query, and what counts as relevant to it.
QUERIES, NEED = ("query", "query_text"), "information_need"
RATING = "rating"
#: Quepid puts a blank before what a spreadsheet would calculate.
GUARDED = re.compile(r" [-=+@]")
TITLES = ("title", "name", "headline")
TEXTS = ("text", "body", "content", "description", "overview", "abstract")


def read_quepid(source: Source, names: Names) -> Iterator[JudgmentRecord]:
    """Every rating that was given; those that are to be judged later, and the like, come as passed over."""
    if source.format == "csv":
        return _table(source)
    sign = first_sign(source)
    if sign == "<":
        raise source.error(1, "this is HTML, not JSON", "Download the export while signed in.")
    return _book(source)


def _book(source: Source) -> Iterator[JudgmentRecord]:
    for line, element in json_elements(source, PAIRS):
        pair = object_of(source, line, element, "a pair")
        query, document = (as_text(source, line, name, pair.get(name)) for name in ("query_text", "doc_id"))
        fields = pair.get("document_fields")
        title, text = _texts(fields)
        if fields and not title and text is None:
            yield passed_over(line, "fields of a document without a title and a text of a known name")
        judgements = pair.get("judgements", [])
        if not isinstance(judgements, list):
            raise source.error(line, "judgements is not a list", "Export the book again.")
        if not judgements:
            yield passed_over(line, "pairs without a judgement")
        for one in judgements:
            judgment = object_of(source, line, one, "a judgement")
            unrateable = judgment.get("unrateable") is True
            if judgment.get("judge_later") is True or (not unrateable and judgment.get(RATING) is None):
                yield passed_over(line, "judgements to be given later")
                continue
            yield JudgmentRecord(
                line,
                query,
                document,
                str(judgment.get("user_email") or UNNAMED),
                CANNOT_JUDGE if unrateable else str(judgment[RATING]),
                by_text=True,
                note=str(judgment.get("explanation") or ""),
                reason="other" if unrateable else "",
                title=title,
                text=text,
            )


def _texts(fields: Any) -> tuple[str, str | None]:
    """Title and text among the fields that Quepid showed, which it keeps as a text that holds JSON."""
    if isinstance(fields, str):
        try:
            fields = loads(fields)
        except ValueError:
            return "", None
    if not isinstance(fields, dict):
        return "", None
    plain = {plain_name(str(name)): value for name, value in fields.items() if isinstance(value, str)}
    title = next((plain[name] for name in TITLES if name in plain), "")
    return title, next((plain[name] for name in TEXTS if name in plain), None)


def query_of_pair(record: Mapping[str, Any]) -> tuple[str, str] | None:
    plain = {plain_name(name): record[name] for name in reversed(list(record))}
    if any(name in plain for name in QUERY if name not in QUERIES) or not any(
        name in plain for name in DOCUMENT
    ):
        return None
    text = next((plain[name] for name in QUERIES if name in plain), None)
    if not isinstance(text, str) or not text.strip():
        return None
    return unguarded_text(text).strip(), str(plain.get(NEED) or "")


def unguarded_text(text: str) -> str:
    return text[1:] if GUARDED.match(text) else text


def _table(source: Source) -> Iterator[JudgmentRecord]:
    rows = csv_rows(source, source.text_lines())
    header = [name.strip() for name in next(rows, (0, []))[1]]
    plain = [plain_name(name) for name in header]
    if plain[:1] != ["query"] or plain[1:2] not in (["docid"], ["doc_id"]) or len(plain) < 3:
        problem = f"the columns are {excerpt(', '.join(header), 80)}"
        raise source.error(1, problem, "Quepid's are query, docid and rating, or one for each judge.")
    judges = [UNNAMED] if plain[2:] == [RATING] else header[2:]
    if len(set(judges)) != len(judges):
        raise source.error(1, "two judges have the same name", "Export the book as JSON, which has emails.")
    for line, fields in rows:
        # A query without any rating is a row of its text alone.
        if not any(fields[1:]):
            yield passed_over(line, "queries without a rating")
            continue
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where the header has {len(header)}"
            raise source.error(line, problem, "Export the file again.")
        query, document, *ratings = map(unguarded_text, fields)
        for judge, rating in zip(judges, ratings, strict=True):
            if not rating.strip():
                yield passed_over(line, "empty ratings")
                continue
            query, document = (
                as_text(source, line, what, value) for what, value in (("query", query), ("docid", document))
            )
            yield JudgmentRecord(line, query, document, judge, rating, by_text=True)


FORMATS = (JudgmentFormat("quepid", "Quepid (book as JSON or CSV, case as CSV)", read_quepid),)
