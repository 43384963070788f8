"""Pre-labels made elsewhere: our own export, UMBRELA's output, and scores of clicks, a row for each pair."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pooling.formats.errors import excerpt
from pooling.formats.judgments.elements import first_sign, json_elements
from pooling.formats.judgments.records import as_text, field_of, object_of
from pooling.formats.kinds.json_lines import json_line_records
from pooling.formats.names import DOCUMENT, QUERY
from pooling.formats.registry import formats, source_of
from pooling.formats.sources import Source
from pooling.formats.tables import number_text

HIGHEST_GRADE = 3
LONGEST_MODEL, LONGEST_PROMPT, LONGEST_HASH = 200, 60, 64
#: What writes scores of clicks.
CLICK_MODEL = "score_clicks"
CLICK_COLUMNS = ("query", "document_id", "score", "low", "high")
_PROMPT = re.compile(r"(?P<name>.+)-v(?P<version>[0-9]{1,6})")


class PrelabelRecord(NamedTuple):
    """A model's answer on a pair: ids, with `by_text` the texts of query and passage, with `by_key` the
    text of the query, of which case and blanks do not count, and the document's id.

    relevant: None where a threshold decides, of `grade` or of `limits`, the interval of a share of clicks.
    failed: the answer could not be read. passed: what it is where it says nothing, such as “rows without a
    score”. prompt: name, version and hash of a prompt of ours; version 0 where that is not known.
    """

    line: int
    query: str
    document: str
    model: str
    by_text: bool = False
    relevant: bool | None = None
    grade: int | None = None
    score: float | None = None
    failed: bool = False
    reasoning: str = ""
    prompt: tuple[str, int, str] = ("", 0, "")
    by_key: bool = False
    limits: tuple[float, float] | None = None
    passed: str = ""


def read_own(source: Source) -> Iterator[PrelabelRecord]:
    """Rows of `export_prelabels`: query_id, document_id, relevance, source, score, grade."""
    records = formats()[source.format].records
    if records is None:
        problem = f"pre-labels that Soundings exported are not read from {source.format} files"
        raise source.error(None, problem, "Give .csv, .tsv or .jsonl, or choose another format.")
    for line, record in records(source):
        query, document = field_of(record, "", QUERY), field_of(record, "", DOCUMENT)
        model, prompt = _way_of(source, line, record.get("source"))
        relevance = number_text(record.get("relevance", ""))
        if relevance not in ("0", "1"):
            problem = f"the relevance is {excerpt(relevance)}"
            raise source.error(line, problem, "A pre-label is 1, relevant, or 0, not relevant.")
        yield PrelabelRecord(
            line,
            as_text(source, line, "query id", query),
            as_text(source, line, "document id", document),
            model,
            relevant=relevance == "1",
            grade=_grade(source, line, record.get("grade")),
            score=_score(source, line, record.get("score")),
            prompt=prompt,
        )


def read_umbrela(source: Source) -> Iterator[PrelabelRecord]:
    """UMBRELA's rows: model, query, passage, prompt, prediction, judgment (0 to 3) and result_status.

    Its pairs have no ids unless somebody added them (qid, docid). A result_status of 0 says that the answer
    was not understood: the judgment of such a row is a 0 that nobody gave.
    """
    is_list = source.format != "jsonl" and first_sign(source) == "["
    if source.format != "jsonl" and not is_list:
        raise source.error(None, "not JSON lines", "Give UMBRELA's output as .jsonl, or as a JSON array.")
    for line, element in json_elements(source) if is_list else json_line_records(source):
        record = object_of(source, line, element, "a row")
        query, document = record.get("qid"), record.get("docid")
        by_text = query is None or document is None
        if by_text:
            query, document = record.get("query"), record.get("passage")
        model = _model(source, line, record.get("model"))
        status, grade = record.get("result_status"), record.get("judgment")
        failed = status in (0, False) or (status is None and grade is None)
        yield PrelabelRecord(
            line,
            as_text(source, line, "query", query),
            as_text(source, line, "passage", document),
            model,
            by_text=by_text,
            grade=None if failed else _needed_grade(source, line, grade),
            failed=failed,
            reasoning=str(record.get("prediction") or "")[:10_000],
        )


def read_clicks(source: Source) -> Iterator[PrelabelRecord]:
    """Rows of `score_clicks`: query, document_id, score, low, high; no score where clicks cannot tell."""
    records = formats()[source.format].records
    if records is None:
        problem = f"scores of clicks are not read from {source.format} files"
        raise source.error(None, problem, "Give the table that score_clicks writes, such as SCORES.tsv.")
    for line, record in records(source):
        if missing := [name for name in CLICK_COLUMNS if name not in record]:
            raise source.error(line, f"no column {missing[0]}", "Give the table that score_clicks writes.")
        query = as_text(source, line, "query", record["query"])
        document = as_text(source, line, "document id", record["document_id"])
        score, low, high = (_score(source, line, record[name]) for name in ("score", "low", "high"))
        if score is None or low is None or high is None:
            yield PrelabelRecord(line, query, document, CLICK_MODEL, passed="rows without a score")
            continue
        yield PrelabelRecord(line, query, document, CLICK_MODEL, score=score, by_key=True, limits=(low, high))


def read_prelabels(
    path: Path, format: str, *, file_name: str | None = None, max_bytes: int | None = None
) -> Iterator[PrelabelRecord]:
    """The pre-labels of a file; FormatError for what cannot be read, and for a file without any."""
    source = source_of(path, file_name, max_bytes)
    has_any = False
    for record in PRELABEL_FORMATS[format](source):
        has_any = True
        yield record
    if not has_any:
        raise source.error(None, "there is no pre-label in this file", "Check that the export is not empty.")


def _way_of(source: Source, line: int, value: Any) -> tuple[str, tuple[str, int, str]]:
    """Model and prompt in a source such as `llm:small:binary-v1:3f9a01c2`; a model's name may have colons."""
    parts = str(value or "").split(":")
    if parts[0] == "llm":
        parts = parts[1:]
        match = _PROMPT.fullmatch(parts[-2]) if len(parts) > 2 else None
        if match and len(match["name"]) <= LONGEST_PROMPT and len(parts[-1]) <= LONGEST_HASH:
            prompt = (match["name"], int(match["version"]), parts[-1])
            return _model(source, line, ":".join(parts[:-2])), prompt
    return _model(source, line, ":".join(parts)), ("", 0, "")


