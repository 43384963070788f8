"""Queries and documents: imported in one transaction, so that a file with an error stores nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse

from pooling.formats import DocumentRecord, QueryRecord, iterate_documents, read_queries
from pooling.formats.records import FieldsRead
from pooling.formats.wording import counted, plural
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.interface.results import PAGE_ONLY, Imported, Progress
from pooling.models import Collection, Document, PoolEntry, Query, TextImport
from pooling.ranking.shared_ids import EXAMPLES, TRIED, examples_of, offered
from pooling.search_models import TextIndex
from pooling.storage.imports import FIRST_ROWS, PreviewTable, Showing, importer
from pooling.storage.staging import Staged, staged
from pooling.storage.storing import check_id, check_text, disk_errors_named, tell_the_planner
from pooling.texts.taking_back import MOST_NAMED
from pooling.tidying.doing import bring_back
from pooling.tidying.kinds import undo_address

BATCH, BATCH_CHARACTERS = 1000, 8_000_000
BATCHES_BETWEEN_REPORTS = 20
STAGED_DOCUMENT = {"line": "whole", "id": "text", "title": "text", "text": "text", "metadata": "json"}
_REPEATS = """
    SELECT COALESCE(MIN(CASE WHEN again.line > first.line THEN again.line END), MIN(again.line)), again.id
    FROM staged_documents again
    JOIN (SELECT id, MIN(line) AS line FROM staged_documents GROUP BY id HAVING COUNT(*) > 1) first
    ON first.id = again.id
    GROUP BY again.id ORDER BY 1, again.id LIMIT 1
"""
# The version counts up when title or text change; an error of the file has been told by now.
_UPDATE = """
    UPDATE pooling_document SET
        title = staged.title, text = staged.text, metadata = staged.metadata,
        version = version + CASE WHEN pooling_document.title <> staged.title
            OR pooling_document.text IS NULL OR pooling_document.text <> staged.text THEN 1 ELSE 0 END
    FROM staged_documents staged
    WHERE pooling_document.collection_id = %s AND pooling_document.external_id = staged.id
    AND (pooling_document.title <> staged.title OR pooling_document.text IS NULL
        OR pooling_document.text <> staged.text OR pooling_document.metadata <> staged.metadata)
"""
_INSERT = """
    INSERT INTO pooling_document (collection_id, external_id, title, text, metadata, version, brought_by_id)
    SELECT %s, id, title, text, metadata, 1, %s FROM staged_documents staged WHERE NOT EXISTS (
        SELECT 1 FROM pooling_document known
        WHERE known.collection_id = %s AND known.external_id = staged.id
    )
"""
# Those whose texts the file changes, the first in its order.
_CHANGED = """
    SELECT staged.id FROM pooling_document document
    JOIN staged_documents staged ON staged.id = document.external_id
    WHERE document.collection_id = %s
    AND (document.title <> staged.title OR document.text IS NULL
        OR document.text <> staged.text OR document.metadata <> staged.metadata)
    ORDER BY staged.line LIMIT %s
"""
# Deleted documents that the file brings back.
_IN_FILE = """
    SELECT document.id FROM pooling_document document
    JOIN staged_documents staged ON staged.id = document.external_id
    WHERE document.collection_id = %s AND document.deleted_at IS NOT NULL
"""


@dataclass(frozen=True)
class ImportSummary(Imported):
    """Result of an import of queries or documents."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    left_out: Annotated[int, "Documents that are in no pool."] = 0
    # Deleted before, and in the file.
    restored: Annotated[int, PAGE_ONLY] = 0
    # Neither title nor text, but for blanks; and the first ids of these.
    without_text: Annotated[int, PAGE_ONLY] = 0
    textless_ids: Annotated[tuple[str, ...], PAGE_ONLY] = field(default=(), compare=False)
    fields: Annotated[str, PAGE_ONLY] = field(default="", compare=False)
    # What pooled documents lack after it.
    lacking: Annotated[str, PAGE_ONLY] = field(default="", compare=False)
    import_id: Annotated[int | None, "Delete it to take back the import."] = field(
        default=None, compare=False
    )
    words: Annotated[str, PAGE_ONLY] = field(default="Queries", compare=False)

    def __str__(self) -> str:
        parts = [f"{self.created:,} new", f"{self.changed:,} changed", f"{self.unchanged:,} as before"]
        if self.left_out:
            parts.append(f"{self.left_out:,} in no pool and left out")
        if self.restored:
            parts.append(f"{self.restored:,} deleted before and back now")
        if self.without_text:
            examples = examples_of(pl.Series(self.textless_ids, dtype=pl.String))
            parts.append(f"{self.without_text:,} without a text, such as {examples}")
        return ", ".join(parts)

    @property
    def notes(self) -> list[str]:
        """Sentences on changes that nothing takes back, fields whose names do not say as what they were read,
        and lacking texts."""
        kept = "Nothing takes changes back: to undo them, import the earlier file again."
        last = kept if self.changed and not self.created + self.restored else ""
        return [sentence for sentence in (last, self.fields, self.lacking) if sentence]


