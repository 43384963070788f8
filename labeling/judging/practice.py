"""An answer to a practice question: a verdict like any other, an event that never counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from labeling.gold.practice import _questions
from labeling.judging.verdicts import record_judgment
from labeling.models import Item, Queue
from pooling.interface.problems import InputError

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from labeling.judging.submissions import Submission


@dataclass(frozen=True)
class PracticeExplanation:
    """Whether a verdict was right, the answer, and why."""

    is_right: bool
    answer: str
    reason: str


def answer_practice(
    queue: Queue, annotator: User, submission: Submission, *, now: datetime | None = None
) -> PracticeExplanation:
    """Take a verdict on a question of the round and say what is right, and why.

    `InputError` for an item that is not among the round's questions, and for a verdict that is refused.
    """
    pair = Item.objects.filter(pk=submission.item, queue=queue).values_list("query_id", "document_id").first()
    question = _questions(queue).get(pair) if pair else None
    if question is None:
        raise InputError(
            "This question is not part of the practice round. Request the next one.", field="item"
        )
    outcome = record_judgment(queue, annotator, submission, now=now)
    if outcome.status == "rejected":
        raise InputError(outcome.detail)
    return PracticeExplanation(submission.verdict == question.answer, question.answer, question.reason)
