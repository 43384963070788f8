"""Labels from a qrels file: checked against the collection, then stored whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, QuerySet
from django.urls import reverse
from django.utils import timezone

from labeling.models import ImportedLabel, LabelFile, WithdrawnLabel
from labeling.qrels.labels import PAIR, current_labels
from pooling.formats import read_qrels
from pooling.formats.wording import counted, plural
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.interface.results import PAGE_ONLY, Imported, Progress
from pooling.models import Collection, Document, Query
from pooling.people.activity_log import record_action
from pooling.ranking.shared_ids import offered
from pooling.runs.known_documents import notes_on_documents
from pooling.storage.frames import PAIR_IDS, rows_frame
from pooling.storage.imports import FIRST_ROWS, PreviewTable, Showing, importer
from pooling.storage.storing import check_id, disk_errors_named, keys_of, sha256_of, tell_the_planner
from pooling.texts.by_text import with_ids
from pooling.texts.importing import lock

# Where a file of labels says something else than the labels there are, and what an import makes of it.


SOURCES = {"human": "judged here", "adjudicated": "adjudicated here", "gold": "gold question"}
COLUMNS = ("Query", "Document", "In the file", "Here", "From")


def label_preview(collection: Collection, path: Path, file_name: str) -> list[PreviewTable]:
    """The first labels of a qrels file, and those that conflict with labels there are, by their outcome."""
    frame = read_qrels(path, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES).frame
    frame, _ = with_ids(collection, frame.select(*PAIR, "relevance"), file_name)
    imports = ImportedLabel.objects.filter(collection=collection, relevance__gte=0)
    return [
        *_table(
            "Contradict an earlier import",
            "Nothing can be imported while these differ: correct the file, or take back the earlier import "
            "under Qrels.",
            _differing(frame, rows_frame(imports, **PAIR_IDS, here="relevance", source="source_name")),
        ),
        *_table(
            "Contradict labels made here",
            "The label made here stays and counts. The file’s label is kept, and counts only if the verdicts "
            "here no longer do.",
            _against_people(frame, _made_here(collection)),
        ),
        PreviewTable("First labels", COLUMNS[:3], _rows(frame), frame.height),
    ]


def _against_people(frame: pl.DataFrame, made_here: pl.DataFrame) -> pl.DataFrame:
    labels = made_here.rename({"relevance": "here"})
    named = labels.with_columns(pl.col("source").replace(SOURCES))
    # People say relevant or not; files may have grades.
    both = frame.with_columns(grade=pl.col("relevance").clip(upper_bound=1))
    return _differing(both, named, by="grade").drop("grade")


def _made_here(collection: Collection) -> pl.DataFrame:
    return current_labels(collection).frame.filter(pl.col("source") != "imported")


def _differing(frame: pl.DataFrame, others: pl.DataFrame, by: str = "relevance") -> pl.DataFrame:
    labels = frame.filter(pl.col("relevance") >= 0)
    return labels.join(others, on=PAIR, maintain_order="left").filter(pl.col(by) != pl.col("here"))


def _rows(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    return [tuple(map(str, row)) for row in frame.head(FIRST_ROWS).iter_rows()]


def _table(heading: str, note: str, frame: pl.DataFrame) -> list[PreviewTable]:
    if frame.is_empty():
        return []
    return [PreviewTable(heading, COLUMNS, _rows(frame), frame.height, note, asks=True)]


GRADES_UNUSED = (
    "The grade above 1 of {labels} is not used: people judged or settled these pairs here, "
    "and their label is 0 or 1."
)
UNLISTED = "documents that no label names count as not relevant"
BATCH = 5000
MOST_NAMED = 5

Row = tuple[str, str, int]


@dataclass(frozen=True)
class QrelsImport(Imported):
    """Result of an import of labels."""

    created: int
    changed: Annotated[int, "Pairs previously “pooled, not judged” that now have a label."]
    unchanged: int
    left_out: Annotated[int, "Labels of queries that are not in the collection."]
    new_documents: Annotated[int, "Created without text."]
    notes: Annotated[list[str], "Notes about the file."]
    # Queries for which no file was declared complete before.
    declared: Annotated[int, PAGE_ONLY] = 0
    words = "Labels"

    def __str__(self) -> str:
        parts = [f"{self.created:,} new"]
        if self.changed:
            parts.append(f"{self.changed:,} now judged that were only pooled")
        parts.append(f"{self.unchanged:,} as before")
        if self.left_out:
            parts.append(f"{self.left_out:,} of unknown queries left out")
        if self.new_documents:
            parts.append(f"{counted(self.new_documents, 'unknown document')} added without text")
        return ", ".join(parts)


@importer("qrels", showing=Showing(label_preview), title="Importing qrels", begins_at="qrels_import")
def import_qrels(
    collection: Collection,
    path: Path,
    *,
    file_name: str | None = None,
    user: User | None = None,
    progress: Progress | None = None,
    complete: bool = False,
) -> QrelsImport:
    """Store the labels of a qrels file; a negative relevance is kept as "pooled, not judged".

    complete: the file names all that is relevant to its queries, so that unlisted documents count as not
    relevant for them.

    Labels of queries that the collection does not have are left out and counted, unless it has none of
    them, which is an error. Unknown documents are created without text. A label that contradicts an earlier
    import is an error; one that was only pooled before takes the new label.
    """
    path = Path(path)
    place = file_name or path.name
    read = read_qrels(path, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES)
    frame, text_notes = with_ids(collection, read.frame, place)
    rows = list(frame.iter_rows())
    file = LabelFile(collection=collection, name=place[-300:], sha256=sha256_of(path), imported_by=user)
    with disk_errors_named(), transaction.atomic():
        lock(collection)
        # Labels of what is deleted are kept, and count when that is restored.
        queries = dict(Query.everything.filter(collection=collection).values_list("external_id", "pk"))
        kept_rows = [row for row in rows if row[0] in queries]
        if not kept_rows:
            raise InputError(_no_query_here(collection, rows, place))
        strangers = notes_on_documents(
            collection, pl.DataFrame({"document_id": [row[1] for row in kept_rows]}), if_few=True
        )
        documents, created = _documents(collection, [row[1] for row in kept_rows], place)
        pairs = {(queries[query], documents[document]): relevance for query, document, relevance in kept_rows}
        new, changed = _against_earlier(collection, pairs, place)
        file.complete_for = sorted({row[0] for row in kept_rows}) if complete else []
        declared, declaration = _declaration(file, kept_rows)
        file.save()
        _store(file, pairs, new, changed)
        facts = {"labels": len(new) + len(changed), **({"complete": True} if complete else {})}
        record_action(collection, user, "labels imported", file.name, **facts)
        beside_people = _beside_people(collection, frame)
    return QrelsImport(
        created=len(new),
        changed=len(changed),
        unchanged=len(pairs) - len(new) - len(changed),
        left_out=len(rows) - len(kept_rows),
        new_documents=created,
        notes=[
            *(*declaration, *read.notes, *text_notes),
            *(*_left_out_note(rows, queries), *strangers, *beside_people),
        ],
        declared=declared,
        page=reverse("releases", args=[collection.slug]),
        undo=reverse("qrels_withdraw", args=[collection.slug, file.pk]) if new or changed or declared else "",
    )


def _declaration(file: LabelFile, rows: list[Row]) -> tuple[int, list[str]]:
    """For how many queries labels are complete by this file alone, and what its declaration does."""
    if not file.complete_for:
        return 0, []
    earlier = file.collection.label_files.filter(withdrawn_at=None).values_list("complete_for", flat=True)
    declared = len(set(file.complete_for).difference(*earlier))
    notes = [f"Declared complete for {counted(len(file.complete_for), 'query')}: {UNLISTED}."]
    if before := len(file.complete_for) - declared:
        notes.append(f"{counted(before, 'query')} {plural(before, 'was', 'were')} declared complete before.")
    relevant = {query for query, _, relevance in rows if relevance > 0}
    if lacking := [query for query in file.complete_for if query not in relevant]:
        have = plural(len(lacking), "has", "have")
        notes.append(
            f"{counted(len(lacking), 'query')} {have} no relevant label in the file ({_named(lacking)}): "
            f"a mean that needs one leaves {plural(len(lacking), 'it', 'them')} out."
        )
    return declared, notes


def label_files(collection: Collection) -> QuerySet[LabelFile]:
    """The imports of labels, newest first, each with its `label_count`, taken back or not."""
    files = collection.label_files.select_related("imported_by")
    counts = {name: Count(name, distinct=True) for name in ("labels", "withdrawn")}
    return files.annotate(label_count=counts["labels"] + counts["withdrawn"])


def _no_query_here(collection: Collection, rows: list[Row], place: str) -> str:
    ids = list(dict.fromkeys(row[0] for row in rows))
    theirs = list(collection.queries.order_by("pk").values_list("external_id", flat=True))
    offer = offered(pl.Series(ids), pl.Series(theirs, dtype=pl.String))
    would = f"{offer.words}, {100 * offer.share:.0f} % would match. " if offer else ""
    has = f"it has {_named(theirs)}. " if theirs else ""
    return (
        f"{place}: “{collection.slug}” has none of the {len(ids):,} queries of this file ({_named(ids)}); "
        f"{has}{would}Import its queries first."
    ).replace("; Import", ". Import")


def _left_out_note(rows: list[Row], queries: dict[str, int]) -> list[str]:
    ids = list(dict.fromkeys(row[0] for row in rows if row[0] not in queries))
    return [f"Not in the collection: {len(ids):,} of the file's queries ({_named(ids)})."] if ids else []


def _beside_people(collection: Collection, frame: pl.DataFrame) -> list[str]:
    if not (collection.judgments.exists() or collection.gold_questions.exists()):
        return []
    notes, made_here = [], _made_here(collection)
    if (against := _against_people(frame, made_here)).height:
        pair = "query {}, document {}".format(*against.row(0)[:2])
        labels = f"{counted(against.height, 'label')} {plural(against.height, 'contradicts', 'contradict')}"
        notes.append(f"{labels} labels made here, which stay and count ({pair}).")
    graded = frame.filter(pl.col("relevance") > 1)
    if many := graded.join(made_here, on=PAIR, how="semi").height if graded.height else 0:
        notes.append(GRADES_UNUSED.format(labels=counted(many, "label")))
    return notes


def _named(ids: list[str]) -> str:
    return ", ".join(ids[:MOST_NAMED]) + (", …" if len(ids) > MOST_NAMED else "")


def _documents(collection: Collection, ids: list[str], place: str) -> tuple[dict[str, int], int]:
    """Keys of the documents by id, and how many had to be created."""
    wanted = list(dict.fromkeys(ids))
    documents = keys_of(Document.everything.filter(collection=collection), wanted)
    missing = [document for document in wanted if document not in documents]
    for document in missing:
        check_id(document, "document", place)
    created = Document.objects.bulk_create(
        (Document(collection=collection, external_id=document) for document in missing), batch_size=BATCH
    )
    tell_the_planner(Document, len(created))
    documents.update((one.external_id, one.pk) for one in created)
    return documents, len(created)


def _against_earlier(
    collection: Collection, pairs: dict[tuple[int, int], int], place: str
) -> tuple[list[tuple[int, int]], list[ImportedLabel]]:
    """New pairs, and changed labels; a contradiction is refused."""
    earlier = {
        (label.query_id, label.document_id): label
        for label in ImportedLabel.objects.filter(collection=collection).select_related("file").iterator()
    }
    changed = []
    for pair, relevance in pairs.items():
        label = earlier.get(pair)
        if label is None or relevance < 0 or label.relevance == relevance:
            continue
        if label.relevance >= 0:
            raise InputError(_contradiction(label, relevance, place))
        changed.append(label)
    return [pair for pair in pairs if pair not in earlier], changed


def _contradiction(label: ImportedLabel, relevance: int, place: str) -> str:
    return (
        f"{place}: query {label.query.external_id}, document {label.document.external_id} has relevance "
        f"{relevance} here and {label.relevance} in “{label.source_name}”, imported before. Keep one of them."
    )


def _store(
    file: LabelFile,
    pairs: dict[tuple[int, int], int],
    new: list[tuple[int, int]],
    changed: list[ImportedLabel],
) -> None:
    source = {"source_name": file.name, "sha256": file.sha256, "imported_by": file.imported_by, "file": file}
    ImportedLabel.objects.bulk_create(
        (
            ImportedLabel(
                collection=file.collection,
                query_id=query,
                document_id=document,
                relevance=pairs[query, document],
                **source,
            )
            for query, document in new
        ),
        batch_size=BATCH,
    )
    tell_the_planner(ImportedLabel, len(new))
    for label in changed:
        label.pooled_as, label.pooled_by = label.relevance, label.file
        label.relevance = pairs[label.query_id, label.document_id]
        for name, value in source.items():
            setattr(label, name, value)
    fields = ["relevance", "pooled_as", "pooled_by", *source]
    ImportedLabel.objects.bulk_update(changed, fields, batch_size=200)


def withdraw_labels(file: LabelFile, *, by: User | None = None) -> int:
    """Take back what an import brought, and say how many labels that were.

    A pair that an earlier file had as pooled, not judged, is that again. Releases, queues and documents that
    came with the file stay as they are. `InputError` if the import was taken back before.
    """
    with transaction.atomic():
        lock(file.collection)
        file.refresh_from_db()
        if file.withdrawn_at:
            raise InputError(f"The import of “{file.name}” was taken back before.", conflict=True)
        labels = list(ImportedLabel.objects.filter(file=file).select_related("pooled_by"))
        kept = (
            WithdrawnLabel(
                file=file, query_id=one.query_id, document_id=one.document_id, relevance=one.relevance
            )
            for one in labels
        )
        WithdrawnLabel.objects.bulk_create(kept, batch_size=BATCH)
        _as_before([label for label in labels if label.pooled_by and not label.pooled_by.withdrawn_at])
        ImportedLabel.objects.filter(file=file).delete()
        file.withdrawn_at, file.withdrawn_by = timezone.now(), by
        file.save(update_fields=["withdrawn_at", "withdrawn_by"])
        record_action(file.collection, by, "import of labels taken back", file.name, labels=len(labels))
    return len(labels)


def _as_before(labels: list[ImportedLabel]) -> None:
    for label in labels:
        earlier = label.pooled_by
        assert earlier is not None
        assert label.pooled_as is not None
        label.relevance, label.pooled_as = label.pooled_as, None
        label.file, label.pooled_by = earlier, None
        label.source_name, label.sha256 = earlier.name, earlier.sha256
        label.imported_by = earlier.imported_by
    fields = ["relevance", "pooled_as", "file", "pooled_by", "source_name", "sha256", "imported_by"]
    ImportedLabel.objects.bulk_update(labels, fields, batch_size=200)
