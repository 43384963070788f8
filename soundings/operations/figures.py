"""Figures in the Prometheus form: what the web processes count, and what the database says when it is asked.

Each web process counts for itself, in files that all of them share (`serve` names the folder), so that any
of them can tell the sum. The library is loaded where figures are wanted, and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.core.cache import cache

from labeling.signals import items_claimed, verdict_recorded
from soundings.operations.state import SiteState, site_state

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
# In seconds: a key press is answered in less than the first, a report takes more than the last.
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
# Counting what is left of large queues takes the database a moment; all who ask share it.
KEPT_SECONDS = 15
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class Counters:
    """What a process counts."""

    def __init__(self) -> None:
        from prometheus_client import Counter, Histogram

        self.requests = Counter(
            "soundings_requests", "Requests by route, method and status.", ("route", "method", "status")
        )
        self.seconds = Histogram(
            "soundings_request_seconds", "Seconds until an answer, by route.", ("route",), buckets=BUCKETS
        )
        self.claims = Counter("soundings_claims", "Claims, by whether there was an item.", ("found",))
        self.items = Counter("soundings_claimed_items", "Items handed out.")
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
    """Count an answer, where anything is counted."""
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


def told() -> tuple[bytes, str]:
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
    """What the database says: jobs, leases, queues, and what models cost."""

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
        yield _gauge("leases", "Items that are held by annotators.", (), [((), state.leases)])
        yield _gauge(
            "queue_left",
            "Open items of open queues.",
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
