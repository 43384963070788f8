"""The HTTP interface of canaries: make them, list them, and read one with its history."""

from __future__ import annotations

from dataclasses import replace

from django.http.response import HttpResponseBase
from django.utils.text import slugify
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import canary_for
from evaluation.canaries.alerts import News
from evaluation.canaries.deliveries import send_again, tell
from evaluation.canaries.page import FILES, describe_canaries, describe_canary, history_of
from evaluation.canaries.watching import (
    Alerts,
    CanaryDefinition,
    alerts_of,
    change_alerts,
    create_canary,
    take_over_tag,
)
from evaluation.models import Canary, CanaryDelivery
from pooling.interface.api import PROBLEM, OneKind, parsed, person
from pooling.interface.downloads import file_call, offered
from pooling.interface.problems import InputError
from pooling.models import Role
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.tables.calls import listed, lists
from pooling.tidying.api import Tidied, described
from pooling.tidying.doing import archive, rename
from pooling.tidying.serializers import TidiedSerializer


class LeastFallSerializer(serializers.Serializer[dict[str, object]]):
    """The least fall of the mean that the queries show four times in five."""

    queries = serializers.IntegerField()
    difference = serializers.FloatField(allow_null=True, help_text="Null: they can show none.")
    deviation = serializers.FloatField(help_text="Of the differences of two versions by query.")
    pairs = serializers.IntegerField(help_text="Pairs of runs it comes from; 0: assumed.")
    fewest = serializers.IntegerField(help_text="At least this many queries must drop.")
    sentence = serializers.CharField()


class TagChangeSerializer(serializers.Serializer[dict[str, object]]):
    """How the queries with the tag differ by now from those measured."""

    tagged = serializers.IntegerField(help_text="Queries that have the tag now.")
    added = serializers.IntegerField(help_text="Of those, not measured.")
    removed = serializers.IntegerField(help_text="Measured, without the tag now.")


class CanarySerializer(serializers.Serializer[dict[str, object]]):
    """A canary; only admins see its receivers, no one its secret."""

    id = serializers.IntegerField(read_only=True)
    name = serializers.CharField(max_length=200)
    release = serializers.CharField(required=False, help_text="Name of a release; default: the newest.")
    tag = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=200,
        help_text="Queries with this tag; all if absent.",
    )
    measure = serializers.CharField(max_length=60, help_text="Such as recall@10.")
    threshold = serializers.FloatField()
    confidence = serializers.FloatField(required=False, default=0.95)
    only_clear = serializers.BooleanField(
        required=False, default=False, help_text="Tell of a crossing only when the interval clears it."
    )
    webhook_url = serializers.CharField(required=False, allow_blank=True, default="", max_length=1000)
    secret = serializers.CharField(
        required=False, write_only=True, trim_whitespace=False, help_text="Signs what the webhook gets."
    )
    mail_to = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    reference = serializers.ChoiceField(
        choices=Canary.Reference.choices,
        required=False,
        default=Canary.Reference.BEST,
        help_text="What a run is compared with, in addition to the previous run.",
    )
    pinned = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="Name of the run, with the reference pinned."
    )
    trouble = serializers.CharField(
        read_only=True, help_text="Why it cannot measure; empty when all is well."
    )
    tag_change = TagChangeSerializer(read_only=True, allow_null=True)
    least_fall = LeastFallSerializer(read_only=True)
    url = serializers.CharField(read_only=True, help_text="The canary's page.")


class CanaryValueSerializer(serializers.Serializer[dict[str, object]]):
    """The value of one run, and its change since the run before of the same family."""

    run = serializers.CharField()
    family = serializers.CharField()
    imported_at = serializers.DateTimeField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    queries = serializers.IntegerField()
    previous = serializers.CharField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    difference_low = serializers.FloatField(allow_null=True)
    difference_high = serializers.FloatField(allow_null=True)
    below = serializers.BooleanField(help_text="Below the threshold.")
    clear = serializers.BooleanField(help_text="Below it with the whole interval.")
    drop = serializers.BooleanField(help_text="Fell beyond noise since the run before.")
    p = serializers.FloatField(allow_null=True, help_text="Of a fall, one-sided, corrected.")
    reference = serializers.CharField(allow_null=True, help_text="The best or the pinned run.")
    reference_difference = serializers.FloatField(allow_null=True)
    reference_low = serializers.FloatField(allow_null=True)
    reference_high = serializers.FloatField(allow_null=True)
    reference_p = serializers.FloatField(allow_null=True)
    drop_since_reference = serializers.BooleanField(help_text="Fell beyond noise since the reference.")
    stretch = serializers.IntegerField(help_text="Counts up when other queries are measured.")


class CanaryHistorySerializer(CanarySerializer):
    """A canary with its values, the oldest run first."""

    values = CanaryValueSerializer(many=True)


