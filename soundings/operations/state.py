"""What the database and the disk say of the whole site, for figures and for the page Health."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, Min, Sum
from django.utils import timezone

from labeling.models import Item, Lease, PrelabelJob, Queue
from pooling.models import Job


class QueueLeft(NamedTuple):
    """How many items of an open queue are open."""

    collection: str
    queue: int
    left: int


class ModelCost(NamedTuple):
    """What pre-labels of a collection have cost."""

    collection: str
    currency: str
    cost: float


@dataclass(frozen=True)
class SiteState:
    """Jobs and tasks by state and queue, the seconds that the oldest job has waited, and the rest."""

    jobs: dict[str, int]
    oldest_job: float
    tasks: dict[str, int]
    leases: int
    queues: list[QueueLeft]
    costs: list[ModelCost]
    free_bytes: int


def site_state() -> SiteState:
    """Ask for all of it; seven statements."""
    now = timezone.now()
    counts = Job.objects.order_by().values_list("state").annotate(Count("pk"))
    oldest = Job.objects.filter(state=Job.State.QUEUED).aggregate(at=Min("created_at"))["at"]
    left = (
        Item.objects.filter(
            state=Item.State.OPEN,
            order_key__gt=0,  # others are no part of the work
            queue__state=Queue.State.OPEN,
            queue__deleted_at=None,
            queue__collection__deleted_at=None,
        )
        .order_by()
        .values_list("queue__collection__slug", "queue")
        .annotate(Count("pk"))
    )
    costs = (
        PrelabelJob.objects.filter(cost__gt=0)
        .order_by()
        .values_list("prelabeler__collection__slug", "currency")
        .annotate(Sum("cost"))
    )
    return SiteState(
        jobs={state.value: 0 for state in Job.State} | dict(counts),
        oldest_job=(now - oldest).total_seconds() if oldest else 0.0,
        tasks=_waiting_tasks(),
        leases=Lease.objects.filter(expires_at__gt=now).count(),
        queues=[QueueLeft(*row) for row in left],
        costs=[ModelCost(slug, currency, float(cost)) for slug, currency, cost in costs],
        free_bytes=shutil.disk_usage(settings.DATA_DIR).free,
    )


def _waiting_tasks() -> dict[str, int]:
    if "django_tasks_db" not in settings.TASKS["default"]["BACKEND"]:
        return {}
    from django_tasks_db.models import DBTaskResult

    waiting = DBTaskResult.objects.ready().order_by().values_list("queue_name").annotate(Count("pk"))
    return dict.fromkeys(settings.TASKS["default"]["QUEUES"], 0) | dict(waiting)
