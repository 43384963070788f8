"""Gold questions from a file: checked against the collection, then stored whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse

from labeling.gold.questions import LONGEST_REASON, follow_gold
from labeling.models import GoldQuestion
from pooling.formats.errors import FormatError
from pooling.formats.gold import GoldRecord, read_gold
from pooling.interface.results import Imported, Progress
from pooling.models import Collection
from pooling.people.activity_log import record_action
from pooling.storage.imports import importer
from pooling.storage.storing import disk_errors_named, keys_of, tell_the_planner
from pooling.texts.importing import lock

BATCH = 1000


@dataclass(frozen=True)
class GoldImport(Imported):
    """Result of an import of gold questions."""

    created: int
    # Never the answer.
    changed: Annotated[int, "Questions whose reason or use changed."]
    unchanged: int
    words = "Gold questions"

    def __str__(self) -> str:
        parts = [f"{self.created:,} new"]
        if self.changed:
            parts.append(f"{self.changed:,} changed")
        return ", ".join([*parts, f"{self.unchanged:,} as before"])


@importer("gold", title="Importing gold questions", begins_at="gold_import")
def import_gold(
    collection: Collection,
    path: Path,
    *,
    file_name: str | None = None,
    user: User | None = None,
    progress: Progress | None = None,
) -> GoldImport:
    """Store the gold questions of a CSV, TSV or JSON lines file.

    One that is there already takes over reason and use, and is active again. FormatError with file and
    line for an unknown query or document, and for an answer that contradicts the stored one.
    """
    path = Path(path)
    place = file_name or path.name
    records = read_gold(path, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES)
    with disk_errors_named(), transaction.atomic():
        lock(collection)
        queries = keys_of(collection.queries, [record.query for record in records])
        documents = keys_of(collection.documents, [record.document for record in records])
        stored = {
            (question.query_id, question.document_id): question
            for question in GoldQuestion.objects.filter(collection=collection)
        }
        new, changed = [], []
        for record in records:
            problem, remedy = _problem_with(record, queries, documents)
            if problem:
                raise FormatError(place, record.line, problem, remedy)
            pair = queries[record.query], documents[record.document]
            question = stored.get(pair)
            if question is None:
                new.append(_question(collection, record, pair, user))
            elif question.answer != record.answer:
                problem = f"the answer is {record.answer} here and {question.answer} in the collection"
                remedy = "Keep one: “Change the answer” on its page changes the stored one."
                raise FormatError(place, record.line, problem, remedy)
            elif _took_over(question, record):
                changed.append(question)
        GoldQuestion.objects.bulk_create(new, batch_size=BATCH)
        tell_the_planner(GoldQuestion, len(new))
        GoldQuestion.objects.bulk_update(changed, ["reason", "practice", "active"], batch_size=200)
        follow_gold(collection)
        facts = {"new": len(new), "changed": len(changed)}
        record_action(collection, user, "gold questions imported", place, **facts)
    unchanged = len(records) - len(new) - len(changed)
    return GoldImport(len(new), len(changed), unchanged, page=reverse("gold", args=[collection.slug]))


def _problem_with(record: GoldRecord, queries: dict[str, int], documents: dict[str, int]) -> tuple[str, str]:
    if record.query not in queries:
        return f"there is no query “{record.query}” in the collection", "Import the queries first."
    if record.document not in documents:
        return f"there is no document “{record.document}” in the collection", "Import the documents first."
    if len(record.reason) > LONGEST_REASON or "\0" in record.reason:
        return f"the reason has more than {LONGEST_REASON:,} characters or a NUL", "Shorten it."
    return "", ""


def _question(
    collection: Collection, record: GoldRecord, pair: tuple[int, int], user: User | None
) -> GoldQuestion:
    """A new question; `pair` is the keys of its query and document."""
    return GoldQuestion(
        collection=collection,
        query_id=pair[0],
        document_id=pair[1],
        answer=record.answer,
        reason=record.reason,
        practice=record.practice,
        origin=GoldQuestion.Origin.IMPORTED,
        created_by=user,
    )


def _took_over(question: GoldQuestion, record: GoldRecord) -> bool:
    """Take the file's values over; True where the stored question differed."""
    facts = {"reason": record.reason or question.reason, "practice": record.practice, "active": True}
    differs = any(getattr(question, name) != value for name, value in facts.items())
    for name, value in facts.items():
        setattr(question, name, value)
    return differs
