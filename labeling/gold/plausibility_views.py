from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.gold.decisions import LONGEST_QUESTION, Choice, decide, questions_for, reply, undo
from labeling.gold.reader import proposals
from labeling.gold.record import ASK, DECISIONS, IGNORE, PAUSE, WorkDecision, decisions_on
from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.pages import problems_as_messages
from pooling.interface.problems import InputError
from pooling.interface.serializers import optional_text
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
    question = optional_text("What the annotator is asked; needed for `ask`.", max_length=LONGEST_QUESTION)


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


MESSAGES = {
    PAUSE: "{} is paused; their judgments are set aside.",
    ASK: "{} will see your question on the page of their work.",
    IGNORE: "Ignored. The answers of {} count as before.",
}


@login_required
@require_POST
def work_decision(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Decide on a proposal; the message has the button that undoes it."""
    queue = queue_for(request.user, queue_id, ADMIN)
    given = {name: request.POST.get(name, "") for name in ("annotator", "decision", "question")}
    try:
        decision = decide(queue, Choice(**given), by=person(request))
    except InputError as error:
        messages.error(request, str(error))
    else:
        sentence = MESSAGES[decision.decision].format(decision.annotator)
        messages.success(
            request,
            format_html(
                '{} <button class="button quiet-button" form="undo" formaction="{}">Undo</button>',
                sentence,
                reverse("work_decision_undo", args=[queue.pk, decision.id]),
            ),
        )
    return redirect("quality", queue_id)


@login_required
@require_POST
def work_decision_undo(request: HttpRequest, queue_id: int, decision_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, ADMIN)
    with problems_as_messages(request):
        undo(queue, decision_id, by=person(request))
        messages.success(request, "Undone.")
    return redirect("quality", queue_id)


@login_required
@require_POST
def work_reply(request: HttpRequest, queue_id: int, decision_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id)
    with problems_as_messages(request):
        reply(queue, decision_id, request.POST.get("reply", ""), by=person(request))
        messages.success(request, _("Sent. Only the admins see it."))
    return redirect("own_work", queue_id)
