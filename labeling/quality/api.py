from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.gold.quarantine import annotator_named
from labeling.models import Verdict
from labeling.quality import facts
from labeling.quality.disagreements import DISAGREEMENTS, disagreeing_pairs
from labeling.quality.figures import queue_quality
from labeling.quality.monitors import Speed, Streak
from labeling.queues.changes import hand_back
from pooling.interface.api import answers, person
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN, READERS
from pooling.tables.calls import lists
from pooling.tables.rows import Rows

shape(facts.AgreementFigure, "Figure")
shape(facts.AgreementFigures, "Agreement")
shape(facts.Leniency)
shape(Streak, more=("is_odd",))
shape(Speed, more=("has_collapsed", "is_implausible"))
shape(facts.AgainFigures, "Again")
shape(facts.PlaceFigures, "Place")
shape(facts.DayFigures, "Day")
QualitySerializer = shape(facts.QueueQuality, "Quality")


class HandedBackSerializer(serializers.Serializer[Any]):
    """How many items returned to the queue."""

    handed_back = serializers.IntegerField()
    detail = serializers.CharField()


class OpinionSerializer(serializers.Serializer[Any]):
    """Somebody's verdict."""

    annotator = serializers.CharField(source="annotator.username")
    verdict = serializers.ChoiceField(choices=Verdict.choices)


class DisagreementSerializer(serializers.Serializer[Any]):
    """A pair that one person called relevant and another did not, with the verdicts as they were given."""

    query = serializers.CharField(source="query_id")
    document = serializers.CharField(source="document_id")
    verdicts = OpinionSerializer(source="judgments", many=True)


class Quality(APIView):
    @answers(QualitySerializer)
    def get(self, request: Request, queue_id: int) -> object:
        """Agreement, annotators, places in a session, pace and hard queries; not for annotators."""
        queue = queue_for(request.user, queue_id, READERS)
        return queue_quality(queue)


class HandBack(APIView):
    @answers(HandedBackSerializer)
    def post(self, request: Request, queue_id: int, name: str) -> Response:
        """Return all that an annotator holds in the queue, so that others can judge it."""
        queue = queue_for(request.user, queue_id, ADMIN)
        returned = hand_back(queue, annotator_named(queue, name), by=person(request))
        return Response({"handed_back": returned, "detail": f"Returned to the queue: {returned}."})


class Disagreements(APIView):
    @lists(
        DisagreementSerializer,
        DISAGREEMENTS,
        operation_id="queues_disagreements_list",
        parameters=[OpenApiParameter("annotator", str, description="Only pairs that this person judged.")],
    )
    def get(self, request: Request, queue_id: int) -> Rows:
        """List them with what each person said; not for annotators."""
        queue = queue_for(request.user, queue_id, READERS)
        annotator = request.query_params.get("annotator", "")[:150]
        return disagreeing_pairs(queue, annotator)
