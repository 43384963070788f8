"""The practice round on the judging page: the same layout and keys, and an explanation after each verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypedDict
from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.gold.practice import PracticeRound, practice_round, questions_of_round
from labeling.items.evidence import evidence_in
from labeling.judging.flow import reflowed
from labeling.judging.images import allow_images
from labeling.judging.offers import PracticeOffer, question_offer
from labeling.judging.sentences import QUERY_SIZES
from labeling.judging.serializers import SubmissionSerializer, submission_of
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import record_judgment
from labeling.judging.views import (
    VerdictForm,
    guidelines_of,
    looks_of,
    marked_document,
    version_of_guidelines,
)
from labeling.models import Item, Judgment, Queue, Reason, Verdict
from pooling.interface.api import answers, person, takes, validated
from pooling.interface.problems import InputError, refusals
from pooling.interface.shapes import shape
from pooling.people.access import JUDGES

# What a reason quotes, in the marks of several languages.
_QUOTED = re.compile(r"[“\"„«‘]([^“”\"„«»‘’]{3,})[”\"“»’]")


def quoted_span(text: str, reason: str) -> tuple[int, int] | None:
    """The half-open span of `text` that `reason` quotes, or None.

    >>> quoted_span("It rains. The bus leaves at one.", "It says “at one”.")
    (25, 31)
    """
    places = ((quoted, text.find(quoted)) for quoted in _QUOTED.findall(reason))
    return next(((start, start + len(quoted)) for quoted, start in places if start >= 0), None)


def _evidence(item: Item, answer: str, annotator: User) -> tuple[int, int] | None:
    """The newest evidence that somebody else gave for this answer."""
    given = Judgment.objects.filter(
        query=item.query_id,
        document=item.document_id,
        verdict=answer,
        quarantine=None,
        event__span_start__isnull=False,
    )
    newest = given.exclude(annotator=annotator).select_related("event").order_by("-pk").first()
    return evidence_in(newest.event, item.document.text) if newest else None


@dataclass(frozen=True)
class PracticeExplanation:
    """Whether a verdict was right, the answer, the reason, and the span quoted or given as evidence."""

    is_right: bool
    answer: str
    reason: str
    passage: tuple[int, int] | None

    @property
    def answer_in_words(self) -> str:
        return Verdict(self.answer).in_words


@dataclass(frozen=True)
class Practised:
    query: str
    title: str
    given: str
    answer: str
    reason: str
    is_right: bool


def answer_practice(queue: Queue, annotator: User, submission: Submission) -> PracticeExplanation:
    """Say what is right and why, after a practice verdict; `InputError` for another item or a bad verdict."""
    item = Item.objects.filter(pk=submission.item, queue=queue).select_related("document").first()
    question = questions_of_round(queue).get((item.query_id, item.document_id)) if item else None
    if item is None or question is None:
        raise InputError(_("This question is not part of the practice round."), field="item")
    outcome = record_judgment(queue, annotator, replace(submission, practises=True))
    if outcome.status == "rejected":
        raise InputError(outcome.detail)
    return PracticeExplanation(
        submission.verdict == question.answer,
        question.answer,
        question.reason,
        quoted_span(reflowed(item.document.text or ""), question.reason)
        or _evidence(item, question.answer, annotator),
    )


def practised(queue: Queue, annotator: User) -> list[Practised]:
    """The questions that somebody answered, in the order of the round; two queries."""
    questions = questions_of_round(queue)
    given = Judgment.objects.filter(
        annotator=annotator,
        collection=queue.collection_id,
        query__in={query for query, _ in questions},
        document__in={document for _, document in questions},
    ).select_related("query", "document")
    verdicts = {(row.query_id, row.document_id): row for row in given.defer("document__text")}
    return [
        Practised(
            query=row.query.text,
            title=row.document.title,
            given=Verdict(row.verdict).in_words,
            answer=Verdict(question.answer).in_words,
            reason=question.reason,
            is_right=row.verdict == question.answer,
        )
        for pair, question in questions.items()
        if (row := verdicts.get(pair))
    ]


class PracticeState(TypedDict):
    """Where you are in the practice round; `question` is null when it is over."""

    total: int
    answered: int
    question: Annotated[
        PracticeOffer | None, Mapping[str, Any], "`item`, `query` and `document`, as in a claim."
    ]


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
    @answers(shape(PracticeState, "Practice"))
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


@login_required
@require_http_methods(["GET", "POST"])
def practice(request: HttpRequest, queue_id: int) -> HttpResponse:
    """One practice question at a time; after the verdict the pair stays, with what is right and why."""
    queue = queue_for(request.user, queue_id, JUDGES)
    context: dict[str, Any] = {"queue": queue, "collection": queue.collection, "section": "queues"}
    if request.method == "POST":
        return _explained(request, queue, context)
    state = practice_round(queue, person(request))
    if state.next:
        return _page(request, queue, state.next, state=state, context=context)
    answers = practised(queue, person(request)) if "summary" in request.GET else []
    if not answers:
        return redirect(reverse("judge", args=[queue.pk]))
    context |= {"answers": answers, "right": sum(answer.is_right for answer in answers)}
    return render(request, "labeling/practice_summary.html", context)


def _explained(request: HttpRequest, queue: Queue, context: dict[str, Any]) -> HttpResponse:
    form = VerdictForm(request.POST)
    if not form.is_valid() or not form.cleaned_data["verdict"]:
        messages.error(request, _("The verdict was incomplete. Please choose again."))
        return redirect("practice", queue.pk)
    values = {name: value for name, value in form.cleaned_data.items() if value not in (None, "")}
    try:
        explained = answer_practice(queue, person(request), Submission(**values))
    except refusals() as error:
        messages.error(request, str(error))
        return redirect("practice", queue.pk)
    state = practice_round(queue, person(request))
    item = Item.objects.select_related("query", "document", "queue__collection").get(pk=values["item"])
    following = reverse("practice", args=[queue.pk]) + ("" if state.next else "?summary")
    given = Verdict(values["verdict"]).in_words
    context |= {"explained": explained, "given": given, "following": following}
    return _page(request, queue, item, state=state, context=context)


def _page(
    request: HttpRequest, queue: Queue, item: Item, *, state: PracticeRound, context: dict[str, Any]
) -> HttpResponse:
    offer = question_offer(item)
    is_explained = "explained" in context
    number = state.answered + (not is_explained)
    begins = not state.answered and "begun" not in request.GET and not is_explained
    page_data = {
        "api": reverse("api_practice", args=[queue.pk]),
        "account": {"id": person(request).pk, "name": person(request).get_username()},
        "queue": {"id": queue.pk, "name": queue.public_name},
        "collection": queue.collection.slug,
        "query_sizes": QUERY_SIZES,
        "guidelines_version": version_of_guidelines(queue.collection),
        "begins": begins,
        "item": offer,
        "total": state.total,
        "answered": state.answered,
        "summary": reverse("practice", args=[queue.pk]) + "?summary",
    }
    context |= {
        "practice": state,
        "number": number,
        "item": offer,
        "begins": begins,
        "key": str(uuid4()),
        "reasons": Reason.choices,
        "page_data": page_data,
        **marked_document(offer["document"], whole=is_explained),
        **guidelines_of(queue.collection),
        **looks_of(person(request), offer["query"]["text"]),
    }
    return allow_images(render(request, "labeling/judge.html", context), queue.collection)