def lock(collection: Collection) -> None:
    """Let imports into a collection wait for each other, and for nothing else; needs a transaction."""
    Collection.everything.select_for_update(no_key=True).get(pk=collection.pk)


def import_queries(
    collection: Collection,
    path: Path,
    *,
    file_name: str | None = None,
    user: User | None = None,
    progress: Progress | None = None,
) -> ImportSummary:
    """Import the queries of a file; one that is there already takes over the file's metadata.

    A query's text may change only while no pool contains the query, because judgments hang on what was asked.
    """
    path = Path(path)
    place = file_name or path.name
    fields = FieldsRead()
    records = read_queries(path, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES, fields=fields)
    for record in records:
        check_id(record.id, "query", place)
        check_text(place, "query", record.id, record.text, metadata=record.metadata)
    with disk_errors_named(), transaction.atomic():
        lock(collection)
        made = TextImport(collection=collection, of=TextImport.QUERIES, name=place[-300:], imported_by=user)
        textless = [record.id for record in records if not record.text.strip()]
        return replace(
            _store_queries(made, records, place),
            fields=str(fields),
            without_text=len(textless),
            textless_ids=tuple(textless[:EXAMPLES]),
        )


def _store_queries(made: TextImport, records: list[QueryRecord], place: str) -> ImportSummary:
    collection = made.collection
    everything = Query.everything.filter(collection=collection)
    queries_by_id = {query.external_id: query for query in everything}
    deleted = [query for record in records if (query := queries_by_id.get(record.id)) and query.deleted_at]
    new = [
        Query(
            collection=collection,
            external_id=record.id,
            text=record.text,
            metadata=record.metadata,
            brought_by=made,
        )
        for record in records
        if record.id not in queries_by_id
    ]
    differing = [
        (queries_by_id[record.id], record)
        for record in records
        if record.id in queries_by_id
        and (queries_by_id[record.id].text, queries_by_id[record.id].metadata)
        != (record.text, record.metadata)
    ]
    _refuse_new_wording(differing, place)
    for query, record in differing:
        query.text, query.metadata = record.text, record.metadata
    made.created_count, made.changed_count = len(new) + len(deleted), len(differing)
    made.changed_ids = [query.external_id for query, _ in differing[:MOST_NAMED]]
    made.save()
    Query.objects.bulk_create(new, batch_size=BATCH)
    tell_the_planner(Query, len(new))
    Query.everything.bulk_update([query for query, _ in differing], ["text", "metadata"], batch_size=200)
    bring_back(Query, collection, [query.pk for query in deleted], brought_by=made)
    unchanged = len(records) - len(new) - len(differing)
    return _summary_of(made, unchanged, restored=len(deleted))


def _refuse_new_wording(differing: list[tuple[Query, QueryRecord]], place: str) -> None:
    reworded = [query for query, record in differing if query.text != record.text and query.erased_at is None]
    for batch in _batches(reworded):
        pooled = PoolEntry.objects.filter(query__in=batch).select_related("query").first()
        if pooled is not None:
            raise InputError(
                f"{place}: the text of query “{pooled.query.external_id}” differs from the stored one, and "
                "a pool contains the query. Use a new id for the new wording."
            )


def import_documents(
    collection: Collection,
    path: Path,
    *,
    file_name: str | None = None,
    user: User | None = None,
    only_pooled: bool = False,
    progress: Progress | None = None,
) -> ImportSummary:
    """Import a corpus file of any size, or with `only_pooled` the documents that some pool contains.

    The file is read once, in constant memory, into a table of this connection alone. Only when all of it is
    right, three statements store what it brings: the database is locked for no longer than they take.
    """
    path = Path(path)
    place = file_name or path.name
    progress = progress or (lambda share, detail: None)
    wanted = _pooled_ids(collection) if only_pooled else None
    left_out = total = reported = without_text = 0
    fields, first_ids, textless_ids = FieldsRead(), list[str](), list[str]()
    with disk_errors_named(), staged("staged_documents", STAGED_DOCUMENT) as stage:
        for batch in _weighed_batches(_records(path, file_name, fields)):
            total += len(batch)
            first_ids += [record.id for record in batch[: TRIED - len(first_ids)]]
            rows = [_checked_row(record, place) for record in batch]
            kept = rows if wanted is None else [row for row in rows if row[1] in wanted]
            left_out += len(rows) - len(kept)
            textless = [id for _, id, title, text, _ in kept if not title.strip() and not text.strip()]
            without_text += len(textless)
            textless_ids += textless[: EXAMPLES - len(textless_ids)]
            stage.add(kept)
            if total >= reported + BATCHES_BETWEEN_REPORTS * BATCH:
                reported = total
                progress(min(0.7, total / 10_000_000), f"{counted(total, 'document')} checked.")
        progress(0.7, f"Storing what the {counted(total, 'document')} of the file bring.")
        _refuse_repeats(stage, place)
        stage.settle()
        with transaction.atomic():
            lock(collection)
            deleted = Document.everything.filter(collection=collection, deleted_at__isnull=False)
            named = [key for (key,) in stage.rows(_IN_FILE, [collection.pk])] if deleted.exists() else []
            made = TextImport(collection=collection, of=TextImport.DOCUMENTS, name=place[-300:])
            made.imported_by = user
            made.changed_ids = [id for (id,) in stage.rows(_CHANGED, [collection.pk, MOST_NAMED])]
            made.save()
            changed = stage.run(_UPDATE, [collection.pk])
            created = stage.run(_INSERT, [collection.pk, made.pk, collection.pk])
            tell_the_planner(Document, created)
            if created or changed:
                TextIndex.objects.filter(collection=collection).update(is_behind=True)
            bring_back(Document, collection, named, brought_by=made)
            made.created_count, made.changed_count = created + len(named), changed
            made.save(update_fields=["created_count", "changed_count"])
    unchanged = total - left_out - created - changed
    summary = _summary_of(made, unchanged, left_out=left_out, restored=len(named))
    lacking = _lacking_texts(collection, first_ids)
    summary = replace(summary, without_text=without_text, textless_ids=tuple(textless_ids))
    return replace(summary, fields=str(fields), lacking=lacking)


