"""Facts and supports as other tools read them: JSON lines of our own, nuggets, TREC diversity qrels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pooling.formats.errors import FormatError, excerpt
from pooling.formats.facts.records import VERDICTS, FactRecord, SupportRecord

WORDS = {weight: verdict for verdict, weight in VERDICTS.items()}


def facts_lines(facts: Iterable[FactRecord]) -> bytes:
    """`query_id, fact_id, text, importance, group`, a line for each fact."""
    return _lines(
        {
            "query_id": fact.query_id,
            "fact_id": fact.fact_id,
            "text": fact.text,
            "importance": fact.importance,
            "group": fact.group,
        }
        for fact in facts
    )


def supports_lines(supports: Iterable[SupportRecord]) -> bytes:
    """`query_id, fact_id, document_id, verdict` and perhaps `span`, a line for each pair."""
    return _lines(
        {
            "query_id": one.query_id,
            "fact_id": one.fact_id,
            "document_id": one.document_id,
            "verdict": WORDS[one.weight],
            **({} if one.span is None else {"span": list(one.span)}),
        }
        for one in supports
    )


def nuggets_lines(facts: Iterable[FactRecord], queries: Mapping[str, str]) -> bytes:
    """A line for each query with its text and its facts as nuggets, which nuggetizer reads."""
    by_query: dict[str, list[dict[str, str]]] = {}
    for fact in facts:
        by_query.setdefault(fact.query_id, []).append({"text": fact.text, "importance": fact.importance})
    return _lines(
        {"qid": query, "query": queries.get(query, ""), "nuggets": nuggets}
        for query, nuggets in by_query.items()
    )


def subtopic_numbers(facts: Iterable[FactRecord]) -> dict[tuple[str, str], int]:
    """The number of each fact among those of its query, from 1: ndeval takes no other ids."""
    last: dict[str, int] = {}
    numbers = {}
    for fact in facts:
        last[fact.query_id] = last.get(fact.query_id, 0) + 1
        numbers[fact.query_id, fact.fact_id] = last[fact.query_id]
    return numbers


def diversity_lines(facts: Sequence[FactRecord], supports: Iterable[SupportRecord]) -> bytes:
    """`topic subtopic docno rel` of TREC's diversity tasks: 1 where the document supports the fact wholly, 0
    where it was judged and does not. What nobody judged is left out.

    FormatError for an id with a blank, which the format cannot hold.
    """
    numbers = subtopic_numbers(facts)
    return "".join(
        f"{_word(one.query_id)} {numbers[one.query_id, one.fact_id]} {_word(one.document_id)} "
        f"{int(one.weight >= 1)}\n"
        for one in supports
        if one.weight is not None
    ).encode()


def _word(text: str) -> str:
    if text.split() != [text]:
        problem = f"the id {excerpt(text)} holds a blank, which TREC's diversity qrels cannot write"
        raise FormatError("diversity", None, problem, "Export JSON lines instead.")
    return text


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(_encoded(records))


def _encoded(records: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    for record in records:
        yield (json.dumps(record, ensure_ascii=False) + "\n").encode()
