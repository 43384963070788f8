"""The HTTP interface for people who look after a queue: its quality, and taking somebody's open work back."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.gold.quarantine import annotator_named
from labeling.quality import serializers as shapes
from labeling.quality.disagreements import DISAGREEMENTS, disagreeing_pairs
from labeling.quality.figures import queue_quality
from labeling.queues.handing_back import hand_back
from pooling.interface.api import answers, person
from pooling.people.access import ADMIN, READERS
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class Quality(APIView):
    @answers(shapes.QualitySerializer)
    def get(self, request: Request, queue_id: int) -> object:
        """Agreement, annotators, places in a session, pace and hard queries; not for annotators."""
        queue = queue_for(request.user, queue_id, READERS)
        return queue_quality(queue)


class HandBack(APIView):
    @answers(shapes.HandedBackSerializer)
    def post(self, request: Request, queue_id: int, name: str) -> Response:
        """Return all that an annotator holds in the queue, so that others can judge it."""
        queue = queue_for(request.user, queue_id, ADMIN)
        returned = hand_back(queue, annotator_named(queue, name), by=person(request))
        return Response({"handed_back": returned, "detail": f"Returned to the queue: {returned}."})


class Disagreements(APIView):
    @lists(
        shapes.DisagreementSerializer,
        DISAGREEMENTS,
        operation_id="queues_disagreements_list",
        parameters=[OpenApiParameter("annotator", str, description="Only pairs that this person judged.")],
    )
    def get(self, request: Request, queue_id: int) -> Rows:
        """List them with what each person said; not for annotators."""
        queue = queue_for(request.user, queue_id, READERS)
        annotator = request.query_params.get("annotator", "")[:150]
        return disagreeing_pairs(queue, annotator)
