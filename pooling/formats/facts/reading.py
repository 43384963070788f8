"""Reading facts and supports in whatever format they come; the content tells which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pooling.formats.facts.diversity import read_diversity
from pooling.formats.facts.nuggets import read_bank, read_nuggets
from pooling.formats.facts.own import facts_of, read_supports
from pooling.formats.facts.records import (
    FactFile,
    FactRecord,
    support_frame,
    unique_facts,
    unique_supports,
)
from pooling.formats.facts.references import has_reference, read_references
from pooling.formats.judgments.elements import first_sign
from pooling.formats.kinds.delimited import delimited_records
from pooling.formats.kinds.json_lines import json_line_records
from pooling.formats.kinds.ranx import array_records
from pooling.formats.registry import Record, source_of
from pooling.formats.sources import Source
from pooling.heavy import pl


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
    """Supports of these facts as a frame, each once, from JSON lines of our own or TREC diversity qrels; and
    notes."""
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
    """The first record, for a look, and all of them: JSON lines or an array, whatever the file is called, or
    CSV. None for lines of text."""
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