def _model(source: Source, line: int, value: Any) -> str:
    name = str(value or "").strip()
    if not name or len(name) > LONGEST_MODEL or not name.isprintable():
        problem = f"the model {excerpt(name)} is empty, too long or not printable"
        raise source.error(line, problem, f"Name it in at most {LONGEST_MODEL} characters.")
    return name


def _grade(source: Source, line: int, value: Any) -> int | None:
    return None if value is None or value == "" else _needed_grade(source, line, value)


def _needed_grade(source: Source, line: int, value: Any) -> int:
    text = number_text(value)
    if text not in ("0", "1", "2", "3"):
        raise source.error(line, f"the grade is {excerpt(text)}", f"Grades are 0 to {HIGHEST_GRADE}.")
    return int(text)


def _score(source: Source, line: int, value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        score = float(value)
    except (TypeError, ValueError):
        score = math.nan
    if not 0 <= score <= 1:
        raise source.error(line, f"the score is {excerpt(value)}", "A score is between 0 and 1.")
    return score


PRELABEL_FORMATS: Mapping[str, Callable[[Source], Iterator[PrelabelRecord]]] = {
    "soundings": read_own,
    "umbrela": read_umbrela,
    "clicks": read_clicks,
}
TITLES = {
    "soundings": "Soundings (export of pre-labels)",
    "umbrela": "UMBRELA (JSON lines)",
    "clicks": "Clicks (scores of score_clicks)",
}
