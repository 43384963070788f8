"""TREC diversity qrels: `topic subtopic docno rel`; a subtopic is a fact without its text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from pooling.formats.errors import excerpt
from pooling.formats.facts.records import FactRecord, SupportRecord
from pooling.formats.sources import Source

Row: TypeAlias = tuple[int, str, str, str, int]


def read_diversity(source: Source) -> tuple[list[FactRecord], list[SupportRecord]]:
    """Every subtopic of the file, in its order; rel above 0 supports, below 0 is pooled, not judged."""
    facts: dict[tuple[str, str], FactRecord] = {}
    supports = []
    for line, query, fact, document, relevance in _rows(source):
        facts.setdefault((query, fact), FactRecord(query, fact, line=line))
        weight = None if relevance < 0 else float(relevance > 0)
        supports.append(SupportRecord(query, fact, document, weight, line))
    return list(facts.values()), supports


def _rows(source: Source) -> Iterator[Row]:
    for line, text in source.text_lines():
        fields = text.replace("\t", " ").split(" ")
        fields = [one for one in fields if one]
        if not fields or (fields[0].startswith("#") and len(fields) != 4):
            continue
        if len(fields) != 4:
            problem = f"{len(fields)} fields; diversity qrels have 4: topic, subtopic, document, label"
            raise source.error(line, problem, "Give such a file, or facts as JSON lines.")
        query, fact, document, label = fields
        digits = label.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal()):
            raise source.error(
                line, f"the label {excerpt(label)} is not a whole number", "Write 0, 1 or more."
            )
        yield line, query, fact, document, int(label[:10])
