from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.gold import serializers as shapes
from labeling.gold.gaps import queries_without_gold, skips_in
from labeling.gold.options import GoldOptions, change_options
from labeling.gold.quarantine import annotator_named, impose, lift
from labeling.gold.questions import NewQuestion, add_question, change_question, gold_balance
from labeling.gold.scores import ANSWERS_GIVEN, gold_answers, gold_rows
from labeling.items.withdrawn import THERE
from labeling.models import GoldQuestion, Queue
from pooling.interface.api import Made, answers, parsed, person, takes
from pooling.options import options_of
from pooling.people.access import ADMIN, collection_for, fetch, require_role
from pooling.storage.imports import take_in
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class Gold(APIView):
    """The gold questions of a collection."""

    @answers(shapes.GoldListSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """List the gold questions, newest first, and how many there are with each answer."""
        collection = collection_for(request.user, slug, ADMIN)
        questions = (
            collection.gold_questions.filter(**THERE)
            .select_related("query", "document")
            .defer("document__text")
        )
        rows = shapes.GoldQuestionSerializer(questions, many=True).data
        return Response({"balance": asdict(gold_balance(collection)), "questions": rows})

    @takes(shapes.GoldRequestSerializer, gives=shapes.GoldQuestionSerializer, status=201)
    def post(self, request: Request, slug: str) -> object:
        """Make a pair a gold question."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(shapes.GoldRequestSerializer, request)
        return add_question(collection, NewQuestion(**body), user=person(request))


class GoldFile(APIView):
    parser_classes = [MultiPartParser, FormParser]

    @takes(shapes.GoldFileSerializer, makes=shapes.GoldImportSerializer)
    def post(self, request: Request, slug: str) -> Made:
        """Import a file of gold questions, whole or not at all."""
        collection = collection_for(request.user, slug, ADMIN)
        upload = parsed(shapes.GoldFileSerializer, request)["file"]
        return take_in(collection, "gold", upload, user=person(request))


class OneGoldQuestion(APIView):
    """A gold question."""

    @takes(shapes.GoldChangeSerializer, gives=shapes.GoldQuestionSerializer)
    def patch(self, request: Request, question_id: int) -> object:
        """Change answer, reason or use, or take the question out of use."""
        rows = GoldQuestion.objects.select_related("collection", "query", "document")
        question = fetch(rows, pk=question_id)
        require_role(request.user, question.collection, ADMIN)
        change_question(question, by=person(request), **parsed(shapes.GoldChangeSerializer, request))
        return question


class QueueGold(APIView):
    @answers(shapes.QueueGoldSerializer)
    def get(self, request: Request, queue_id: int) -> Response:
        """The queue's options, how its annotators answer, and who was paused."""
        return Response(_queue_gold(queue_for(request.user, queue_id, ADMIN)))

    @takes(shapes.GoldOptionsSerializer, gives=shapes.QueueGoldSerializer)
    def patch(self, request: Request, queue_id: int) -> Response:
        """Change how gold questions come; what people hold stays with them."""
        queue = queue_for(request.user, queue_id, ADMIN)
        body = parsed(shapes.GoldOptionsSerializer, request)
        change_options(queue, {name: value for name, value in body.items() if value is not None})
        return Response(_queue_gold(queue))


def _queue_gold(queue: Queue) -> Mapping[str, Any]:
    quarantines = queue.quarantines.select_related("annotator", "imposed_by", "lifted_by")
    return {
        **{name: getattr(queue, name) for name in options_of(GoldOptions)},
        "questions": queue.gold_count,
        "queries_without": queries_without_gold(queue.collection, pk=queue.pk),
        "annotators": [shapes.gold_figures(row) for row in gold_rows(queue)],
        "skips": shapes.AnnotatorSkipsSerializer(skips_in(queue), many=True).data,
        "quarantines": shapes.QuarantineSerializer(quarantines, many=True).data,
    }


class QuarantineCall(APIView):
    @takes(shapes.QuarantineRequestSerializer, gives=shapes.QuarantineSerializer)
    def post(self, request: Request, queue_id: int, name: str) -> object:
        """Stop somebody in the queue and set their judgments aside; the pairs come up again."""
        queue = queue_for(request.user, queue_id, ADMIN)
        reason = parsed(shapes.QuarantineRequestSerializer, request)["reason"]
        return impose(queue, annotator_named(queue, name), by=person(request), reason=reason)


class RestoreCall(APIView):
    @answers(shapes.QuarantineSerializer)
    def post(self, request: Request, queue_id: int, name: str) -> object:
        """Count somebody's judgments again and let them go on."""
        queue = queue_for(request.user, queue_id, ADMIN)
        return lift(queue, annotator_named(queue, name), by=person(request))


class AnnotatorGold(APIView):
    @lists(shapes.GoldAnswerSerializer, ANSWERS_GIVEN, operation_id="queues_gold_answers_list")
    def get(self, request: Request, queue_id: int, name: str) -> Rows:
        """List what somebody answered to gold questions, newest first; for admins."""
        queue = queue_for(request.user, queue_id, ADMIN)
        return gold_answers(queue, annotator_named(queue, name))
