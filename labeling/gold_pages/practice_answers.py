"""Answers to practice questions: verdicts like any other, as events that count nowhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from labeling.gold.practice import questions_of_round
from labeling.items.evidence import evidence_in
from labeling.judging.flow import reflowed
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import record_judgment
from labeling.models import Item, Judgment, Queue, Verdict
from pooling.interface.problems import InputError

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
    """Whether a verdict was right, the answer, the reason, and the span of the text that its reason quotes,
    or that somebody gave as evidence."""

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
    """Take a verdict on a question of the round and say what is right, and why.

    `InputError` for an item that is not among the round's questions, and for a verdict that is refused.
    """
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
