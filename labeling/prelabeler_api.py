"""The HTTP interface of what pre-labels are worth, for admins; it calls what the pages call."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling import prelabeler_serializers as shapes
from labeling.access import prelabeler_for_admin, prelabeler_for_queue, queue_for
from labeling.models import Prelabeler
from labeling.prelabel_order import order_by_scores
from labeling.prelabel_worth import worth, worth_of_all
from labeling.verification_samples import USUAL, Wanted, open_sample, samples_of
from pooling.access import ADMIN, collection_for
from pooling.api import PROBLEM, parsed, person


def told(prelabeler: Prelabeler) -> dict[str, Any]:
    """All that is known of a model and prompt, as the interface and the command write it."""
    found = {**worth(prelabeler), "prelabeler": prelabeler, "samples": samples_of(prelabeler)}
    found["by_query"] = found["by_query"][: shapes.MOST_QUERIES]
    return dict(shapes.WorthSerializer(found).data)


class Prelabelers(APIView):
    """The models of a collection."""

    @extend_schema(responses={200: shapes.PrelabelerRowSerializer(many=True), 403: PROBLEM, 404: PROBLEM})
    def get(self, request: Request, slug: str) -> Response:
        """Every model and prompt that was asked, newest first, and whether it pays."""
        collection = collection_for(request.user, slug, ADMIN)
        return Response(shapes.PrelabelerRowSerializer(worth_of_all(collection), many=True).data)


class OnePrelabeler(APIView):
    """One model and prompt."""

    @extend_schema(responses={200: shapes.WorthSerializer, 403: PROBLEM, 404: PROBLEM})
    def get(self, request: Request, prelabeler_id: int) -> Response:
        """What it is worth on the blind labels that there are."""
        return Response(told(prelabeler_for_admin(request.user, prelabeler_id)))


class ScoreOrder(APIView):
    """The order of a queue by scores."""

    @extend_schema(
        request=shapes.ScoreOrderRequestSerializer,
        responses={
            200: shapes.ScoreOrderSerializer,
            400: PROBLEM,
            403: PROBLEM,
            404: PROBLEM,
            409: PROBLEM,
        },
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Put what is left of a queue in the order of a model's scores; the audit stays evenly spread."""
        queue = queue_for(request.user, queue_id, ADMIN)
        body = parsed(shapes.ScoreOrderRequestSerializer, request)
        prelabeler = prelabeler_for_queue(queue, body["prelabeler"])
        return Response({"moved": order_by_scores(queue, prelabeler, by=person(request))})


class Samples(APIView):
    """Verification samples of one model."""

    @extend_schema(
        request=shapes.SampleRequestSerializer,
        responses={
            201: shapes.OpenedSampleSerializer,
            400: PROBLEM,
            403: PROBLEM,
            404: PROBLEM,
            409: PROBLEM,
        },
    )
    def post(self, request: Request, prelabeler_id: int) -> Response:
        """Draw some of its negatives and positives at random, and open them as a queue."""
        prelabeler = prelabeler_for_admin(request.user, prelabeler_id)
        body = parsed(shapes.SampleRequestSerializer, request)
        wanted = [Wanted(body[f"{name}_method"], body[f"{name}_bound"]) for name in USUAL]
        needed = body["judgments_per_item"]
        queue = open_sample(prelabeler, *wanted, judgments_per_item=needed, by=person(request))
        return Response({"queue": queue.pk, "name": queue.name}, status=status.HTTP_201_CREATED)
