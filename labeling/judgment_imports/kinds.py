"""Imports of judgments, taken back and restored: their events stay, and count while the import does."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db.models import QuerySet

from labeling.judgment_imports.storing import project, recount_items
from labeling.models import Judgment, JudgmentEvent, JudgmentImport, Queue
from pooling.formats.wording import counted
from pooling.models import Pool
from pooling.texts.importing import lock
from pooling.tidying.kinds import Dependant, Kind, depends_on, register, when

register(
    Kind(
        "judgment-import",
        "judgment-imports",
        JudgmentImport,
        archived="",
        deleted="Its judgments count no longer, and its queues disappear. Documents and people that came "
        "with it stay, and so do releases and reports.",
        list_page="judgments_import",
        immutable="An import is called after its file.",
        words="import of judgments",
        section="queues",
    )
)


@depends_on(JudgmentImport)
def _judgments_of(one: JudgmentImport) -> Sequence[Dependant]:
    many = Judgment.objects.filter(event__brought_by=one).count()
    if not many:
        return []
    consequence = "counts no longer" if many == 1 else "count no longer"
    return [Dependant(counted(many, "judgment"), consequence)]


def queues_of(one: JudgmentImport) -> QuerySet[Queue]:
    return Queue.everything.filter(pool__in=_pools(one))


@when("deleted", JudgmentImport)
def _take_back(one: JudgmentImport, by: User | None) -> None:
    lock(one.collection)
    facts = {"deleted_at": one.deleted_at, "deleted_by": by}
    queues_of(one).filter(deleted_at=None).update(**facts)
    _pools(one).filter(deleted_at=None).update(**facts)
    # Somebody may have judged the pair here since; then that stands.
    Judgment.objects.filter(event__brought_by=one).delete()
    recount_items(one)


@when("restored", JudgmentImport)
def _bring_back(one: JudgmentImport, by: User | None) -> None:
    lock(one.collection)
    gone = {"deleted_at": None, "deleted_by": None}
    _pools(one).exclude(deleted_at=None).update(**gone)
    queues_of(one).exclude(deleted_at=None).update(**gone)
    project(one)
    recount_items(one)


@when("erased", JudgmentImport)
def _erase(one: JudgmentImport, by: User | None) -> None:
    """The source elsewhere remains, so nothing that a person did is lost."""
    events = JudgmentEvent.objects.filter(brought_by=one)
    if Judgment.objects.filter(event__brought_by=one).exists():
        return
    events.filter(undoes__isnull=False).delete()
    events.filter(repeats__isnull=False).delete()
    events.delete()


def _pools(one: JudgmentImport) -> QuerySet[Pool]:
    rows: QuerySet[Pool] = Pool.everything.filter(
        collection=one.collection_id, strategy=Pool.IMPORTED, provenance__import=one.pk
    )
    return rows
