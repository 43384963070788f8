"""Facts and supports as JSON lines of our own, a record for each.

Facts: `query_id`, `fact_id`, `text`, and perhaps `importance` (vital or okay) and `group`. Supports:
`fact_id`, `document_id`, `verdict` (supports, partly, no, cannot), perhaps `query_id` and `span`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.facts.records import IMPORTANCES, VERDICTS, FactRecord, Importance, SupportRecord
from pooling.formats.registry import Record
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source


def facts_of(source: Source, records: Iterable[Record]) -> Iterator[FactRecord]:
    for line, record in records:
        query = checked_id(source, line, "query", needed(source, line, record, "query_id"))
        fact = checked_id(source, line, "fact", needed(source, line, record, "fact_id"))
        text = text_of(source, line, record, "text")
        yield FactRecord(
            query,
            fact,
            text,
            importance_of(source, line, record),
            text_of(source, line, record, "group"),
            line,
        )


def read_supports(
    source: Source, records: Iterable[Record], facts: Iterable[FactRecord]
) -> Iterator[SupportRecord]:
    """Supports of our own form; each names one known fact, by its query too where its id is not enough."""
    queries: dict[str, set[str]] = {}
    for fact in facts:
        queries.setdefault(fact.fact_id, set()).add(fact.query_id)
    for line, record in records:
        fact_id = checked_id(source, line, "fact", needed(source, line, record, "fact_id"))
        document = checked_id(source, line, "document", needed(source, line, record, "document_id"))
        query = _query(source, line, record, fact_id=fact_id, queries=queries.get(fact_id, set()))
        verdict = needed(source, line, record, "verdict")
        if not isinstance(verdict, str) or verdict not in VERDICTS:
            problem = f"the verdict {excerpt(verdict)} is unknown"
            raise source.error(line, problem, f"It is one of {', '.join(VERDICTS)}.")
        span = _span(source, line, record)
        yield SupportRecord(query, fact_id, document, VERDICTS[verdict], line, span)


def _span(source: Source, line: int, record: Mapping[str, Any]) -> tuple[int, int] | None:
    value = record.get("span")
    if value is None:
        return None
    numbers = [one for one in value if type(one) is int] if isinstance(value, list) else []
    if len(numbers) != 2 or len(value) != 2 or not 0 <= numbers[0] < numbers[1]:
        problem = f"the span {excerpt(value)} is not [start, end]"
        raise source.error(line, problem, "Write two whole numbers of characters, the smaller first.")
    return numbers[0], numbers[1]


def _query(source: Source, line: int, record: Mapping[str, Any], *, fact_id: str, queries: set[str]) -> str:
    if record.get("query_id") is not None:
        query = checked_id(source, line, "query", record["query_id"])
        if query not in queries:
            problem = f"query {excerpt(query)} has no fact {excerpt(fact_id)}"
            raise source.error(line, problem, "Name facts of the facts file.")
        return query
    if len(queries) != 1:
        description = "no fact" if not queries else f"a fact of {len(queries)} queries"
        remedy = "Name facts of the facts file." if not queries else "Add query_id."
        raise source.error(line, f"{excerpt(fact_id)} is {description}", remedy)
    return next(iter(queries))


def needed(source: Source, line: int, record: Mapping[str, Any], name: str) -> Any:
    if record.get(name) is None:
        fields = excerpt(", ".join(map(str, record)), 80)
        raise source.error(line, f"no {name} among the fields {fields}", f"Add {name}.")
    return record[name]


def text_of(source: Source, line: int, record: Mapping[str, Any], name: str) -> str:
    """A text on one line, or "" where there is none."""
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise source.error(line, f"{name} is not text but {excerpt(value)}", "Write a string.")
    return " ".join(value.split())


def importance_of(source: Source, line: int, record: Mapping[str, Any]) -> Importance:
    value = record.get("importance", "vital")
    for importance in IMPORTANCES:
        if value == importance:
            return importance
    raise source.error(line, f"the importance {excerpt(value)} is unknown", "It is vital or okay.")
