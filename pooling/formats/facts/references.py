"""Reference answers as Ragas and DeepEval keep them: each sentence is a proposal for a fact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pooling.formats.errors import excerpt
from pooling.formats.facts.own import text_of
from pooling.formats.facts.records import FactRecord
from pooling.formats.registry import Record
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source

QUESTIONS: Final = ("user_input", "question", "input")
REFERENCES: Final = ("reference", "ground_truth", "expected_output")
_END_OF_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")


def has_reference(record: Mapping[str, Any]) -> bool:
    """A record that looks like a question with its reference answer."""
    return _named(record, QUESTIONS) is not None and _named(record, REFERENCES) is not None


def read_references(source: Source, records: Iterable[Record]) -> Iterator[FactRecord]:
    """A fact for each sentence of each reference. The query id is `query_id` where a record has one, else the
    question itself; facts are numbered from 1 in each query.
    """
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