class Canaries(APIView):
    """The canaries of a collection."""

    @lists(CanarySerializer, operation_id="canaries_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the canaries by name."""
        collection = collection_for(request.user, slug)
        for_admin = collection.role == Role.ADMIN  # type: ignore[attr-defined]
        found = describe_canaries(collection, for_admin=for_admin)
        return listed(request, found, lambda some: some)

    @extend_schema(
        operation_id="canaries_create",
        request=CanarySerializer,
        responses={201: CanarySerializer, 400: PROBLEM, 404: PROBLEM, 409: PROBLEM},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Watch a measure over some queries; the runs that are there are measured in the background."""
        collection = collection_for(request.user, slug, ADMIN)
        asked = parsed(CanarySerializer, request)
        alerts = Alerts(
            **{
                name: asked.pop(name)
                for name in (
                    "threshold",
                    "only_clear",
                    "webhook_url",
                    "secret",
                    "mail_to",
                    "reference",
                    "pinned",
                )
                if name in asked
            }
        )
        made = create_canary(
            collection,
            CanaryDefinition(**asked),
            alerts,
            user=person(request),
            site=request.build_absolute_uri("/"),
        )
        return Response(describe_canary(made, for_admin=True), status=status.HTTP_201_CREATED)


class AlertsChangeSerializer(serializers.Serializer[dict[str, object]]):
    """What is changed about a canary; what is left out stays."""

    name = serializers.CharField(max_length=200, required=False)
    archived = serializers.BooleanField(required=False)
    threshold = serializers.FloatField(required=False)
    only_clear = serializers.BooleanField(required=False)
    webhook_url = serializers.CharField(required=False, allow_blank=True, max_length=1000)
    secret = serializers.CharField(required=False, write_only=True, trim_whitespace=False)
    mail_to = serializers.ListField(child=serializers.CharField(), required=False)
    reference = serializers.ChoiceField(choices=Canary.Reference.choices, required=False)
    pinned = serializers.CharField(required=False, allow_blank=True)


class ChangedCanarySerializer(CanarySerializer, TidiedSerializer):
    """A canary that was changed."""


class CanaryMessageSerializer(serializers.ModelSerializer[CanaryDelivery]):
    """A message about a canary, and what became of it."""

    class Meta:
        model = CanaryDelivery
        fields = [
            *("id", "channel", "receiver", "state", "tries", "detail"),
            *("created_at", "next_try_at", "ended_at"),
        ]


class OneCanary(Tidied):
    """One canary."""

    kind = "canary"

    @extend_schema(
        operation_id="canaries_partial_update",
        request=AlertsChangeSerializer,
        responses={200: ChangedCanarySerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM},
    )
    def patch(self, request: Request, canary_id: int) -> Response:  # type: ignore[override]
        """Change threshold, reference and receivers, rename it, archive it; what it measures stays."""
        canary = canary_for(request.user, canary_id, ADMIN)
        changes = parsed(AlertsChangeSerializer, request)
        if "name" in changes:
            rename(canary, changes.pop("name"), by=person(request))
        if "archived" in changes:
            archive(canary, changes.pop("archived"), by=person(request))
        if changes:
            change_alerts(canary, replace(alerts_of(canary), **changes), person(request))
        return described(canary, **describe_canary(canary, for_admin=True))

    @extend_schema(operation_id="canaries_retrieve", responses={200: CanaryHistorySerializer, 404: PROBLEM})
    def get(self, request: Request, canary_id: int) -> Response:
        """Read a canary with its values, the oldest run first."""
        canary = canary_for(request.user, canary_id)
        for_admin = canary.collection.role == Role.ADMIN  # type: ignore[attr-defined]
        return Response({**describe_canary(canary, for_admin=for_admin), "values": history_of(canary)})


class CanaryQueries(APIView):
    """The queries of a canary."""

    @extend_schema(
        operation_id="canaries_take_over_queries",
        request=None,
        responses={200: CanarySerializer, 400: PROBLEM, 404: PROBLEM, 409: PROBLEM},
    )
    def post(self, request: Request, canary_id: int) -> Response:
        """Measure the queries that have the canary's tag now, in another stretch of its history."""
        canary = canary_for(request.user, canary_id, ADMIN)
        take_over_tag(canary, person(request))
        return Response(describe_canary(canary, for_admin=True))


class CanaryTest(APIView):
    """A test of a canary's receivers."""

    @extend_schema(
        operation_id="canaries_test",
        request=None,
        responses={
            202: CanaryMessageSerializer(many=True),
            400: PROBLEM,
            403: PROBLEM,
            404: PROBLEM,
        },
    )
    def post(self, request: Request, canary_id: int) -> Response:
        """Send a test message to every receiver; `canaries_messages_list` tells what became of it."""
        sent = tell([News(canary_for(request.user, canary_id, ADMIN))])
        if not sent:
            raise InputError("This canary has no receivers. Add a webhook or an email address first.")
        return Response(CanaryMessageSerializer(sent, many=True).data, status=status.HTTP_202_ACCEPTED)


class CanaryMessages(APIView):
    """The messages about a canary."""

    @lists(CanaryMessageSerializer, operation_id="canaries_messages_list", responses={403: PROBLEM})
    def get(self, request: Request, canary_id: int) -> Response:
        """List them, newest first, for admins."""
        rows = canary_for(request.user, canary_id, ADMIN).deliveries.distinct()
        return listed(request, rows, CanaryMessageSerializer)


class CanaryMessageAgain(APIView):
    """A message sent again."""

    @extend_schema(
        operation_id="canaries_messages_again",
        request=None,
        responses={202: CanaryMessageSerializer, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM},
    )
    def post(self, request: Request, canary_id: int, delivery_id: int) -> Response:
        """Try a message that has not arrived again at once, and for another day."""
        canary = canary_for(request.user, canary_id, ADMIN)
        delivery = fetch(canary.deliveries.distinct(), pk=delivery_id)
        send_again(delivery)
        delivery.refresh_from_db()
        return Response(CanaryMessageSerializer(delivery).data, status=status.HTTP_202_ACCEPTED)


class CanaryFile(APIView):
    """A canary as a file."""

    content_negotiation_class = OneKind

    @file_call(FILES)
    def get(self, request: Request, canary_id: int, format: str) -> HttpResponseBase:
        """Download the history or the picture of a canary."""
        canary = canary_for(request.user, canary_id)
        return offered(FILES, format, slugify(canary.name) or f"canary-{canary.pk}", canary)
