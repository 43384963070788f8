"""One's own work over HTTP: what the page of it shows, of the caller alone."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.progress.hours import DayOfWork, hours_by_day
from labeling.progress.message_serializers import OwnMessageSerializer
from labeling.progress.work import (
    QueueOfWork,
    SetAside,
    messages_of,
    queues_of_work,
    queues_worked_in,
    set_aside_of,
)
from pooling.interface.api import answers, person
from pooling.interface.shapes import shape
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


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
