"""Settling a pair: an admin decides what judgments leave open, by a verdict that is an event like any other.

Pairs come here on a tie, and when two people could not judge. What the adjudicator says is the label,
whatever the rule of a release; the judgments stay as they were given.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

from django.contrib.auth.models import User
from django.db.models import Case, QuerySet, Value, When

from labeling.gold.questions import NewQuestion, add_question, change_question
from labeling.items.slots import SLOTLESS
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import Outcome, record_judgment, undo
from labeling.models import GoldQuestion, Item, Judgment, Queue
from labeling.qrels.explanation import Explanation
from pooling.interface.problems import InputError
from pooling.models import Collection


def adjudicate(queue: Queue, adjudicator: User, given: Submission, *, overrules: bool = False) -> Outcome:
    """Settle the pair of an item; `InputError` for a verdict that is none, and for an item that waits for no
    adjudication, unless the adjudicator thinks again or this `overrules` what others said. The same key sent
    again changes nothing; without one, the verdict gets its own."""
    key = given.key or f"adjudication-{uuid4()}"
    if not queue.items.filter(pk=given.item).exists():
        raise InputError(
            "This pair is not in this queue.", fields={"item": "Not in this queue."}, missing=True
        )
    settling = replace(given, key=key, shown="document", adjudicates=True, overrules=overrules)
    outcome = record_judgment(queue, adjudicator, settling)
    if outcome.status == "rejected":
        raise InputError(outcome.detail)
    return outcome


def take_back(queue: Queue, adjudicator: User, key: str) -> None:
    """Undo one's own adjudication, so that the pair waits again; `InputError` for any other verdict's key."""
    if not queue.events.filter(annotator=adjudicator, key=key, is_adjudication=True).exists():
        raise InputError("You have not adjudicated anything under this key.", field="key")
    undo(queue, adjudicator, key)


def adjudicated(queue: Queue) -> QuerySet[Judgment]:
    """Newest first, with pair, adjudicator and event."""
    rows = Judgment.objects.counted().filter(is_adjudication=True, event__queue=queue)
    return rows.select_related("query", "document", "annotator", "event").order_by("-event")


NO_QUEUE = (
    "This pair is in no queue, so no verdict can be given on it. Search for the document in a queue and add "
    "it, or make the pair a gold question."
)
NOT_YET = "Nobody has judged this pair yet: it has its turn in the queue."


def item_to_settle(explanation: Explanation) -> Item | None:
    """The item through which the pair can be settled: one that waits for a decision, else of the newest
    queue. None for a gold question, for a pair in no queue, and for one without a label or a verdict, which
    nobody may choose out of turn: estimates rest on the order."""
    if explanation.relevance is None and not explanation.judgments:
        return None
    items = Item.objects.filter(query=explanation.query, document=explanation.document).exclude(
        state__in=SLOTLESS
    )
    waits_first = Case(When(state=Item.State.ADJUDICATION, then=Value(0)), default=Value(1))
    return items.select_related("queue").order_by(waits_first, "-queue", "-pk").first()


def correct(explanation: Explanation, admin: User, given: Submission) -> None:
    """Settle the pair, whatever was said of it; `InputError` where it has no item that takes a verdict."""
    item = item_to_settle(explanation)
    if item is None:
        raise InputError(_why_not(explanation))
    adjudicate(item.queue, admin, replace(given, item=item.pk), overrules=True)


def own_correction(explanation: Explanation, admin: User) -> Judgment | None:
    """The verdict with which this admin settled the pair, to be undone."""
    own = (one for one in explanation.judgments if one.annotator_id == admin.pk and one.is_adjudication)
    return next(own, None)


def undo_correction(explanation: Explanation, admin: User) -> None:
    """Take back what this admin settled the pair with; `InputError` where it is too long ago."""
    own = own_correction(explanation, admin)
    if own is None or own.event.queue is None:
        raise InputError("You have not corrected this label.")
    take_back(own.event.queue, admin, own.event.key)


def make_gold(
    collection: Collection, explanation: Explanation, answer: str, reason: str, *, user: User
) -> None:
    """Make the pair a gold question, or give the one it is this answer; it is in use again."""
    if explanation.gold is None:
        question = NewQuestion(
            explanation.query.external_id, explanation.document.external_id, answer, reason
        )
        add_question(collection, question, user=user)
        return
    changes = {"answer": answer, "active": True, **({"reason": reason} if reason else {})}
    change_question(explanation.gold, by=user, **changes)


def stop_gold(question: GoldQuestion | None, *, user: User) -> None:
    """Use a gold question no longer: its pair is ordinary again."""
    if question is None:
        raise InputError("This pair is not a gold question.")
    change_question(question, by=user, active=False)


def _why_not(explanation: Explanation) -> str:
    is_gold = explanation.gold is not None and explanation.gold.active
    if is_gold:
        return "Its label is the answer of a gold question: change the answer instead."
    return NO_QUEUE if explanation.judgments or explanation.relevance is not None else NOT_YET
