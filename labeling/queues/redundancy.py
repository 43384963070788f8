"""Changing how many judgments each pair of a running queue needs, at least and at most.

This is the one writer of an item's bounds after opening; what it needs within them, `labeling/items/slots.py`
says.

The items are gone through in small transactions, so that nobody who judges waits; each leaves its items with
all counters right. What people hold is let finish. If it is interrupted, the same change again does the rest.
"""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from labeling.adaptive.facts import QueueResult
from labeling.adaptive.reordering import order_anew
from labeling.items.slots import recount
from labeling.models import Item, ItemCount, Queue
from labeling.queues.opening import PoolPair, presentation_keys, redundancy_of
from labeling.queues.options import checked_judgments
from pooling.formats.wording import counted, plural
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_job
from pooling.models import Job
from pooling.people.activity_log import record_action

BATCH = 500


def change_or_start(
    queue: Queue, judgments_per_item: int, most: int | None = None, *, by: User | None = None
) -> int | Job:
    """Change the redundancy of a small queue at once, that of a large one by the background worker."""
    _check(queue, judgments_per_item, most)
    if queue.items.count() <= settings.BACKGROUND_QUEUE_PAIRS:
        return change_redundancy(queue, judgments_per_item, most, by=by)
    arguments = {"queue": queue.pk, "judgments_per_item": judgments_per_item, "most": most}
    return start_job(queue.collection, "redundancy", arguments, by)


def change_redundancy(
    queue: Queue,
    judgments_per_item: int,
    most: int | None = None,
    *,
    by: User | None = None,
    progress: Progress | None = None,
) -> int:
    """Have every pair of a queue need this many judgments; returns how many items had other bounds.

    With `most`, ties need one more, up to this many. Raising opens settled pairs again for others; lowering
    settles those that have enough. Judgments beyond the need stay and count. `InputError` for a closed queue,
    a number that will not do, or when somebody else changes it at the same time.
    """
    now, progress = timezone.now(), progress or (lambda share, detail: None)
    _check(queue, judgments_per_item, most)
    if judgments_per_item > 1:
        progress(0.0, "Drawing the order of second opinions.")
        _draw_second_order(queue)
    with transaction.atomic():
        before = queue.bounds
        queue.judgments_per_item, queue.most_judgments_per_item = judgments_per_item, most
        queue.save(update_fields=["judgments_per_item", "most_judgments_per_item"])
        if before != queue.bounds:
            bounds = f"{before[0]} to {before[1]}" if before[0] < before[1] else before[0]
            facts = {"before": bounds, **redundancy_of(queue)}
            record_action(queue.collection, by, "redundancy changed", queue.name, **facts)
    total, changed, last = _with_other_bounds(queue).count(), 0, 0
    while items := _change_next(queue, queue.bounds, last, now):
        changed, last = changed + len(items), items[-1].pk
        progress(changed / max(total, changed), f"{changed:,} of {counted(total, 'pair')}.")
    order_anew(queue, now=now)
    return changed


def has_unfinished_change(queue: Queue) -> bool:
    """A change of redundancy was interrupted, so that some pairs have other bounds than the queue."""
    at_least, at_most = queue.bounds
    kinds = ItemCount.objects.filter(queue=queue.pk).order_by().values("needed_at_least", "needed_at_most")
    others = kinds.exclude(needed_at_least=at_least, needed_at_most=at_most)
    return others.annotate(items=Sum("many")).filter(items__gt=0).exists()


def _with_other_bounds(queue: Queue) -> QuerySet[Item]:
    at_least, at_most = queue.bounds
    return queue.items.exclude(needed_at_least=at_least, needed_at_most=at_most)


def _check(queue: Queue, judgments_per_item: int, most: int | None) -> None:
    checked_judgments(judgments_per_item, most)
    if queue.state == Queue.State.CLOSED:
        problem = "This queue is closed. Open it again before you change how many judgments a pair needs."
        raise InputError(problem, field="judgments_per_item", conflict=True)


def _change_next(queue: Queue, bounds: tuple[int, int], after: int, now: datetime) -> list[Item]:
    """Change the next few items, in one transaction of their own."""
    with transaction.atomic():
        row = Queue.objects.filter(pk=queue.pk).first()
        if row is None or row.bounds != bounds:
            raise InputError("Somebody else has just changed how many judgments a pair needs.", conflict=True)
        rows = _with_other_bounds(queue).filter(pk__gt=after)
        items = list(rows.order_by("pk").select_for_update(no_key=True)[:BATCH])
        at_least, at_most = bounds
        chosen = Item.objects.filter(pk__in=[item.pk for item in items])
        chosen.update(needed_at_least=at_least, needed_at_most=at_most)
        for item in items:
            item.needed_at_least, item.needed_at_most = bounds
        recount(items, now)
    return items


def _draw_second_order(queue: Queue) -> None:
    """Store the order of second opinions where the queue was opened without; by the same draw as then."""
    rows = queue.items.exclude(order_key=0)
    if not rows.filter(second_key=None).exists():
        return
    if queue.is_adaptive:
        # What was not handed out yet gets another place when it is ordered again.
        _store_second(dict(rows.values_list("pk", "order_key")))
        return
    entries = queue.pool.entries.values_list("query_id", "document_id", "position")
    position = {(query, document): place for query, document, place in entries.iterator()}
    fields = ("pk", "query_id", "document_id", "query__external_id", "document__external_id")
    keys, pairs = [], []
    for key, *pair in rows.order_by("pk").values_list(*fields).iterator():
        keys.append(key)
        query, document, query_id, document_id = pair
        pairs.append(PoolPair(query, document, query_id, document_id, position.get((query, document), 0)))
    _store_second(dict(zip(keys, presentation_keys(queue, pairs, opinion=2), strict=True)))


def _store_second(second: dict[int, int]) -> None:
    keys = sorted(second)
    for start in range(0, len(keys), BATCH):
        with transaction.atomic():
            batch = Item.objects.filter(pk__in=keys[start : start + BATCH])
            items = list(batch.order_by("pk").select_for_update(no_key=True))
            for item in items:
                item.second_key = second[item.pk]
            Item.objects.bulk_update(items, ["second_key"])


class RedundancyChanged(QueueResult):
    changed: int


@job_kind("redundancy", title="Changing the judgments per pair", begins_at="queues", can_be_cancelled=False)
def _change_in_background(job: Job, progress: Progress) -> RedundancyChanged:
    queue = job.collection.queues.select_related("collection", "pool").get(pk=job.arguments["queue"])
    needed = job.arguments["judgments_per_item"]
    most = job.arguments.get("most")
    changed = change_redundancy(queue, needed, most, by=job.created_by, progress=progress)
    more = f", and one more on a tie, up to {most}" if most else ""
    return {
        "id": queue.pk,
        "name": queue.name,
        "changed": changed,
        "detail": (
            f"Queue “{queue.name}”: {counted(changed, 'pair')} "
            f"{plural(changed, 'needs', 'need')} {counted(needed, 'judgment')} now{more}."
        ),
        "url": queue.get_absolute_url(),
    }
