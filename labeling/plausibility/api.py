"""The HTTP interface of implausible work: what the rule proposes, and what admins decide."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.plausibility import serializers as shapes
from labeling.plausibility.decisions import Choice, decide, questions_for, reply, undo
from labeling.plausibility.reader import proposals
from labeling.plausibility.record import decisions_on
from pooling.interface.api import PROBLEM, parsed, person
from pooling.people.access import ADMIN
from pooling.tables.calls import listed, lists


class Implausible(APIView):
    """Implausible work in a queue."""

    @extend_schema(responses={200: shapes.ImplausibleSerializer, 403: PROBLEM, 404: PROBLEM})
    def get(self, request: Request, queue_id: int) -> Response:
        """Whose last answers an admin should look at, and what was decided so far."""
        queue = queue_for(request.user, queue_id, ADMIN)
        found = {"proposals": proposals(queue), "decisions": decisions_on(queue)}
        return Response(shapes.ImplausibleSerializer(found).data)

    @extend_schema(
        request=shapes.WorkDecisionRequestSerializer,
        responses={
            201: shapes.WorkDecisionSerializer,
            400: PROBLEM,
            403: PROBLEM,
            404: PROBLEM,
            409: PROBLEM,
        },
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Decide on a proposal: pause the annotator, ask them, or ignore it."""
        queue = queue_for(request.user, queue_id, ADMIN)
        choice = Choice(**parsed(shapes.WorkDecisionRequestSerializer, request))
        decision = decide(queue, choice, by=person(request))
        return Response(shapes.WorkDecisionSerializer(decision).data, status=201)


class DecisionUndone(APIView):
    """Taking a decision back."""

    @extend_schema(
        request=None, responses={200: shapes.WorkDecisionSerializer, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM}
    )
    def post(self, request: Request, queue_id: int, decision_id: int) -> Response:
        """End the pause, withdraw the question, or stop ignoring; the rule then looks again."""
        queue = queue_for(request.user, queue_id, ADMIN)
        decision = undo(queue, decision_id, by=person(request))
        return Response(shapes.WorkDecisionSerializer(decision).data)


class WorkQuestions(APIView):
    """What admins asked you about your work in a queue."""

    @lists(shapes.WorkQuestionSerializer, operation_id="queues_questions_list")
    def get(self, request: Request, queue_id: int) -> Response:
        """List the questions, newest first, with your answers."""
        queue = queue_for(request.user, queue_id)
        return listed(request, questions_for(queue, person(request)), shapes.WorkQuestionSerializer)


class WorkReply(APIView):
    """Answering one of these."""

    @extend_schema(
        request=shapes.WorkReplySerializer,
        responses={200: shapes.WorkReplySerializer, 400: PROBLEM, 404: PROBLEM, 409: PROBLEM},
    )
    def post(self, request: Request, queue_id: int, decision_id: int) -> Response:
        """Answer, once."""
        queue = queue_for(request.user, queue_id)
        given = parsed(shapes.WorkReplySerializer, request)
        reply(queue, decision_id, given["reply"], by=person(request))
        return Response(given)
