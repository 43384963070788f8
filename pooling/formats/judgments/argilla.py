"""Argilla's records: `to_json`, or `to_list` with or without `flatten`, as a JSON array or as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.judgments.elements import first_sign, json_elements
from pooling.formats.judgments.records import (
    UNNAMED,
    JudgmentFormat,
    JudgmentRecord,
    Names,
    object_of,
    pair_of,
    passed_over,
    refuse_another,
)
from pooling.formats.kinds.json_lines import json_line_records
from pooling.formats.sources import Source

RESPONSES, USERS, STATUS, SUGGESTION = ".responses", ".responses.users", ".responses.status", ".suggestion"
SUBMITTED = "submitted"
#: Value, person, and status, None where the file has none.
Response = tuple[Any, str, str | None]
NO_STATUS = (
    "This file does not say which responses are drafts or were discarded, so all of them count. "
    "Argilla's records.to_list(flatten=True) says so."
)


def read_argilla(source: Source, names: Names) -> Iterator[JudgmentRecord]:
    """Submitted responses to one question; drafts and discarded ones come as passed over, if marked."""
    chosen_question, first = names.question, ""
    is_list = source.format != "jsonl" or first_sign(source) == "["
    for line, element in json_elements(source) if is_list else json_line_records(source):
        record = object_of(source, line, element, "a record")
        nested = isinstance(record.get("fields"), Mapping)
        responses = _nested(source, line, record) if nested else _flat(record)
        if chosen_question:
            responses = {name: given for name, given in responses.items() if name == chosen_question}
        if len(responses) > 1:
            problem = f"{len(responses)} questions are answered ({excerpt(', '.join(responses), 80)})"
            raise source.error(line, problem, "Choose one with --question.")
        if not any(responses.values()):
            yield passed_over(line, "records without a response")
        for question, given in responses.items():
            first = first or question
            refuse_another(source, line, first, question)
            fields = _fields(record) if nested else record
            query, by_text, document = pair_of(source, line, fields, names)
            for value, person, status in given:
                if status and status != SUBMITTED:
                    yield passed_over(line, f"responses with the status {excerpt(status)}")
                    continue
                if isinstance(value, list | dict) or value is None:
                    problem = f"the response {excerpt(value)} to {excerpt(question)} is not one value"
                    raise source.error(line, problem, "Choose a question with one answer with --question.")
                saw = _has_suggestion(record, question, nested)
                remark = "" if status is not None else NO_STATUS
                yield JudgmentRecord(
                    *(line, query, document, person, str(value)), by_text=by_text, saw=saw, remark=remark
                )


def _nested(source: Source, line: int, record: Mapping[str, Any]) -> dict[str, list[Response]]:
    answers: dict[str, list[Response]] = {}
    for question, given in (record.get("responses") or {}).items():
        if not isinstance(given, list):
            raise source.error(
                line, f"the responses to {excerpt(question)} are not a list", "Export it again."
            )
        rows = [object_of(source, line, one, "a response") for one in given]
        if rows:
            answers[question] = [
                (
                    row.get("value"),
                    _person(row.get("user_id")),
                    str(row["status"] or "") if "status" in row else None,
                )
                for row in rows
            ]
    return answers


def _flat(record: Mapping[str, Any]) -> dict[str, list[Response]]:
    answers: dict[str, list[Response]] = {}
    for name, values in record.items():
        if not name.endswith(RESPONSES) or not isinstance(values, list) or not values:
            continue
        question = name.removesuffix(RESPONSES)
        users, statuses = record.get(question + USERS) or [], record.get(question + STATUS)
        answers[question] = [
            (
                value,
                _person(users[place] if place < len(users) else None),
                None if statuses is None else str((statuses[place] if place < len(statuses) else "") or ""),
            )
            for place, value in enumerate(values)
        ]
    return answers


def _fields(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fields and metadata of a nested record: either may hold the ids."""
    metadata = record.get("metadata")
    return {**(metadata if isinstance(metadata, Mapping) else {}), **record["fields"]}


def _has_suggestion(record: Mapping[str, Any], question: str, nested: bool) -> bool:
    """True where people were shown a suggestion: Argilla fills it in before they answer."""
    if not nested:
        return record.get(question + SUGGESTION) is not None
    suggestions = record.get("suggestions")
    return isinstance(suggestions, Mapping) and bool(suggestions.get(question))


def _person(user: Any) -> str:
    return UNNAMED if user in (None, "", "None") else str(user)


FORMATS = (JudgmentFormat("argilla", "Argilla (records as JSON)", read_argilla),)
