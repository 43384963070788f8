"""The HTTP interface of implausible work: what the rule proposes, and what admins decide."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.plausibility import serializers as shapes
from labeling.plausibility.decisions import Choice, decide, questions_for, reply, undo
from labeling.plausibility.reader import proposals
from labeling.plausibility.record import decisions_on
from pooling.interface.api import answers, parsed, person, takes
from pooling.people.access import ADMIN
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class Implausible(APIView):
    """Implausible work in a queue."""

    @answers(shapes.ImplausibleSerializer)
    def get(self, request: Request, queue_id: int) -> object:
        """Whose last answers an admin should look at, and what was decided so far."""
        queue = queue_for(request.user, queue_id, ADMIN)
        return {"proposals": proposals(queue), "decisions": decisions_on(queue)}

    @takes(shapes.WorkDecisionRequestSerializer, gives=shapes.WorkDecisionSerializer, status=201)
    def post(self, request: Request, queue_id: int) -> object:
        """Decide on a proposal: pause the annotator, ask them, or ignore it."""
        queue = queue_for(request.user, queue_id, ADMIN)
        choice = Choice(**parsed(shapes.WorkDecisionRequestSerializer, request))
        return decide(queue, choice, by=person(request))


class DecisionUndone(APIView):
    """Taking a decision back."""

    @answers(shapes.WorkDecisionSerializer)
    def post(self, request: Request, queue_id: int, decision_id: int) -> object:
        """End the pause, withdraw the question, or stop ignoring; the rule then looks again."""
        queue = queue_for(request.user, queue_id, ADMIN)
        return undo(queue, decision_id, by=person(request))


class WorkQuestions(APIView):
    """What admins asked you about your work in a queue."""

    @lists(shapes.WorkQuestionSerializer, operation_id="queues_questions_list")
    def get(self, request: Request, queue_id: int) -> Rows:
        """List the questions, newest first, with your answers."""
        queue = queue_for(request.user, queue_id)
        return questions_for(queue, person(request))


class WorkReply(APIView):
    """Answering one of these."""

    @takes(shapes.WorkReplySerializer, gives=shapes.WorkReplySerializer)
    def post(self, request: Request, queue_id: int, decision_id: int) -> Response:
        """Answer, once."""
        queue = queue_for(request.user, queue_id)
        given = parsed(shapes.WorkReplySerializer, request)
        reply(queue, decision_id, given["reply"], by=person(request))
        return Response(given)