def _lacking_texts(collection: Collection, first_ids: list[str]) -> str:
    """A sentence on documents of pools that have no text after the import of a file with these ids."""
    textless = collection.documents.filter(text__isnull=True)
    ids = pl.Series(list(textless.order_by("pk").values_list("external_id", flat=True)[:TRIED]))
    if ids.is_empty() or not first_ids:
        return ""
    count, there = textless.count(), pl.Series(first_ids)
    offer = offered(ids, there)
    would = f" {offer.words}, {100 * offer.share:.0f} % would match." if offer else ""
    return (
        f"{counted(count, 'pooled document')} still {plural(count, 'has', 'have')} no text, such as "
        f"{examples_of(ids)}; the file has {examples_of(there)}.{would}"
    )


def _summary_of(made: TextImport, unchanged: int, *, restored: int, left_out: int = 0) -> ImportSummary:
    """The result of an import; nothing takes back one that created nothing."""
    words = "Queries" if made.of == TextImport.QUERIES else "Documents"
    return ImportSummary(
        made.created_count - restored,
        made.changed_count,
        unchanged,
        left_out,
        restored,
        import_id=made.pk if made.created_count else None,
        words=words,
        page=reverse(words.lower(), args=[made.collection.slug]),
        undo=undo_address(made.collection, "import", made.pk) if made.created_count else "",
    )


def _records(path: Path, file_name: str | None, fields: FieldsRead) -> Iterator[DocumentRecord]:
    return iterate_documents(path, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES, fields=fields)


def _pooled_ids(collection: Collection) -> set[str]:
    pooled = PoolEntry.objects.filter(pool__collection=collection)
    return set(pooled.values_list("document__external_id", flat=True).distinct().iterator())


def _checked_row(record: DocumentRecord, file_name: str) -> tuple[int, str, str, str, str]:
    """A row of STAGED_DOCUMENT; metadata are written in one order, so that equal ones are equal texts."""
    place = f"{file_name}, line {record.line}"
    id, title, text, metadata, line = record
    check_id(id, "document", place)
    check_text(place, "document", id, title, text, metadata=metadata)
    return line, id, title, text, json.dumps(metadata, sort_keys=True) if metadata else "{}"


def _refuse_repeats(stage: Staged, file_name: str) -> None:
    """`InputError` names the first line whose document stood in the file before."""
    for line, id in stage.rows(_REPEATS):
        raise InputError(f"{file_name}, line {line}: document “{id}” is in the file twice. Keep one.")


def _weighed_batches(records: Iterable[DocumentRecord]) -> Iterator[list[DocumentRecord]]:
    """Batches of this many records, or of this many characters and one record more."""
    batch: list[DocumentRecord] = []
    characters = 0
    for record in records:
        batch.append(record)
        characters += len(record.text) + len(record.title)
        if len(batch) == BATCH or characters > BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _query_preview(collection: Collection, path: Path, file_name: str) -> list[PreviewTable]:
    fields = FieldsRead()
    records = read_queries(path, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES, fields=fields)
    rows = [(record.id, record.text) for record in records[:FIRST_ROWS]]
    return [PreviewTable("First queries", ("Query", "Text"), rows, len(records), note=str(fields))]


def _document_preview(collection: Collection, path: Path, file_name: str) -> list[PreviewTable]:
    rows: list[tuple[str, ...]] = []
    count = 0
    fields = FieldsRead()
    for count, record in enumerate(_records(path, file_name, fields), 1):
        if count <= FIRST_ROWS:
            rows.append((record.id, record.title, record.text[:200]))
    return [
        PreviewTable("First documents", ("Document", "Title", "Text begins"), rows, count, note=str(fields))
    ]


importer("queries", showing=Showing(_query_preview), title="Importing queries", begins_at="queries")(
    import_queries
)
importer(
    "documents",
    showing=Showing(_document_preview),
    title="Importing documents",
    stages=((0.0, "Check the file"), (0.7, "Store the documents")),
    begins_at="documents",
)(import_documents)
