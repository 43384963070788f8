from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.gold.decisions import LONGEST_QUESTION, Choice, decide, questions_for, reply, undo
from labeling.gold.reader import proposals
from labeling.gold.record import DECISIONS, WorkDecision, decisions_on
from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class WorkProposalSerializer(serializers.Serializer[Any]):
    """Somebody whose last answers an admin should look at."""

    annotator = serializers.CharField(source="username")
    answers = serializers.IntegerField(
        source="finding.answers", help_text="The last ones, of which it speaks."
    )
    chance = serializers.FloatField(
        source="finding.chance", help_text="How often careful people show signs as strong."
    )
    signs = serializers.ListField(source="finding.sentences", child=serializers.CharField())


WorkDecisionSerializer = shape(WorkDecision)


class ImplausibleSerializer(serializers.Serializer[Any]):
    """What the rule proposes in a queue, and what was decided there, newest first."""

    proposals = WorkProposalSerializer(many=True)
    decisions = WorkDecisionSerializer(many=True)


class WorkDecisionRequestSerializer(serializers.Serializer[Any]):
    """A decision on a proposal."""

    annotator = serializers.CharField(max_length=150)
    decision = serializers.ChoiceField(choices=list(DECISIONS))
    question = serializers.CharField(
        max_length=LONGEST_QUESTION,
        required=False,
        allow_blank=True,
        default="",
        help_text="What the annotator is asked; needed for `ask`.",
    )


class WorkQuestionSerializer(serializers.Serializer[Any]):
    """What an admin asked you about your work, and your answer."""

    id = serializers.IntegerField()
    question = serializers.CharField()
    reply = serializers.CharField()
    asked_at = serializers.DateTimeField(source="decided_at")


class WorkReplySerializer(serializers.Serializer[Any]):
    """Your answer; only admins see it."""

    reply = serializers.CharField(max_length=LONGEST_QUESTION)


class Implausible(APIView):
    @answers(ImplausibleSerializer)
    def get(self, request: Request, queue_id: int) -> object:
        """Whose last answers an admin should look at, and what was decided so far."""
        queue = queue_for(request.user, queue_id, ADMIN)
        return {"proposals": proposals(queue), "decisions": decisions_on(queue)}

    @takes(WorkDecisionRequestSerializer, gives=WorkDecisionSerializer, status=201)
    def post(self, request: Request, queue_id: int) -> object:
        """Decide on a proposal: pause the annotator, ask them, or ignore it."""
        queue = queue_for(request.user, queue_id, ADMIN)
        choice = Choice(**parsed(WorkDecisionRequestSerializer, request))
        return decide(queue, choice, by=person(request))


class DecisionUndone(APIView):
    @answers(WorkDecisionSerializer)
    def post(self, request: Request, queue_id: int, decision_id: int) -> object:
        """End the pause, withdraw the question, or stop ignoring; the rule then looks again."""
        queue = queue_for(request.user, queue_id, ADMIN)
        return undo(queue, decision_id, by=person(request))


class WorkQuestions(APIView):
    @lists(WorkQuestionSerializer, operation_id="queues_questions_list")
    def get(self, request: Request, queue_id: int) -> Rows:
        """List the questions, newest first, with your answers."""
        queue = queue_for(request.user, queue_id)
        return questions_for(queue, person(request))


class WorkReply(APIView):
    @takes(WorkReplySerializer, gives=WorkReplySerializer)
    def post(self, request: Request, queue_id: int, decision_id: int) -> Response:
        """Answer, once."""
        queue = queue_for(request.user, queue_id)
        given = parsed(WorkReplySerializer, request)
        reply(queue, decision_id, given["reply"], by=person(request))
        return Response(given)
