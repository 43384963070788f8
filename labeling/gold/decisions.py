"""An admin's decisions on proposals, and taking them back; all stay on record, and the rule never acts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _

from labeling.gold.quarantine import impose, lift
from labeling.gold.reader import Proposal, proposals
from labeling.gold.record import (
    ASK,
    DECISIONS,
    PAUSE,
    WorkDecision,
    decisions_on,
    write_decision,
    write_reply,
    write_undone,
)
from labeling.models import Quarantine, Queue
from pooling.interface.problems import InputError
from pooling.people.access import NOTHING_HERE

LONGEST_QUESTION = 500
# In words that say nothing of gold questions: an annotator may read why they are paused.
REASON = "An admin paused you after looking at your last answers."


@dataclass(frozen=True)
class Choice:
    annotator: str
    decision: str
    question: str = ""


def decide(queue: Queue, choice: Choice, *, by: User) -> WorkDecision:
    """Act on the proposal on an annotator. `InputError` without one, and for a question that is empty."""
    question = choice.question.strip()
    if choice.decision not in DECISIONS:
        raise InputError("Choose one of pause, ask and ignore.", field="decision")
    if choice.decision == ASK and not question:
        raise InputError("Write what you want to ask.", field="question")
    if len(question) > LONGEST_QUESTION:
        raise InputError(f"A question may have at most {LONGEST_QUESTION} characters.", field="question")
    with _one_at_a_time(queue):
        proposal = _proposal_on(queue, choice.annotator)
        paused = None
        if choice.decision == PAUSE:
            annotator = get_user_model().objects.get(pk=proposal.annotator_id)
            paused = impose(queue, annotator, by=by, reason=REASON).pk
        decision = WorkDecision(
            annotator_id=proposal.annotator_id,
            annotator=proposal.username,
            decision=choice.decision,
            last_event=proposal.last_event,
            chance=proposal.finding.chance,
            signs=proposal.finding.sentences,
            question=question if choice.decision == ASK else "",
            quarantine=paused,
        )
        return write_decision(queue, decision, by)


def decision_of(queue: Queue, number: int) -> WorkDecision:
    """The decision of a queue with a number; 404 where there is none."""
    for decision in decisions_on(queue):
        if decision.id == number:
            return decision
    raise Http404(NOTHING_HERE)


def undo(queue: Queue, number: int, *, by: User) -> WorkDecision:
    """Take a decision back, so that its pause or question ends; only newer answers are proposed again."""
    with _one_at_a_time(queue):
        decision = decision_of(queue, number)
        if decision.undone_at:
            raise InputError("This decision has been undone already.", conflict=True)
        paused = Quarantine.objects.filter(pk=decision.quarantine or 0, lifted_at=None)
        for quarantine in paused.select_related("annotator"):
            lift(queue, quarantine.annotator, by=by)
        write_undone(queue, decision, by)
        return decision_of(queue, number)


def reply(queue: Queue, number: int, text: str, *, by: User) -> None:
    """Store what the annotator answers to the question; once. `InputError` for an empty or long text."""
    text = text.strip()
    with _one_at_a_time(queue):
        decision = decision_of(queue, number)
        if decision not in questions_for(queue, by):
            raise Http404(NOTHING_HERE)
        if not text:
            raise InputError(_("Write an answer first."), field="reply")
        if len(text) > LONGEST_QUESTION:
            problem = _("An answer may have at most {count} characters.").format(count=LONGEST_QUESTION)
            raise InputError(problem, field="reply")
        if decision.reply:
            raise InputError(_("You have answered this question already."), conflict=True)
        write_reply(queue, decision, by, text)


def questions_for(queue: Queue, annotator: User) -> list[WorkDecision]:
    own = (one for one in decisions_on(queue) if one.annotator_id == annotator.pk)
    return [one for one in own if one.decision == ASK and not one.undone_at]


@contextmanager
def _one_at_a_time(queue: Queue) -> Iterator[None]:
    """In one transaction, with the queue's row locked: two admins decide one after the other."""
    with transaction.atomic():
        Queue.objects.select_for_update(no_key=True).get(pk=queue.pk)
        yield


def _proposal_on(queue: Queue, name: str) -> Proposal:
    for proposal in proposals(queue):
        if proposal.username == name:
            return proposal
    raise InputError(
        f"There is nothing to decide about “{name}” in this queue.", field="annotator", missing=True
    )
