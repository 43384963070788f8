"""What an annotator may see of their own work in a queue: what they judged, how fast, on which days.

Nothing here tells a gold question from another pair, or what anybody else said.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, TypedDict

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from labeling.items.answers import given_in
from labeling.items.withdrawn import THERE
from labeling.models import JudgmentEvent, Queue

if TYPE_CHECKING:
    from django.contrib.auth.models import User

DAYS = 14
# Enough for a median; a year's work of one person need not be read for it.
TIMED = 2_000
# A strip beside a document needs no more of a query.
MOST_OF_QUERY = 500


@dataclass(frozen=True)
class OwnWork:
    """`per_day`: verdicts on each of the last 14 days, oldest first. Seconds are active time on a pair: the
    middle one and the 90th percentile of the last 2,000 verdicts, None without any.
    """

    per_day: list[tuple[date, int]]
    median_seconds: float | None
    slow_seconds: float | None

    @property
    def busiest(self) -> int:
        """The most verdicts on one of these days."""
        return max(count for _, count in self.per_day)


def own_verdicts(queue: Queue, user: User) -> QuerySet[JudgmentEvent]:
    """The person's verdicts in the queue, newest first; `undone` says which were taken back. Those on deleted
    queries and documents are left out.
    """
    verdicts = given_in(queue, user).filter(**THERE)
    undone = JudgmentEvent.objects.filter(undoes=OuterRef("pk"))
    return verdicts.annotate(undone=Exists(undone)).select_related("query", "document").order_by("-pk")


class OwnVerdict(TypedDict):
    """A verdict that a person gave and did not undo."""

    document: str
    title: str
    verdict: str


def own_verdicts_of_query(queue: Queue, user: User, query_id: str) -> list[OwnVerdict]:
    """The person's verdicts on documents of a query in this queue that were not undone, oldest first.

    A verdict on a pair that is shown again is a verdict like any other, so that the list grows by one with
    every pair, whatever it is.
    """
    given = own_verdicts(queue, user).filter(query__external_id=query_id)[:MOST_OF_QUERY]
    return [
        {"document": one.document.external_id, "title": one.document.title, "verdict": one.verdict}
        for one in reversed(given)
        if not one.undone  # type: ignore[attr-defined]
    ]


def own_work(queue: Queue, user: User, *, now: datetime | None = None) -> OwnWork:
    """Pace and days of one person in one queue."""
    now = now or timezone.now()
    verdicts = given_in(queue, user)
    today = timezone.localdate(now)
    first = today - timedelta(days=DAYS - 1)
    since = timezone.make_aware(datetime.combine(first, datetime.min.time()))
    days = verdicts.filter(created_at__gte=since).order_by().values(day=TruncDate("created_at"))
    counts = {row["day"]: row["many"] for row in days.annotate(many=Count("pk"))}
    newest = verdicts.filter(active_ms__isnull=False).order_by("-pk").values_list("active_ms", flat=True)
    spent = sorted(time for time in newest[:TIMED] if time is not None)
    return OwnWork(
        [(first + timedelta(days=step), counts.get(first + timedelta(days=step), 0)) for step in range(DAYS)],
        seconds_at(spent, 0.5),
        seconds_at(spent, 0.9),
    )


def seconds_at(spent_ms: list[int], share: float) -> float | None:
    """The least time that at least `share` of the verdicts took no longer than, in seconds."""
    if not spent_ms:
        return None
    place = -(-len(spent_ms) * share // 1)
    return spent_ms[int(place) - 1] / 1000
