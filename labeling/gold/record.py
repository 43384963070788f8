"""Decisions on implausible work as entries of the activity log: a decision, its undoing, an answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from labeling.models import Queue
from pooling.interface.results import PAGE_ONLY
from pooling.models import AdminAction
from pooling.people.activity_log import record_action

ACTION = "implausible work"
# What an admin may decide, with how the record has it.
PAUSE, ASK, IGNORE = "pause", "ask", "ignore"
DECISIONS = {PAUSE: "paused", ASK: "asked", IGNORE: "ignored"}
UNDONE, ANSWERED = "undone", "answered"


@dataclass(frozen=True)
class WorkDecision:
    """An admin's decision, and its reasons."""

    annotator_id: Annotated[int, PAGE_ONLY]
    annotator: str
    decision: Annotated[str, {"choices": list(DECISIONS)}]
    # The rule looks at later answers from then on, and again at those before once the decision is undone.
    last_event: Annotated[int, PAGE_ONLY]
    chance: float
    signs: list[str] = field(default_factory=list)
    question: str = ""
    reply: str = ""
    # The key of the pause, where it was one.
    quarantine: Annotated[int | None, PAGE_ONLY] = None
    id: int = 0
    decided_by: str | None = None
    decided_at: Annotated[datetime | None, {"allow_null": False}] = None
    undone_by: Annotated[str | None, PAGE_ONLY] = None
    undone_at: datetime | None = None

    @property
    def in_words(self) -> str:
        return DECISIONS[self.decision]


def decisions_on(queue: Queue) -> list[WorkDecision]:
    rows = AdminAction.objects.filter(
        collection=queue.collection_id, action__startswith=f"{ACTION} ", detail__queue_id=queue.pk
    )
    decisions: dict[int, WorkDecision] = {}
    for row in rows.select_related("actor", "about").order_by("pk"):
        what = row.action.removeprefix(f"{ACTION} ")
        by = row.actor.get_username() if row.actor else None
        if what == UNDONE:
            first = decisions[row.detail["decision"]]
            decisions[first.id] = replace(first, undone_by=by, undone_at=row.at)
        elif what == ANSWERED:
            first = decisions[row.detail["decision"]]
            decisions[first.id] = replace(first, reply=row.detail["reply"])
        else:
            decisions[row.pk] = _decision(row, by)
    return list(decisions.values())[::-1]


def write_decision(queue: Queue, decision: WorkDecision, by: User) -> WorkDecision:
    row = record_action(
        queue.collection,
        by,
        f"{ACTION} {decision.in_words}",
        _annotator(decision),
        queue=queue.name,
        queue_id=queue.pk,
        choice=decision.decision,
        annotator_id=decision.annotator_id,
        last_event=decision.last_event,
        chance=decision.chance,
        signs=decision.signs,
        question=decision.question,
        quarantine=decision.quarantine,
    )
    return replace(_decision(row, by.get_username()), annotator=decision.annotator)


def write_undone(queue: Queue, decision: WorkDecision, by: User) -> None:
    facts = {"queue": queue.name, "queue_id": queue.pk, "decision": decision.id}
    record_action(queue.collection, by, f"{ACTION} {UNDONE}", _annotator(decision), **facts)


def write_reply(queue: Queue, decision: WorkDecision, by: User, reply: str) -> None:
    facts = {"queue": queue.name, "queue_id": queue.pk, "decision": decision.id, "reply": reply}
    record_action(queue.collection, by, f"{ACTION} {ANSWERED}", _annotator(decision), **facts)


def _annotator(decision: WorkDecision) -> User:
    return get_user_model()(pk=decision.annotator_id)


def _decision(row: AdminAction, by: str | None) -> WorkDecision:
    facts = row.detail
    return WorkDecision(
        annotator_id=facts["annotator_id"],
        annotator=row.subject_name,
        decision=facts["choice"],
        last_event=facts["last_event"],
        chance=facts["chance"],
        signs=facts["signs"],
        question=facts["question"],
        quarantine=facts["quarantine"],
        id=row.pk,
        decided_by=by,
        decided_at=row.at,
    )
