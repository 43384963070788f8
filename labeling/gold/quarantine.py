"""Stopping an annotator in a queue and setting their judgments aside, and taking that back.

Nothing is deleted: a judgment in quarantine is kept with its events and only not counted. Labels and the
slots of every item of its pair are computed again in the same transaction, so the items come up again for
others. Work of the same person in other queues is left alone. A verdict that still arrives from the person is
acknowledged, and set aside as well.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from labeling.adaptive.reordering import follow
from labeling.gold.rule import Advice, Score, advice
from labeling.gold.scores import gold_answers, score_of
from labeling.items.bookmarks import locked_bookmark
from labeling.items.slots import recount
from labeling.items.statements import in_quarantine, items_judged_by, items_set_aside
from labeling.models import Bookmark, Item, Judgment, Lease, Quarantine, Queue
from pooling.interface.problems import InputError
from pooling.people.access import JUDGES
from pooling.people.activity_log import record_action

BATCH = 500
MOST_EVIDENCE = 200


def review(queue: Queue, annotator: User, now: datetime) -> Quarantine | None:
    """Act on the rule of `labeling/gold/rule.py` after an answer, where the queue says so."""
    if queue.gold_pause != Queue.GoldPause.AUTOMATIC or in_quarantine(queue.pk, annotator):
        return None
    score = score_of(queue, annotator)
    if advice(score) != Advice.PAUSE:
        return None
    try:
        return impose(queue, annotator, reason=_reason(score), now=now)
    except InputError:
        return None  # somebody else was quicker


def impose(
    queue: Queue, annotator: User, *, by: User | None = None, reason: str = "", now: datetime | None = None
) -> Quarantine:
    """Stop an annotator in a queue and set aside what they judged in it; `by` is None for the rule.

    What they hold goes back. `InputError` when they are in quarantine already.
    """
    now = now or timezone.now()
    with transaction.atomic():
        bookmark = locked_bookmark(queue, annotator)
        if bookmark.paused:
            raise InputError(
                f"{annotator.get_username()} is already in quarantine in this queue.", conflict=True
            )
        leases = Lease.objects.filter(annotator=annotator, item__queue=queue)
        # Read in this order: what is held now and judged a moment later is in one of the two.
        keys = {*leases.values_list("item_id", flat=True), *items_judged_by(queue, annotator)}
        items = _locked(keys)
        quarantine = Quarantine.objects.create(
            queue=queue, annotator=annotator, imposed_by=by, imposed_at=now, reason=reason.strip()
        )
        own = Judgment.objects.counted().filter(annotator=annotator, event__queue=queue)
        set_aside = own.update(quarantine=quarantine)
        leases.delete()
        answers: list[Any] = [
            {**vars(answer), "judged_at": answer.judged_at.isoformat()}
            for answer in gold_answers(queue, annotator)[:MOST_EVIDENCE]
        ]
        score: Any = asdict(score_of(queue, annotator))
        quarantine.evidence = {"judgments": set_aside, "score": score, "answers": answers}
        quarantine.save(update_fields=["evidence"])
        _write_down(quarantine, by, "annotator paused", judgments=set_aside, reason=quarantine.reason)
        _recount(items, now)
        Bookmark.objects.filter(pk=bookmark.pk).update(paused=True)
    follow(queue, _queries_of(items), now=now)
    return quarantine


def lift(queue: Queue, annotator: User, *, by: User | None = None, now: datetime | None = None) -> Quarantine:
    """Let an annotator go on, and count again what was set aside; `InputError` if there is no quarantine."""
    now = now or timezone.now()
    with transaction.atomic():
        bookmark = locked_bookmark(queue, annotator)
        quarantine = Quarantine.objects.filter(queue=queue, annotator=annotator, lifted_at=None).first()
        if quarantine is None:
            raise InputError(f"{annotator.get_username()} is not in quarantine in this queue.", conflict=True)
        items = _locked(set(items_set_aside(quarantine)))
        Judgment.objects.filter(quarantine=quarantine).update(quarantine=None)
        quarantine.lifted_at, quarantine.lifted_by = now, by
        quarantine.save(update_fields=["lifted_at", "lifted_by"])
        _write_down(quarantine, by, "annotator restored")
        _recount(items, now)
        Bookmark.objects.filter(pk=bookmark.pk).update(paused=False)
    follow(queue, _queries_of(items), now=now)
    return quarantine


def annotator_named(queue: Queue, name: str) -> User:
    """Somebody who judges in the collection or has judged in the queue; `InputError` for anybody else."""
    judges = Q(memberships__collection=queue.collection_id, memberships__role__in=JUDGES)
    # Without a bookmark: what was imported, and who left and was deleted.
    worked = Q(bookmarks__queue=queue) | Exists(queue.events.filter(annotator=OuterRef("pk")))
    account = get_user_model().objects.filter(judges | worked, username=name).distinct().first()
    if account is None:
        raise InputError(f"Nobody called “{name}” annotates in this queue.", field="annotator", missing=True)
    return account


def _write_down(quarantine: Quarantine, by: User | None, action: str, **detail: Any) -> None:
    queue = quarantine.queue
    record_action(queue.collection, by, action, quarantine.annotator, queue=queue.name, **detail)


def _locked(keys: set[int]) -> list[list[Item]]:
    """Lock items in key order, in batches that every database takes."""
    in_order = sorted(keys)
    batches = (in_order[start : start + BATCH] for start in range(0, len(in_order), BATCH))
    rows = Item.objects.order_by("pk").select_for_update(no_key=True)
    return [list(rows.filter(pk__in=batch)) for batch in batches]


def _recount(items: list[list[Item]], now: datetime) -> None:
    for batch in items:
        recount(batch, now)


def _queries_of(items: list[list[Item]]) -> list[int]:
    return sorted({item.query_id for batch in items for item in batch})


def _reason(score: Score) -> str:
    right = score.relevant_right, score.not_relevant_right
    totals = right[0] + score.relevant_wrong, right[1] + score.not_relevant_wrong
    return (
        f"The rule for gold questions: {right[0]} of {totals[0]} relevant and {right[1]} of {totals[1]} "
        "not relevant ones answered correctly."
    )
