from __future__ import annotations

from dataclasses import replace

from django.http.response import HttpResponseBase
from django.utils.text import slugify
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import canary_for
from evaluation.canaries.deliveries import send_again, send_test
from evaluation.canaries.page import (
    FILES,
    HistoryEntry,
    LeastFallFacts,
    TagChangeFacts,
    describe_canaries,
    describe_canary,
    history_of,
)
from evaluation.canaries.watching import (
    Alerts,
    CanaryDefinition,
    alerts_of,
    change_alerts,
    create_canary,
    take_over_tag,
)
from evaluation.models import Canary, CanaryDelivery
from pooling.interface.api import OneKind, answers, file_call, parsed, person, takes
from pooling.interface.downloads import offered
from pooling.interface.shapes import shape
from pooling.models import Role
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.tables.calls import listed, lists
from pooling.tables.rows import Rows
from pooling.tidying.api import Tidied, TidiedSerializer, described
from pooling.tidying.doing import archive, rename


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
    tag_change = shape(TagChangeFacts, "TagChange")(read_only=True, allow_null=True)
    least_fall = shape(LeastFallFacts, "LeastFall")(read_only=True)
    url = serializers.CharField(read_only=True, help_text="The canary's page.")


class CanaryHistorySerializer(CanarySerializer):
    """A canary with its values, the oldest run first."""

    values = shape(HistoryEntry, "CanaryValue")(many=True)


class Canaries(APIView):
    @lists(CanarySerializer, operation_id="canaries_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the canaries by name."""
        collection = collection_for(request.user, slug)
        for_admin = collection.role == Role.ADMIN  # type: ignore[attr-defined]
        descriptions = describe_canaries(collection, for_admin=for_admin)
        return listed(request, descriptions, lambda some: some)

    @takes(CanarySerializer, gives=CanarySerializer, status=201, operation_id="canaries_create")
    def post(self, request: Request, slug: str) -> Response:
        """Watch a measure over some queries; the runs that are there are measured in the background."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(CanarySerializer, request)
        alerts = Alerts(
            **{
                name: body.pop(name)
                for name in (
                    "threshold",
                    "only_clear",
                    "webhook_url",
                    "secret",
                    "mail_to",
                    "reference",
                    "pinned",
                )
                if name in body
            }
        )
        made = create_canary(
            collection,
            CanaryDefinition(**body),
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
    kind = "canary"

    @takes(AlertsChangeSerializer, gives=ChangedCanarySerializer, operation_id="canaries_partial_update")
    def patch(self, request: Request, canary_id: int) -> Response:  # type: ignore[override]
        """Change threshold, reference and receivers, rename it, archive it; what it measures stays."""
        canary = canary_for(request.user, canary_id, ADMIN)
        changes = parsed(AlertsChangeSerializer, request)
        if "name" in changes:
            rename(canary, changes.pop("name"), by=person(request))
        if "archived" in changes:
            archive(canary, changes.pop("archived"), by=person(request))
        if changes:
            site = request.build_absolute_uri("/")
            change_alerts(canary, replace(alerts_of(canary), **changes), person(request), site=site)
        return described(canary, **describe_canary(canary, for_admin=True))

    @answers(CanaryHistorySerializer, operation_id="canaries_retrieve")
    def get(self, request: Request, canary_id: int) -> Response:
        """Read a canary with its values, the oldest run first."""
        canary = canary_for(request.user, canary_id)
        for_admin = canary.collection.role == Role.ADMIN  # type: ignore[attr-defined]
        return Response({**describe_canary(canary, for_admin=for_admin), "values": history_of(canary)})


class CanaryQueries(APIView):
    @answers(CanarySerializer, operation_id="canaries_take_over_queries")
    def post(self, request: Request, canary_id: int) -> Response:
        """Measure the queries that have the canary's tag now, in another stretch of its history."""
        canary = canary_for(request.user, canary_id, ADMIN)
        take_over_tag(canary, person(request))
        return Response(describe_canary(canary, for_admin=True))


class CanaryTest(APIView):
    @answers(CanaryMessageSerializer(many=True), status=202, operation_id="canaries_test")
    def post(self, request: Request, canary_id: int) -> object:
        """Send a test message to every receiver; `canaries_messages_list` tells what became of it."""
        return send_test(canary_for(request.user, canary_id, ADMIN))


class CanaryMessages(APIView):
    @lists(CanaryMessageSerializer, operation_id="canaries_messages_list")
    def get(self, request: Request, canary_id: int) -> Rows:
        """List them, newest first, for admins."""
        return canary_for(request.user, canary_id, ADMIN).deliveries.distinct()


class CanaryMessageAgain(APIView):
    @answers(CanaryMessageSerializer, status=202, operation_id="canaries_messages_again")
    def post(self, request: Request, canary_id: int, delivery_id: int) -> object:
        """Try a message that has not arrived again at once, and for another day."""
        canary = canary_for(request.user, canary_id, ADMIN)
        delivery = fetch(canary.deliveries.distinct(), pk=delivery_id)
        send_again(delivery)
        delivery.refresh_from_db()
        return delivery


class CanaryFile(APIView):
    content_negotiation_class = OneKind

    @file_call(FILES)
    def get(self, request: Request, canary_id: int, format: str) -> HttpResponseBase:
        """Download the history or the picture of a canary."""
        canary = canary_for(request.user, canary_id)
        return offered(FILES, format, slugify(canary.name) or f"canary-{canary.pk}", canary)
