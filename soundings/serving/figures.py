"""Figures in the Prometheus form: what the web processes count, and what the database says when it is asked.

Each web process counts for itself, in files that all of them share (`serve` names the folder), so that any
of them can tell the sum. The library is loaded where figures are wanted, and nowhere else.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.core.cache import cache
from django.db.models import Count, Min, Sum
from django.utils import timezone

from labeling.models import Item, Lease, PrelabelJob, Queue
from labeling.signals import items_claimed, verdict_recorded
from pooling.models import Job

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily


# What the database and the disk say of the whole site, for figures and for the page Health.


class QueueLeft(NamedTuple):
    collection: str
    queue: int
    left: int


class ModelCost(NamedTuple):
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


SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
# In seconds: a key press is answered in less than the first, a report takes more than the last.
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
# Counting what is left of large queues takes the database a moment; all who ask share it.
KEPT_SECONDS = 15
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class Counters:
    def __init__(self) -> None:
        from prometheus_client import Counter, Histogram

        self.requests = Counter(
            "soundings_requests", "Requests by route, method and status.", ("route", "method", "status")
        )
        self.seconds = Histogram(
            "soundings_request_seconds", "Seconds until an answer, by route.", ("route",), buckets=BUCKETS
        )
        self.claims = Counter("soundings_claims", "Claims, by whether there was a pair.", ("found",))
        self.items = Counter("soundings_claimed_items", "Pairs handed out.")
        self.verdicts = Counter("soundings_verdicts", "Verdicts by what became of them.", ("status",))


_COUNTERS: list[Counters] = []


def start_counting() -> None:
    """Count from now on in this process; a second time changes nothing."""
    if _COUNTERS:
        return
    _COUNTERS.append(Counters())
    items_claimed.connect(_count_claim)
    verdict_recorded.connect(_count_verdict)


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    for counters in _COUNTERS:
        counters.requests.labels(route, method if method in METHODS else "other", str(status)).inc()
        counters.seconds.labels(route).observe(seconds)


def _count_claim(sender: object, *, count: int, **named: Any) -> None:
    for counters in _COUNTERS:
        counters.claims.labels("yes" if count else "no").inc()
        counters.items.inc(count)


def _count_verdict(sender: object, *, status: str, **named: Any) -> None:
    for counters in _COUNTERS:
        counters.verdicts.labels(status).inc()


def exposition() -> tuple[bytes, str]:
    """All figures as text, and its media type."""
    from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    registry.register(SiteCollector())
    if os.environ.get(SHARED_FOLDER):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry), CONTENT_TYPE_LATEST
    return generate_latest(REGISTRY) + generate_latest(registry), CONTENT_TYPE_LATEST


class SiteCollector:
    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The figures, at most some seconds old."""
        state: SiteState = cache.get_or_set("site-state", site_state, KEPT_SECONDS)  # type: ignore[assignment]
        yield _gauge("jobs", "Jobs by state.", ("state",), [((name,), n) for name, n in state.jobs.items()])
        yield _gauge(
            "oldest_waiting_job_seconds",
            "Since the first waiting job was started.",
            (),
            [((), state.oldest_job)],
        )
        yield _gauge(
            "tasks_waiting",
            "Tasks that wait for a worker, by queue.",
            ("queue",),
            [((name,), n) for name, n in state.tasks.items()],
        )
        yield _gauge("leases", "Pairs that are held by annotators.", (), [((), state.leases)])
        yield _gauge(
            "queue_left",
            "Open pairs of open queues.",
            ("collection", "queue"),
            [((one.collection, str(one.queue)), one.left) for one in state.queues],
        )
        yield _gauge(
            "model_cost",
            "What pre-labels have cost, by the usage that servers reported.",
            ("collection", "currency"),
            [((one.collection, one.currency), one.cost) for one in state.costs],
        )
        yield _gauge("free_disk_bytes", "Room in the data folder.", (), [((), state.free_bytes)])


def _gauge(
    name: str, help: str, labels: tuple[str, ...], values: list[tuple[tuple[str, ...], float]]
) -> GaugeMetricFamily:
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(f"soundings_{name}", help, labels=labels)
    for given, value in values:
        family.add_metric(given, value)
    return family
