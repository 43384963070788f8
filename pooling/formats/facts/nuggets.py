"""Facts as nuggetizer and TREC RAG write them, and the nugget banks of AutoJudge: a record for each query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pooling.formats.errors import excerpt
from pooling.formats.facts.own import importance_of, needed, text_of
from pooling.formats.facts.records import ASSIGNMENTS, FactRecord, SupportRecord
from pooling.formats.registry import Record
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source

#: The document of an assignment: nuggetizer assigns facts to the answer to a query, not to a passage.
ANSWER: Final = "answer"


def read_nuggets(source: Source, records: Iterable[Record]) -> tuple[list[FactRecord], list[SupportRecord]]:
    """{"qid", "nuggets": [{"text", "importance", "mapped_sub_narrative", "assignment"}]}: the facts are
    numbered from 1 in each query, and an assignment is a support by the document `answer`."""
    facts: list[FactRecord] = []
    supports: list[SupportRecord] = []
    numbers: dict[str, int] = {}
    for line, record in records:
        query = checked_id(source, line, "query", needed(source, line, record, "qid"))
        for nugget in _list(source, line, record, "nuggets"):
            numbers[query] = number = numbers.get(query, 0) + 1
            text = text_of(source, line, nugget, "text")
            if not text:
                raise source.error(line, f"nugget {number} has no text", "Add text.")
            group = text_of(source, line, nugget, "mapped_sub_narrative").strip('"')
            importance = importance_of(source, line, nugget)
            facts.append(FactRecord(query, str(number), text, importance, group, line))
            assigned = nugget.get("assignment")
            if assigned is None:
                continue
            if assigned not in ASSIGNMENTS:
                problem = f"the assignment {excerpt(assigned)} is unknown"
                raise source.error(line, problem, f"It is one of {', '.join(ASSIGNMENTS)}.")
            supports.append(SupportRecord(query, str(number), ANSWER, ASSIGNMENTS[assigned], line))
    return facts, supports


def read_bank(source: Source, records: Iterable[Record]) -> Iterator[FactRecord]:
    """{"query_id", "nugget_bank": {question: {"question", "answers"}}}: a fact for each answer,
    grouped by its question."""
    for line, record in records:
        named = record.get("query_id") or record.get("qid") or needed(source, line, record, "query_id")
        query = checked_id(source, line, "query", named)
        bank = needed(source, line, record, "nugget_bank")
        if not isinstance(bank, dict):
            raise source.error(line, "nugget_bank is not an object", "Write questions by their text.")
        number = 0
        for title, question in bank.items():
            if not isinstance(question, dict):
                raise source.error(
                    line, f"the question {excerpt(title)} is not an object", "Write its answers."
                )
            group = text_of(source, line, question, "question") or title
            for answer in _answers(source, line, question):
                number += 1
                yield FactRecord(query, str(number), answer, "vital", group, line)


def _answers(source: Source, line: int, question: Mapping[str, Any]) -> list[str]:
    answers = question.get("answers") or {}
    texts = list(answers)
    if not all(isinstance(one, str) and one.strip() for one in texts):
        raise source.error(line, "an answer is not text", "Write answers by their text.")
    return [" ".join(one.split()) for one in texts]


def _list(source: Source, line: int, record: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    objects = needed(source, line, record, name)
    if not isinstance(objects, list) or not all(isinstance(one, dict) for one in objects):
        raise source.error(line, f"{name} is not a list of objects", "Write one object for each.")
    return objects
