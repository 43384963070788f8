"""Finishing queries of an adaptive queue: by hand, or many at once that a bound has stopped."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from labeling.adaptive.facts import QueueResult
from labeling.adaptive.reordering import finish_stopped, stop_by_hand
from labeling.models import QueryPlan, Queue
from pooling.formats.wording import counted, plural
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.models import Job
from pooling.people.activity_log import record_action


def finish_queries(queue: Queue, query_ids: Collection[str] | None, *, by: User | None = None) -> int:
    """Hand out nothing more of some queries, or of all with None; returns how many that finished.

    What people hold, and the rest of a batch that was begun, still comes in; where the audit had been looked
    at, some documents drawn again come as well. `InputError` for a queue with a fixed order, and for a query
    that it does not have.
    """
    if not queue.is_adaptive:
        raise InputError("This queue has a fixed order: pause or close it instead.", conflict=True)
    plans = dict(QueryPlan.objects.filter(selection=queue.pk).values_list("query__external_id", "pk"))
    unknown = sorted(set(query_ids or ()) - set(plans))
    if unknown:
        raise InputError(f"There is no query “{unknown[0]}” in this queue.", field="queries")
    chosen = [plans[name] for name in (plans if query_ids is None else query_ids)]
    with transaction.atomic():
        finished = stop_by_hand(queue, chosen, timezone.now())
        if finished:
            record_action(queue.collection, by, "queries finished", queue.name, queries=finished)
    return finished


class QueriesFinished(QueueResult):
    """Number of queries that are newly finished."""

    finished: int


@job_kind("finish", title="Finishing the queries of a queue", can_be_cancelled=False)
def _finish_in_background(job: Job, progress: Progress) -> QueriesFinished:
    queue = job.collection.queues.select_related("collection", "pool", "selection").get(
        pk=job.arguments["queue"]
    )
    finished = finish_stopped(queue, progress)
    return {
        "id": queue.pk,
        "name": queue.name,
        "finished": finished,
        "detail": (
            f"Queue “{queue.name}” has stopped by its audit: "
            f"{counted(finished, 'more query')} {plural(finished, 'is', 'are')} finished."
        ),
        "url": queue.get_absolute_url(),
    }
