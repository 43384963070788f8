"""Somebody's hours by day and queue: the active time of all verdicts they gave.

Gold questions, repeats and verdicts that were undone count like all others: it was work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import TruncDate

from labeling.models import JudgmentEvent, Queue
from pooling.formats.cells import table_lines

COLUMNS = ("day", "collection", "queue", "verdicts", "hours")


class DayOfWork(NamedTuple):
    """Your work in a queue on a day."""

    day: date
    collection: str
    queue: str
    verdicts: int
    hours: float


def hours_by_day(user: User, queues: QuerySet[Queue]) -> list[DayOfWork]:
    """Days with work, the newest first, in the site's time zone. One statement."""
    given = JudgmentEvent.objects.filter(
        annotator=user,
        queue__in=queues,
        kind=JudgmentEvent.Kind.VERDICT,
        is_practice=False,
        brought_by=None,
    )
    rows = (
        given.order_by()
        .values(day=TruncDate("created_at"), slug=F("collection__slug"), name=F("queue__public_name"))
        .annotate(verdicts=Count("pk"), spent=Sum("active_ms"))
        .order_by("-day", "slug", "name")
    )
    return [
        DayOfWork(row["day"], row["slug"], row["name"], row["verdicts"], (row["spent"] or 0) / 3_600_000)
        for row in rows
    ]


def hours_lines(days: Iterable[DayOfWork]) -> Iterator[str]:
    return table_lines(COLUMNS, ((*day[:4], round(day.hours, 3)) for day in days))
