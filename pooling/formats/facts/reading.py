"""Reading facts and supports in whatever format they come; the content tells which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pooling.formats.bytes.lines import Layout
from pooling.formats.errors import excerpt
from pooling.formats.facts.own import facts_of, importance_of, needed, read_supports, text_of
from pooling.formats.facts.records import (
    ASSIGNMENTS,
    PAIR,
    FactFile,
    FactRecord,
    SupportRecord,
    support_frame,
    unique_facts,
    unique_supports,
)
from pooling.formats.judgments.elements import first_sign
from pooling.formats.kinds.delimited import delimited_records
from pooling.formats.kinds.json_lines import json_line_records
from pooling.formats.kinds.ranx import array_records
from pooling.formats.registry import Record, source_of
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source
from pooling.formats.trec import read_plain
from pooling.formats.values import INT32, BadValueError, parse_relevance
from pooling.heavy import pl

#: The document of an assignment: nuggetizer assigns facts to the answer to a query, not to a passage.
ANSWER: Final = "answer"
QUESTIONS: Final = ("user_input", "question", "input")
REFERENCES: Final = ("reference", "ground_truth", "expected_output")
_END_OF_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
#: TREC diversity qrels: a subtopic is a fact without its text.
LAYOUT: Final = Layout("diversity", (*PAIR, "value"), "topic subtopic document label")


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


def has_reference(record: Mapping[str, Any]) -> bool:
    """A record that looks like a question with its reference answer."""
    return _named(record, QUESTIONS) is not None and _named(record, REFERENCES) is not None


def read_references(source: Source, records: Iterable[Record]) -> Iterator[FactRecord]:
    """A numbered fact per sentence of each reference; without a query id, the question itself is one."""
    numbers: dict[str, int] = {}
    for line, record in records:
        question, reference = _named(record, QUESTIONS), _named(record, REFERENCES)
        if question is None or reference is None:
            fields = excerpt(", ".join(map(str, record)), 80)
            problem = f"no question with its reference among the fields {fields}"
            raise source.error(line, problem, "Add user_input and reference.")
        question_text = text_of(source, line, record, question)
        if record.get("query_id") is None:
            query = question_text
        else:
            query = checked_id(source, line, "query", record["query_id"])
        if not query:
            raise source.error(line, "the question is empty", f"Write it as {question}.")
        for sentence in _END_OF_SENTENCE.split(text_of(source, line, record, reference)):
            if sentence.strip():
                numbers[query] = number = numbers.get(query, 0) + 1
                yield FactRecord(query, str(number), sentence.strip(), "vital", "", line)


def _named(record: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((name for name in names if record.get(name) is not None), None)


def read_diversity(source: Source) -> tuple[list[FactRecord], pl.DataFrame]:
    """Every subtopic of the file, in its order; rel above 0 supports, below 0 is pooled, not judged."""
    supports = _regular(source)
    if supports is None:
        supports = support_frame(_rows(source))
    facts = supports.unique(PAIR[:2], keep="first", maintain_order=True)
    rows = facts.select(*PAIR[:2], "line").iter_rows()
    return [FactRecord(query, fact, line=line) for query, fact, line in rows], supports


def _regular(source: Source) -> pl.DataFrame | None:
    """Straight from the disk, where every line has its four fields; None where some need a closer look."""
    table = read_plain(source, LAYOUT)
    if table is None:
        return None
    value = pl.col("value")
    if not table.frame.select(((value == value.round(0)) & (value.abs() < INT32)).all()).item():
        return None
    return table.frame.select(
        *PAIR,
        pl.when(value >= 0).then((value > 0).cast(pl.Float64)).alias("weight"),
        pl.int_range(1, pl.len() + 1).alias("line"),
        *(pl.lit(None, dtype=pl.Int64).alias(name) for name in ("span_start", "span_end")),
    )


def _rows(source: Source) -> Iterator[SupportRecord]:
    for line, text in source.text_lines():
        fields = text.replace("\t", " ").split(" ")
        fields = [one for one in fields if one]
        if not fields or (fields[0].startswith("#") and len(fields) != 4):
            continue
        if len(fields) != 4:
            problem = f"{len(fields)} fields; diversity qrels have 4: topic, subtopic, document, label"
            raise source.error(line, problem, "Give such a file, or facts as JSON lines.")
        query, fact, document, label = fields
        try:
            relevance = parse_relevance(label)
        except BadValueError as bad:
            raise source.error(line, bad.problem, bad.remedy) from bad
        yield SupportRecord(query, fact, document, None if relevance < 0 else float(relevance > 0), line)


def read_facts(path: Path | str, *, file_name: str | None = None, max_bytes: int | None = None) -> FactFile:
    """Facts, and the supports in the same file: TREC diversity qrels, records of our own, nuggets as
    nuggetizer and TREC RAG have them, a nugget bank, or the reference answers of Ragas or DeepEval. Records
    are JSON lines, a JSON array or CSV.

    Raises FormatError for what is none of these, for a fact id that comes twice in a query, and for two
    verdicts on one fact and document.
    """
    source = source_of(path, file_name, max_bytes)
    supports, has_ids = support_frame(), False
    first, records = _records(source)
    if first is None:
        (facts, supports), has_ids = read_diversity(source), True
    elif "nuggets" in first:
        facts, assigned = read_nuggets(source, records)
        supports = support_frame(assigned)
    elif "nugget_bank" in first:
        facts = list(read_bank(source, records))
    elif has_reference(first):
        facts = list(read_references(source, records))
    else:
        facts, has_ids = list(facts_of(source, records)), True
    kept, notes = unique_supports(source, supports)
    return FactFile(unique_facts(source, facts), kept, notes, has_ids)


def read_supports_of(
    facts: Sequence[FactRecord],
    path: Path | str,
    *,
    file_name: str | None = None,
    max_bytes: int | None = None,
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Supports of these facts as a frame, each once, from our own JSON lines or diversity qrels; notes."""
    source = source_of(path, file_name, max_bytes)
    first, records = _records(source)
    if first is not None:
        return unique_supports(source, support_frame(read_supports(source, records, facts)))
    named, supports = read_diversity(source)
    fact_ids = {(fact.query_id, fact.fact_id) for fact in facts}
    for one in named:
        if (one.query_id, one.fact_id) not in fact_ids:
            problem = f"query {one.query_id} has no fact {one.fact_id}"
            raise source.error(one.line, problem, "Name facts of the facts file.")
    return unique_supports(source, supports)


def _records(source: Source) -> tuple[Mapping[str, Any] | None, Iterator[Record]]:
    """The first record, and all of them: of JSON lines, an array or CSV; None for lines of text."""
    start = first_sign(source)
    if start == "[":
        records = array_records(source)
    elif start == "{":
        records = json_line_records(source)
    elif source.format == "csv":
        records = delimited_records(source)
    else:
        return None, iter(())
    first = next(records, None)
    if first is None:
        raise source.empty()
    return first[1], chain([first], records)
