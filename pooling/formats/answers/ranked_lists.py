"""Ranked lists inside JSON: ids, pairs of id and score, or records, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.names import HIT_ID, HIT_SCORE, LISTS, QUERY, RELEVANCE, column_named
from pooling.formats.values import BadValueError

SHAPES = "Write {query: {document: number}}, or {query: [document, …]} with the best first."


def pairs_in(entries: Any, kind: str) -> list[tuple[Any, Any]]:
    """(document, number) of each entry of a list, in order. Without numbers a document of a run has -rank,
    and one of qrels is relevant.

    BadValueError for anything else, and where only some entries have a number.
    """
    if not isinstance(entries, list | tuple):
        raise BadValueError("neither an object nor a list", SHAPES)
    pairs = [_pair(entry, kind) for entry in entries]
    missing = sum(number is None for _, number in pairs)
    if missing and missing == len(pairs):
        return [(document, -rank if kind == "run" else 1) for rank, (document, _) in enumerate(pairs, 1)]
    if missing:
        raise BadValueError(f"{missing:,} of {len(pairs):,} entries have no number", "Give all of them one.")
    return pairs


def _pair(entry: Any, kind: str) -> tuple[Any, Any]:
    if isinstance(entry, Mapping):
        names = [name for name in entry if isinstance(name, str)]
        document = column_named(names, HIT_ID)
        number = column_named(names, HIT_SCORE if kind == "run" else (*RELEVANCE, "_score"))
        if document is None:
            raise BadValueError(
                f"an entry without an id among {excerpt(', '.join(names), 80)}", "Name it _id."
            )
        return entry[document], None if number is None else entry[number]
    if isinstance(entry, list | tuple):
        if len(entry) != 2:
            raise BadValueError(f"{excerpt(entry)} is no pair of id and number", SHAPES)
        return entry[0], entry[1]
    return entry, None


def list_of_record(record: Mapping[str, Any]) -> tuple[Any, Sequence[Any]] | None:
    """The query and the ranked list of a record that has both, such as {"query_id": …, "results": […]}."""
    query, results = column_named(record, QUERY), column_named(record, LISTS)
    if query is None or results is None or not isinstance(record[results], list):
        return None
    return record[query], record[results]
