"""Settling a pair: an admin decides what judgments leave open, by a verdict that is an event like any other.

Pairs come here on a tie, and when two people could not judge. What the adjudicator says is the label,
whatever the rule of a release; the judgments stay as they were given.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

from django.contrib.auth.models import User
from django.db.models import QuerySet

from labeling.judging.submissions import Submission
from labeling.judging.verdicts import Outcome, record_judgment, undo
from labeling.models import Item, Judgment, JudgmentEvent, Queue
from pooling.interface.problems import InputError


def adjudicate(queue: Queue, adjudicator: User, given: Submission, *, overrules: bool = False) -> Outcome:
    """Settle the pair of an item; `InputError` for a verdict that is none, and for an item that waits for no
    adjudication, unless this `overrules` what the others said. The same key sent again changes nothing;
    without one, the verdict gets its own.
    """
    key = given.key or f"adjudication-{uuid4()}"
    item = queue.items.filter(pk=given.item).first()
    if item is None:
        raise InputError(
            "This pair is not in this queue.", fields={"item": "Not in this queue."}, missing=True
        )
    was_sent = JudgmentEvent.objects.filter(annotator=adjudicator, key=key).exists()
    waits = overrules or item.state == Item.State.ADJUDICATION
    if not waits and not was_sent and not _was_adjudicated(item):
        problem = "This pair does not need adjudication; another admin may have settled it."
        raise InputError(problem, field="item", conflict=True)
    settling = replace(given, key=key, shown="document", adjudicates=True)
    outcome = record_judgment(queue, adjudicator, settling)
    if outcome.status == "rejected":
        raise InputError(outcome.detail)
    return outcome


def take_back(queue: Queue, adjudicator: User, key: str) -> None:
    """Undo one's own adjudication, however old; the pair waits again.

    `InputError` for a key of any other verdict: what somebody judged is undone where they judged it.
    """
    if not queue.events.filter(annotator=adjudicator, key=key, is_adjudication=True).exists():
        raise InputError("You have not adjudicated anything under this key.", field="key")
    undo(queue, adjudicator, key)


def adjudicated(queue: Queue) -> QuerySet[Judgment]:
    """Newest first, with pair, adjudicator and event."""
    rows = Judgment.objects.counted().filter(is_adjudication=True, event__queue=queue)
    return rows.select_related("query", "document", "annotator", "event").order_by("-event")


def _was_adjudicated(item: Item) -> bool:
    """An adjudicator may think again."""
    return (
        Judgment.objects.counted()
        .filter(query=item.query_id, document=item.document_id, is_adjudication=True)
        .exists()
    )
