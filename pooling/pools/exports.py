"""A pool as a file: the table that the command `pool` prints, and tasks for people who judge elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from django.db.models import QuerySet

from pooling.interface.problems import InputError
from pooling.models import Pool, PoolEntry, Query
from pooling.pools.building import TSV, pool_lines

BATCH = 500


@dataclass(frozen=True)
class PoolFormat:
    title: str
    suffix: str
    media_type: str
    make: Callable[[Pool], Iterator[str]]


def label_studio_tasks(pool: Pool) -> Iterator[str]:
    """A JSON list with a task for each chosen pair: ids, the query and the document's text.

    People who judge must not see what a run thought of a document: neither rank nor score is in it, nor
    whether an answer is known, and the documents of a query come in an order drawn from their ids.
    `InputError` at once where there is none.
    """
    queries = Query.objects.filter(pool_entries__pool=pool).distinct().order_by("pk")
    chosen = pool.entries.filter(document__deleted_at=None, inclusion_probability__isnull=False)
    if not chosen.filter(query__in=queries.order_by()).exists():
        problem = f"Pool “{pool.name}” has no pair to judge whose query and document are there"
        raise InputError(f"{problem}, so the file would be empty. Restore them, or choose another pool.")
    return _tasks(queries, chosen)


def _tasks(queries: QuerySet[Query], chosen: QuerySet[PoolEntry]) -> Iterator[str]:
    yield "["
    number = 0
    for query in queries.iterator(BATCH):
        keys = dict(chosen.filter(query=query).values_list("pk", "document__external_id"))
        shuffled_keys = sorted(
            keys, key=lambda key: sha256(f"{query.external_id}\n{keys[key]}".encode()).digest()
        )
        for start in range(0, len(shuffled_keys), BATCH):
            some = PoolEntry.objects.select_related("document").in_bulk(shuffled_keys[start : start + BATCH])
            for key in shuffled_keys[start : start + BATCH]:
                yield (",\n" if number else "\n") + json.dumps(_task(query, some[key]), ensure_ascii=False)
                number += 1
    yield "\n]\n"


def _task(query: Query, entry: PoolEntry) -> dict[str, dict[str, str]]:
    document = entry.document
    return {
        "data": {
            "query_id": query.external_id,
            "query": query.text,
            "narrative": query.narrative,
            "document_id": document.external_id,
            "title": document.title,
            "text": document.text or "",
        }
    }


POOL_FILES = {
    "tsv": PoolFormat("TSV", ".tsv", TSV, pool_lines),
    "label-studio": PoolFormat(
        "Label Studio tasks", "-label-studio.json", "application/json", label_studio_tasks
    ),
}


def pool_file(format: str) -> PoolFormat:
    """The format of this name; `InputError` when there is none."""
    if format not in POOL_FILES:
        problem = f"There is no format “{format}”. Choose one of {', '.join(POOL_FILES)}."
        raise InputError(problem, field="format")
    return POOL_FILES[format]
