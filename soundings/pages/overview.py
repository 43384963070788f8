"""The steps through a collection: what is done and what is next, for overview and home page.

Everything is counted in one query, however many collections are listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse

from evaluation.models import Report
from labeling.judging.blind_counts import count_of_answers
from labeling.models import ImportedLabel, Item, Judgment, QrelsRelease, Queue
from pooling.formats.wording import counted
from pooling.models import Collection, Document, Membership, Pool, Query, Role, Run
from pooling.people.access import collections_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True)
class Step:
    """One step of the way: what it is called, what there is, where it is done."""

    name: str
    detail: str
    url: str
    action: str
    action_url: str
    done: bool
    next: bool = False


@dataclass(frozen=True)
class Listed:
    """A collection on somebody's home page: of how many items how many are closed; to an annotator, who is
    told nothing of the items, `done` is what they answered.
    """

    collection: Collection
    role: str
    items: int | None
    done: int
    next: Step | None

    @property
    def percent(self) -> int:
        """Judged items in per cent, rounded down, so that 100 means all."""
        return 100 * self.done // self.items if self.items else 0


def listed_collections(user: User) -> list[Listed]:
    """The collections of `user` with role, progress and next step; one query."""
    own_role = Membership.objects.filter(collection=OuterRef("pk"), user_id=user.pk).values("role")[:1]
    collections = with_counts(collections_of(user)).annotate(
        own_role=Subquery(own_role), own=count_of_answers(user, collection=OuterRef("pk"))
    )
    return [_listed(collection, user) for collection in collections]


def _listed(collection: Any, user: User) -> Listed:
    role = Role.ADMIN if user.is_superuser else Role(collection.own_role)
    step = next_step(steps_of(collection)) if role == Role.ADMIN else None
    if role == Role.ANNOTATOR:
        return Listed(collection, role, None, collection.own, step)
    return Listed(collection, role, collection.items, collection.items_done, step)


def with_counts(collections: QuerySet[Collection]) -> QuerySet[Collection]:
    """`collections` with the counts that `steps_of` reads."""
    items = Item.objects.filter(queue__collection=OuterRef("pk"), order_key__gt=0)
    return collections.annotate(
        query_count=_count(Query),
        text_count=_count(Document, text__isnull=False),
        textless_count=_count(Document, text__isnull=True),
        run_count=_count(Run),
        pool_count=_count(Pool),
        queue_count=_count(Queue),
        items=_count_of(items, "queue__collection"),
        items_done=_count_of(items.exclude(state=Item.State.OPEN), "queue__collection"),
        judgment_count=_count(Judgment),
        imported_count=_count(ImportedLabel),
        release_count=_count(QrelsRelease),
        report_count=_count(Report),
    )


def _count(model: Any, **conditions: Any) -> Coalesce:
    return _count_of(model.objects.filter(collection=OuterRef("pk"), **conditions), "collection")


def _count_of(rows: QuerySet[Any], collection: str) -> Coalesce:
    counted = rows.order_by().values(collection).annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def next_step(steps: list[Step]) -> Step | None:
    """The step to do next, or None when everything is done."""
    return next((step for step in steps if step.next), None)


def steps_of(collection: Any) -> list[Step]:
    """The eight steps of the way for a collection that `with_counts` has counted."""
    steps = [*_pooling_steps(collection), *_labeling_steps(collection), *_evaluation_steps(collection)]
    first = next((index for index, step in enumerate(steps) if not step.done), None)
    if first is not None:
        steps[first] = _as_next(steps[first])
    return steps


def _as_next(step: Step) -> Step:
    return Step(step.name, step.detail, step.url, step.action, step.action_url, done=False, next=True)


def _pooling_steps(collection: Any) -> list[Step]:
    def url(name: str) -> str:
        return reverse(name, args=[collection.slug])

    texts = _counted(collection.text_count, "document")
    if collection.textless_count:
        texts += f"; {_counted(collection.textless_count, 'pooled document')} without a text"
    runs = _counted(collection.run_count, "run")
    return [
        _step(
            "Queries",
            _counted(collection.query_count, "query"),
            url("queries"),
            "Import queries",
            done=collection.query_count,
        ),
        _step("Documents", texts, url("documents"), "Import documents", done=collection.text_count),
        _step("Runs", runs, url("runs"), "Import a run", done=collection.run_count, at=url("run_import")),
        _step(
            "Pool",
            _counted(collection.pool_count, "pool"),
            url("pools"),
            "Build a pool",
            done=collection.pool_count,
            at=url("pool_new"),
        ),
    ]


def _labeling_steps(collection: Any) -> list[Step]:
    queues = reverse("queues", args=[collection.slug])
    new_queue = reverse("queue_new", args=[collection.slug])
    releases = reverse("releases", args=[collection.slug])
    new_release = reverse("release_new", args=[collection.slug])
    all_done = bool(collection.items) and collection.items_done == collection.items
    released = _counted(collection.release_count, "release")
    return [
        _step(
            "Queue",
            _counted(collection.queue_count, "queue"),
            queues,
            "Open a queue",
            done=collection.queue_count,
            at=new_queue,
        ),
        _step("Judgments", _judged(collection), queues, "Judge", done=all_done),
        _step(
            "Qrels release",
            released,
            releases,
            "Release the qrels",
            done=collection.release_count,
            at=new_release,
        ),
    ]


def _evaluation_steps(collection: Any) -> list[Step]:
    reports = reverse("reports", args=[collection.slug])
    new = reverse("report_new", args=[collection.slug])
    count = collection.report_count
    return [_step("Report", _counted(count, "report"), reports, "Make a report", done=count, at=new)]


def _step(name: str, detail: str, url: str, action: str, *, done: int | bool, at: str = "") -> Step:
    """at: where the action is done, if not at `url`."""
    return Step(name, detail, url, action, at or url, done=bool(done))


def _judged(collection: Any) -> str:
    judged = (
        f"{collection.items_done:,} of {_counted(collection.items, 'item')} closed"
        if collection.items
        else "none yet"
    )
    if collection.imported_count:
        judged += f"; {_counted(collection.imported_count, 'label')} imported"
    return judged


def _counted(count: int, noun: str) -> str:
    if count == 0:
        return "none yet"
    return counted(count, noun)
