"""The practice round over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.gold.practice import practice_round
from labeling.gold_pages.practice_answers import answer_practice
from labeling.judging.offers import PracticeOffer, question_offer
from labeling.judging.serializers import SubmissionSerializer, submission_of
from labeling.models import Queue
from pooling.interface.api import answers, person, takes, validated
from pooling.interface.shapes import shape
from pooling.people.access import JUDGES


class PracticeState(TypedDict):
    """Where you are in the practice round; `question` is null when it is over."""

    total: int
    answered: int
    question: Annotated[
        PracticeOffer | None, Mapping[str, Any], "`item`, `query` and `document`, as in a claim."
    ]


PracticeSerializer = shape(PracticeState, "Practice")


class ExplanationSerializer(serializers.Serializer[Any]):
    """What is right, and why; then where you are, as a GET answers."""

    right = serializers.BooleanField()
    answer = serializers.CharField()
    reason = serializers.CharField()
    passage = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="What the reason quotes, or somebody's evidence: [start, end] in characters; null without.",
    )
    total = serializers.IntegerField()
    answered = serializers.IntegerField()
    question = serializers.DictField(allow_null=True, help_text="The next one, or null.")


class Practice(APIView):
    @answers(PracticeSerializer)
    def get(self, request: Request, queue_id: int) -> Response:
        """How far you are, and the next question."""
        queue = queue_for(request.user, queue_id, JUDGES)
        return Response(_state(queue, request))

    @takes(SubmissionSerializer, gives=ExplanationSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Answer a question; the answer says what is right, and why, and has the next question."""
        queue = queue_for(request.user, queue_id, JUDGES)
        submission = submission_of(validated(SubmissionSerializer, request.data))
        explained = answer_practice(queue, person(request), submission)
        explanation = {
            "right": explained.is_right,
            "answer": explained.answer,
            "reason": explained.reason,
            "passage": explained.passage,
        }
        return Response({**explanation, **_state(queue, request)})


def _state(queue: Queue, request: Request) -> PracticeState:
    state = practice_round(queue, person(request))
    question = question_offer(state.next) if state.next else None
    return {"total": state.total, "answered": state.answered, "question": question}
