"""The HTTP interface of canaries: make them, list them, and read one with its history."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import canary_for
from evaluation.canaries.page import describe_canaries, describe_canary, history_of
from evaluation.canaries.watching import Alerts, CanaryDefinition, create_canary, take_over_tag
from evaluation.models import Canary
from pooling.interface.api import PROBLEM, parsed, person
from pooling.models import Role
from pooling.people.access import ADMIN, collection_for
from pooling.tidying.api import Tidied


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

    @extend_schema(operation_id="canaries_list", responses=CanarySerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the canaries by name."""
        collection = collection_for(request.user, slug)
        for_admin = collection.role == Role.ADMIN  # type: ignore[attr-defined]
        return Response(describe_canaries(collection, for_admin=for_admin))

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


class OneCanary(Tidied):
    """One canary."""

    kind = "canary"

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
