from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Annotated, Any, NamedTuple, TypedDict

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.models import JudgmentEvent, Queue, public_title
from labeling.progress.message_serializers import OwnMessageSerializer
from labeling.progress.work import (
    QueueOfWork,
    SetAside,
    has_judged,
    messages_of,
    queues_of_work,
    queues_worked_in,
    set_aside_of,
)
from pooling.formats.cells import table_lines
from pooling.interface.api import answers, person
from pooling.interface.downloads import streamed
from pooling.interface.shapes import shape
from pooling.tables.calls import lists
from pooling.tables.rows import Rows

# Somebody's hours by day and queue: the active time of all verdicts they gave.
#
# Gold questions, repeats and verdicts that were undone count like all others: it was work.

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


class DayOfVerdicts(TypedDict):
    """Number of verdicts of a day."""

    day: Annotated[str, date]
    verdicts: int


class QueueOfWorkSerializer(serializers.Serializer[QueueOfWork]):
    """Your pace in a queue, and how far you agree with its labels."""

    queue = serializers.IntegerField(source="queue.pk")
    name = serializers.CharField(source="queue.public_name")
    collection = serializers.CharField(source="queue.collection.slug")
    median_seconds = serializers.FloatField(
        source="work.median_seconds", allow_null=True, help_text="Active time on a pair."
    )
    slow_seconds = serializers.FloatField(
        source="work.slow_seconds", allow_null=True, help_text="Nine of ten pairs took no longer."
    )
    per_day = serializers.SerializerMethodField(help_text="The last 14 days, oldest first.")
    agreement = serializers.IntegerField(
        allow_null=True, help_text="With the final labels, in per cent; null where it is not told."
    )
    questions = serializers.IntegerField(help_text="Questions of admins that wait for your reply.")

    @extend_schema_field(shape(DayOfVerdicts)(many=True))
    def get_per_day(self, row: QueueOfWork) -> list[DayOfVerdicts]:
        return [{"day": day.isoformat(), "verdicts": verdicts} for day, verdicts in row.work.per_day]


class OwnWorkSerializer(serializers.Serializer[Any]):
    """Your own work in all queues of your collections."""

    queues = QueueOfWorkSerializer(many=True, help_text="At most 20, the newest first.")
    set_aside = shape(SetAside)(many=True)
    messages = OwnMessageSerializer(many=True, help_text="At most 50, the newest first.")


class OwnWork(APIView):
    @answers(OwnWorkSerializer, operation_id="work_retrieve")
    def get(self, request: Request) -> object:
        """Your pace and agreement by queue, what was set aside, and your messages to admins."""
        user = person(request)
        return {
            "queues": queues_of_work(user),
            "set_aside": set_aside_of(user),
            "messages": messages_of(user),
        }


class OwnHours(APIView):
    @lists(shape(DayOfWork), operation_id="work_hours_list")
    def get(self, request: Request) -> Rows:
        """Your verdicts and hours by day and queue, the newest day first."""
        user = person(request)
        return hours_by_day(user, queues_worked_in(user))


LATEST_DAYS = 14


@login_required
@require_GET
def all_work(request: HttpRequest) -> HttpResponse:
    user = person(request)
    days = hours_by_day(user, queues_worked_in(user))
    rows = queues_of_work(user)
    context = {
        "rows": rows,
        "judged_elsewhere": not rows and has_judged(user),
        "days": [day._replace(queue=public_title(day.queue)) for day in days[:LATEST_DAYS]],
        "set_aside": set_aside_of(user),
        "sent": messages_of(user),
    }
    return render(request, "labeling/all_work.html", context)


@login_required
@require_GET
def hours_file(request: HttpRequest) -> HttpResponseBase:
    user = person(request)
    lines = hours_lines(hours_by_day(user, queues_worked_in(user)))
    return streamed(lines, "hours.csv", "text/csv; charset=utf-8")
