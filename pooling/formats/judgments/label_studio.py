"""Label Studio's JSON export: a list of tasks, whose annotations have results with choices or ratings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.judgments.elements import json_elements
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
from pooling.formats.sources import Source

#: Kinds of results that hold one value, and the name under which each holds it.
ANSWERS = {"choices": "choices", "rating": "rating", "number": "number", "taxonomy": "taxonomy"}
NOTE = "textarea"
MOST_MS = 2**31 - 1


def read_label_studio(source: Source, names: Names) -> Iterator[JudgmentRecord]:
    """Every annotation with an answer; what else there is comes as passed over."""
    first = ""
    for line, element in json_elements(source):
        task = object_of(source, line, element, "a task")
        annotations = task.get("annotations", task.get("completions"))
        if not isinstance(annotations, list):
            problem = f"no list of annotations among {excerpt(', '.join(task), 80)}"
            raise source.error(line, problem, "Export the project as JSON, not as JSON-MIN.")
        data = object_of(source, line, task.get("data"), "the data of a task")
        if not annotations:
            yield passed_over(line, "tasks without an annotation")
        for one in annotations:
            annotation = object_of(source, line, one, "an annotation")
            if annotation.get("was_cancelled") is True:
                yield passed_over(line, "cancelled annotations")
                continue
            unread = _unread(annotation.get("result"))
            for kind in unread:
                yield passed_over(line, f"answers of the kind {excerpt(kind)}, which is not read")
            answer = _answer(source, line, annotation.get("result"), names.question)
            if answer is None:
                if not unread:
                    yield passed_over(line, "annotations without an answer")
                continue
            question, value, note = answer
            first = first or question
            refuse_another(source, line, first, question)
            query, by_text, document = pair_of(source, line, data, names)
            yield JudgmentRecord(
                line,
                query,
                document,
                _person(annotation.get("completed_by")),
                value,
                by_text=by_text,
                note=note,
                time=str(annotation.get("created_at") or ""),
                active_ms=_milliseconds(annotation.get("lead_time")),
                saw=bool(annotation.get("parent_prediction") or annotation.get("prediction")),
            )


def _unread(results: Any) -> list[str]:
    """The kinds of results that are no answer of one value and no note."""
    answers = [one for one in results if isinstance(one, Mapping)] if isinstance(results, list) else []
    kinds = {str(one.get("type")) for one in answers}
    return sorted(kinds - {*ANSWERS, NOTE})


def _answer(source: Source, line: int, results: Any, chosen_question: str) -> tuple[str, str, str] | None:
    """Question, value and note of an annotation; None for one without an answer."""
    answers: dict[str, list[Any]] = {}
    note = ""
    for one in results if isinstance(results, list) else []:
        result = object_of(source, line, one, "a result")
        kind, value = str(result.get("type")), result.get("value")
        if not isinstance(value, Mapping):
            continue
        if kind in ANSWERS:
            given = value.get(ANSWERS[kind])
            answers[str(result.get("from_name"))] = given if isinstance(given, list) else [given]
        elif kind == NOTE and isinstance(written := value.get("text"), list | str):
            note = "\n".join(map(str, written)) if isinstance(written, list) else written
    if chosen_question:
        answers = {name: values for name, values in answers.items() if name == chosen_question}
    if len(answers) > 1:
        problem = f"{len(answers)} questions are answered ({', '.join(answers)})"
        raise source.error(line, problem, "Choose one with --question.")
    for question, values in answers.items():
        if len(values) != 1 or isinstance(values[0], list | dict):
            problem = f"{len(values)} answers to {excerpt(question)}"
            raise source.error(line, problem, "A judgment has one answer.")
        return question, str(values[0]), note
    return None


def _person(completed: Any) -> str:
    """The email where the export has it, else the number of the account."""
    if isinstance(completed, Mapping):
        completed = completed.get("email") or completed.get("username") or completed.get("id")
    return UNNAMED if completed in (None, "") else str(completed)


def _milliseconds(seconds: Any) -> int | None:
    if (
        isinstance(seconds, bool)
        or not isinstance(seconds, int | float)
        or not 0 <= seconds * 1000 <= MOST_MS
    ):
        return None
    return round(seconds * 1000)


FORMATS = (JudgmentFormat("label-studio", "Label Studio (JSON)", read_label_studio),)
