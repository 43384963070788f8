"""Queries and documents: imported in one transaction, so that a file with an error stores nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from pooling.models import Collection, Document, PoolEntry, Query
from pooling.problems import InputError
from pooling.storing import check_id, check_text, disk_errors_named, insert_rows, tell_the_planner

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from pooling.formats import DocumentRecord, QueryRecord

BATCH = 1000
BATCHES_BEFORE_STATISTICS = 10

Report = Callable[[float, str], None]


@dataclass(frozen=True)
class ImportSummary:
    """What an import did, counted in rows; `left_out` are documents that no pool contains."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    left_out: int = 0

    def to_dict(self) -> dict[str, int]:
        """The counts as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        parts = [f"{self.created:,} new", f"{self.changed:,} changed", f"{self.unchanged:,} as before"]
        if self.left_out:
            parts.append(f"{self.left_out:,} in no pool and left out")
        return ", ".join(parts)


def lock(collection: Collection) -> None:
    """Let imports into one collection wait for each other; needs a transaction."""
    Collection.objects.select_for_update().get(pk=collection.pk)


def import_queries(
    collection: Collection, path: Path, *, file_name: str | None = None, user: User | None = None
) -> ImportSummary:
    """Import the queries of a file; one that is there already takes over the file's metadata.

    A query's text may change only while no pool contains the query, because judgments hang on what was asked.
    """
    from pooling.formats import read_queries

    path = Path(path)
    place = file_name or path.name
    records = read_queries(path, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES)
    for record in records:
        check_id(record.id, "query", place)
        check_text(place, "query", record.id, record.text, metadata=record.metadata)
    with disk_errors_named(), transaction.atomic():
        lock(collection)
        return _store_queries(collection, records, place)


def _store_queries(collection: Collection, records: list[QueryRecord], place: str) -> ImportSummary:
    known = {query.external_id: query for query in collection.queries.all()}
    new = [
        Query(collection=collection, external_id=record.id, text=record.text, metadata=record.metadata)
        for record in records
        if record.id not in known
    ]
    differing = [
        (known[record.id], record)
        for record in records
        if record.id in known
        and (known[record.id].text, known[record.id].metadata) != (record.text, record.metadata)
    ]
    _refuse_new_wording(differing, place)
    for query, record in differing:
        query.text, query.metadata = record.text, record.metadata
    Query.objects.bulk_create(new, batch_size=BATCH)
    Query.objects.bulk_update([query for query, _ in differing], ["text", "metadata"], batch_size=200)
    return ImportSummary(len(new), len(differing), len(records) - len(new) - len(differing))


def _refuse_new_wording(differing: list[tuple[Query, QueryRecord]], place: str) -> None:
    reworded = [query for query, record in differing if query.text != record.text]
    for batch in _batches(reworded):
        pooled = PoolEntry.objects.filter(query__in=batch).select_related("query").first()
        if pooled is not None:
            raise InputError(
                f"{place}: the text of query “{pooled.query.external_id}” differs from the stored one, and "
                "a pool contains the query. Give the new wording a new id."
            )


def import_documents(
    collection: Collection,
    path: Path,
    *,
    file_name: str | None = None,
    only_pooled: bool = False,
    report: Report | None = None,
) -> ImportSummary:
    """Import a corpus file of any size, or with `only_pooled` the documents that some pool contains.

    The file is read twice in constant memory: once to refuse it as a whole if anything is wrong, once to
    store it, so that the database is locked only while there is something to write.
    """
    path = Path(path)
    wanted = _pooled_ids(collection) if only_pooled else None
    report = report or (lambda share, detail: None)
    total = 0
    for total, record in enumerate(_records(path, file_name), start=1):
        _check_document(record, file_name or path.name)
        if total % 50_000 == 0:
            report(min(0.45, total / 10_000_000), f"{total:,} documents checked.")
    report(0.5, f"Storing what the {total:,} documents of the file bring.")
    with disk_errors_named(), transaction.atomic():
        lock(collection)
        return _store_documents(collection, _records(path, file_name), wanted, file_name or path.name)


def _records(path: Path, file_name: str | None) -> Iterator[DocumentRecord]:
    from pooling.formats import iterate_documents

    return iterate_documents(path, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES)


def _pooled_ids(collection: Collection) -> set[str]:
    pooled = PoolEntry.objects.filter(pool__collection=collection)
    return set(pooled.values_list("document__external_id", flat=True).distinct().iterator())


def _check_document(record: DocumentRecord, file_name: str) -> None:
    place = f"{file_name}, line {record.line}"
    check_id(record.id, "document", place)
    check_text(place, "document", record.id, record.title, record.text, metadata=record.metadata)


def _store_documents(
    collection: Collection, records: Iterator[DocumentRecord], wanted: set[str] | None, file_name: str
) -> ImportSummary:
    counts = {"created": 0, "changed": 0, "unchanged": 0, "left_out": 0}
    # A document stored by this very import has a higher key, so repeats are found without keeping every id.
    newest = Document.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    touched: set[int] = set()
    for number, batch in enumerate(_batches(records)):
        if number == BATCHES_BEFORE_STATISTICS:
            tell_the_planner(Document)
        kept = [record for record in batch if wanted is None or record.id in wanted]
        counts["left_out"] += len(batch) - len(kept)
        _store_batch(collection, kept, newest, touched, counts, file_name)
    return ImportSummary(**counts)


def _store_batch(
    collection: Collection,
    records: list[DocumentRecord],
    newest: int,
    touched: set[int],
    counts: dict[str, int],
    file_name: str,
) -> None:
    ids = [record.id for record in records]
    known = {document.external_id: document for document in collection.documents.filter(external_id__in=ids)}
    seen: set[str] = set()
    new, changed = [], []
    for record in records:
        document = known.get(record.id)
        if record.id in seen or (document and (document.pk > newest or document.pk in touched)):
            raise InputError(
                f"{file_name}, line {record.line}: document “{record.id}” stands twice in the file. Keep one."
            )
        seen.add(record.id)
        if document is None:
            new.append((record.id, record.title, record.text, record.metadata))
        else:
            touched.add(document.pk)
            if _take_over(document, record):
                changed.append(document)
    insert_documents(collection, new)
    _update(changed)
    counts["created"] += len(new)
    counts["changed"] += len(changed)
    counts["unchanged"] += len(records) - len(new) - len(changed)


def insert_documents(
    collection: Collection, documents: Iterable[tuple[str, str, str | None, dict[str, Any]]]
) -> None:
    """Create documents from (id, title, text, metadata); a text of None is one that is not known yet."""
    insert_rows(
        Document,
        ("collection", "external_id", "title", "text", "metadata", "version"),
        [
            (collection.pk, id, title, text, json.dumps(metadata), 1)
            for id, title, text, metadata in documents
        ],
    )


def _take_over(document: Document, record: DocumentRecord) -> bool:
    """Put the record's texts into the document and say whether that changed anything."""
    rewritten = (document.title, document.text) != (record.title, record.text)
    if not rewritten and document.metadata == record.metadata:
        return False
    document.version += rewritten
    document.title, document.text, document.metadata = record.title, record.text, record.metadata
    return True


def _update(documents: list[Document]) -> None:
    Document.objects.bulk_create(
        documents,
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["title", "text", "metadata", "version"],
    )


def _batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, BATCH)):
        yield batch
