"""The practice round over HTTP."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.gold.practice import practice_round
from labeling.gold_pages import practice_serializers as shapes
from labeling.gold_pages.practice_answers import answer_practice
from labeling.judging.offers import question_offer
from labeling.judging.serializers import SubmissionSerializer, submission_of
from labeling.models import Queue
from pooling.interface.api import answers, person, takes, validated
from pooling.people.access import JUDGES


class Practice(APIView):
    """The practice round."""

    @answers(shapes.PracticeSerializer)
    def get(self, request: Request, queue_id: int) -> Response:
        """How far you are, and the next question."""
        queue = queue_for(request.user, queue_id, JUDGES)
        return Response(_state(queue, request))

    @takes(SubmissionSerializer, gives=shapes.ExplanationSerializer)
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


def _state(queue: Queue, request: Request) -> shapes.PracticeState:
    state = practice_round(queue, person(request))
    question = question_offer(state.next) if state.next else None
    return {"total": state.total, "answered": state.answered, "question": question}
