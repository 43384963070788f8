"""Deeds on an item: judge, skip, undo. The rules are stated in `labeling/queues/opening.py`.

`record_judgment` is the one writer of judgments; whatever a person does is an appended event, and the
judgment is its projection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.adaptive.reordering import follow
from labeling.exposure.showing import Proposal, contradicted_by, facts_of_sight, hand_out, proposal_of
from labeling.exposure.use import expect
from labeling.gold.quarantine import review
from labeling.items.answers import given_in, own_answers
from labeling.items.evidence import facts_of_evidence, problem_with_version
from labeling.items.slots import GOLD_STATES, SLOTLESS, recount, slots_of, store
from labeling.items.statements import end_leases, in_quarantine, judgments_of_pair, lock_items_of_pair
from labeling.judging.leases import PAUSED_FOR_YOU, give_lease, state_of
from labeling.judging.sentences import not_open_sentence
from labeling.judging.submissions import Submission, facts_of, problem_with
from labeling.models import Item, Judgment, JudgmentEvent, Lease, Prelabel, Queue, Verdict
from labeling.signals import verdict_recorded
from pooling.interface.problems import InputError
from pooling.storage.rows import add_rows

UNDO_REACH = 20
STORED, STORED_BEFORE = "Stored.", "Already saved; nothing changed."
EXTRA = "Saved as an extra judgment; the pair already had enough."


@dataclass(frozen=True)
class Outcome:
    """Status of a submission: `stored`, `extra`, `duplicate` or `rejected`, and a sentence.

    `key` is None where none could be read. `prelabel` is what is revealed after the verdict, because a model
    says otherwise. `is_set_aside`: it came in a quarantine, or led to one.
    """

    key: str | None
    status: str
    detail: str
    prelabel: Proposal | None = None
    is_set_aside: bool = False

    def without_extra(self) -> Outcome:
        """The same, not saying whether the pair had enough without it."""
        if self.status == "extra":
            return replace(self, status="stored", detail=STORED)
        return replace(self, detail=STORED_BEFORE) if self.status == "duplicate" else self


def record_judgment(
    queue: Queue, annotator: User, verdict: Submission, *, now: datetime | None = None
) -> Outcome:
    """Store a verdict, once for its key and never too late; each in a separate transaction."""
    outcome = _recorded(queue, annotator, verdict, now or timezone.now())
    verdict_recorded.send(Queue, queue=queue, status=outcome.status)
    return outcome


def _recorded(queue: Queue, annotator: User, verdict: Submission, now: datetime) -> Outcome:
    if problem := problem_with(verdict):
        return Outcome(verdict.key, "rejected", problem)
    try:
        with transaction.atomic():
            outcome, event = _record(queue, annotator, verdict, now)
    except IntegrityError:
        # The same key arrived twice at once, and the other one was quicker.
        event = JudgmentEvent.objects.filter(annotator=annotator, key=verdict.key).first()
        if event is None:
            raise
        return _duplicate(event)
    except InputError as problem:
        if verdict.adjudicates:
            raise
        return Outcome(verdict.key, "rejected", str(problem))
    # After any verdict, so that none takes longer. What a pause sets aside is locked in key order.
    if event and (event.gold_id or queue.gold_count) and review(queue, annotator, now):
        outcome = replace(outcome, is_set_aside=True)
    if event:
        follow(queue, [event.query_id], now=now)
    return outcome


def skip(
    queue: Queue, annotator: User, item_id: int, *, lease: UUID | None = None, now: datetime | None = None
) -> None:
    """Give an item's slot back; it is offered to this person again only when nothing else is left.

    Raises `InputError` for an item that is not of this queue. The same lease skipped again changes nothing.
    """
    now = now or timezone.now()
    with transaction.atomic():
        items = list(Item.objects.filter(pk=item_id, queue=queue).select_for_update(no_key=True))
        if not items:
            raise InputError(_("This pair is not in this queue."), fields={"item": "Not in this queue."})
        key = f"skip:{lease or uuid4()}"
        if not JudgmentEvent.objects.filter(annotator=annotator, key=key).exists():
            _append(queue, annotator, items[0], kind=JudgmentEvent.Kind.SKIP, key=key, now=now, lease=lease)
        Lease.objects.filter(item=items[0], annotator=annotator).delete()
        recount(items, now, always=queue.hides_items)


def undo(queue: Queue, annotator: User, key: str, *, now: datetime | None = None) -> Lease | None:
    """Take back the verdict with `key`, one of the annotator's last 20 in the queue, and hold its item again.
    An adjudication can be taken back however old it is.

    What the person had said of the pair before counts again, otherwise nothing. Returns the fresh lease
    (or, when asked again, the one still held), or None where no slot is free or an earlier verdict stands.
    Raises `InputError` for any other key, and where the queue hands nothing out to the person: the label
    would be gone, with no way to say another.
    """
    now = now or timezone.now()
    event = _undoable(queue, annotator, key)
    with transaction.atomic():
        rows = Item.objects.filter(query=event.query_id, document=event.document_id)
        items = list(rows.order_by("pk").select_for_update(no_key=True))
        if not JudgmentEvent.objects.filter(annotator=annotator, key=f"undo:{key}").exists():
            _check_comes_back(queue, annotator, event)
            _take_back(queue, annotator, event, now)
        recount(items, now, always=queue.hides_items)
        item = next((item for item in items if item.pk == event.item_id), None)
        lease = _hold_again(queue, annotator, item, now) if item else None
    follow(queue, [event.query_id], now=now)
    return lease


def _record(
    queue: Queue, annotator: User, verdict: Submission, now: datetime
) -> tuple[Outcome, JudgmentEvent | None]:
    items = lock_items_of_pair(queue, annotator, verdict.item, verdict.key)
    item = next((item for item in items if item.pk == verdict.item), None)
    # A repeat is for the one person whose verdict it repeats.
    if item is None or item.repeats_for not in (None, annotator.pk):
        return Outcome(verdict.key, "rejected", _("This pair is not in this queue.")), None
    if not (item.is_member or annotator.is_superuser):
        return Outcome(verdict.key, "rejected", _("You are no longer an annotator of this collection.")), None
    if item.key_is_known:
        return _duplicate(JudgmentEvent.objects.get(annotator=annotator, key=verdict.key)), None
    if problem := problem_with_version(verdict.version, item.newest_version):
        return Outcome(verdict.key, "rejected", problem), None
    judgments = judgments_of_pair(item.query_id, item.document_id)
    if verdict.adjudicates and not verdict.overrules:
        _check_waits(item, annotator, judgments)
    ended = end_leases(items, annotator, now)
    active = _active_leases(items, ended)
    extra = _is_extra(item, annotator, verdict, judgments=judgments, leases=[*ended, *active], now=now)
    revealed = _revealed(queue, item, verdict)
    event = _append(
        queue,
        annotator,
        item,
        kind=JudgmentEvent.Kind.VERDICT,
        key=verdict.key,
        now=now,
        extra=extra,
        gold_id=item.gold_id if item.state in GOLD_STATES else None,
        repeats_id=item.repeats_id,
        **facts_of_sight(item.seen_prelabeler, revealed),
        **facts_of(verdict),
        **facts_of_evidence(item.document_id, verdict.version, verdict.evidence),
    )
    if revealed:
        hand_out(annotator, [revealed], now)
    # A quarantine takes the leases of its queue away, and waits for the items that are leased.
    is_late = not any((lease.annotator_id, lease.item_id) == (annotator.pk, item.pk) for lease in ended)
    quarantine = in_quarantine(queue.pk, annotator) if is_late else None
    if event.repeats_id:
        for judgment in judgments:
            if judgment.annotator_id == event.annotator_id:
                judgment.save(update_fields=["judged_at"])
    else:
        _project(event, judgments, quarantine)
    expect({item: item.now_expected for item in items})
    _fill_slots(items, judgments, active, always=queue.hides_items)
    return replace(_outcome(event, revealed), is_set_aside=quarantine is not None), event


def _check_waits(item: Item, adjudicator: User, judgments: Sequence[Judgment]) -> None:
    """`InputError` unless the locked item waits for adjudication, or its adjudicator thinks again."""
    if item.state == Item.State.ADJUDICATION:
        return
    decisions = [one for one in judgments if one.is_adjudication and one.is_counted]
    latest = max(decisions, key=lambda one: one.event_id, default=None)
    if latest is None:
        raise InputError("This pair does not need adjudication.", field="item", conflict=True)
    if latest.annotator_id != adjudicator.pk:
        verdict = latest.get_verdict_display().lower()
        problem = f"Another admin has settled this pair: {verdict}. If you disagree, correct its label."
        raise InputError(problem, field="item", conflict=True)


def _revealed(queue: Queue, item: Any, verdict: Submission) -> Prelabel | None:
    """The pre-label shown after a verdict; anyone who has seen one of the pair is shown none again."""
    if item.seen_prelabeler or verdict.adjudicates:
        return None
    return contradicted_by(queue, item, verdict.verdict)


def _active_leases(items: Sequence[Item], ended: Sequence[Lease]) -> list[Lease]:
    """Other people's leases on locked items; the database is asked only when some are left."""
    counted = {item.pk for item in items if item.leased}
    left = sum(item.leased for item in items) - sum(lease.item_id in counted for lease in ended)
    return list(Lease.objects.filter(item__in=counted)) if left else []


def _is_extra(
    item: Item,
    annotator: User,
    verdict: Submission,
    *,
    judgments: Sequence[Judgment],
    leases: Sequence[Lease],
    now: datetime,
) -> bool:
    """No slot of the item is free for this verdict; a second thought keeps the place of the first, and the
    thoughts of someone who settled the pair have none."""
    if verdict.verdict == Verdict.CANNOT_JUDGE or verdict.adjudicates or item.state in SLOTLESS:
        return False
    if any(one.is_adjudication and one.annotator_id == annotator.pk for one in judgments):
        return True
    active = {lease.annotator_id for lease in leases if lease.item_id == item.pk and lease.expires_at > now}
    votes = {
        judgment.annotator_id: judgment.extra  # type: ignore[attr-defined]
        for judgment in judgments
        if judgment.verdict != Verdict.CANNOT_JUDGE and judgment.is_counted and not judgment.is_adjudication
    }
    if annotator.pk in votes:
        return bool(votes[annotator.pk])
    if annotator.pk in active:
        return False
    return len(votes) + len(active) >= item.needed


def _append(
    queue: Queue,
    annotator: User,
    pair: Item | JudgmentEvent,
    *,
    kind: str,
    key: str,
    now: datetime,
    **facts: Any,
) -> JudgmentEvent:
    event = JudgmentEvent(
        collection_id=queue.collection_id,
        queue=queue,
        item_id=pair.pk if isinstance(pair, Item) else pair.item_id,
        query_id=pair.query_id,
        document_id=pair.document_id,
        annotator=annotator,
        kind=kind,
        key=key,
        created_at=now,
        **facts,
    )
    add_rows([event])
    return event


class _JudgmentFacts(TypedDict):
    verdict: str
    event: JudgmentEvent
    judged_at: datetime
    is_gold: bool
    is_adjudication: bool
    quarantine_id: int | None


def _facts_from(event: JudgmentEvent, quarantine: int | None) -> _JudgmentFacts:
    return {
        "verdict": event.verdict,
        "event": event,
        "judged_at": event.created_at,
        "is_gold": event.gold_id is not None,
        "is_adjudication": event.is_adjudication,
        "quarantine_id": None if event.gold_id else quarantine,
    }


def _project(event: JudgmentEvent, judgments: list[Judgment], quarantine: int | None) -> None:
    """Make the event its author's current verdict on the pair; in a quarantine it does not count.

    Of a gold question the first answer stands: a second thought may come from somewhere else. And who has
    settled the pair, and judges it in a queue that had handed it out before, decides nothing by that.
    """
    facts = _facts_from(event, quarantine)
    for judgment in judgments:
        if judgment.annotator_id == event.annotator_id:
            is_decided = judgment.is_adjudication and not event.is_adjudication
            stays = is_decided or (judgment.is_gold and event.gold_id)
            changes = {"judged_at": judgment.judged_at} if stays else facts
            for name, value in changes.items():
                setattr(judgment, name, value)
            judgment.save(update_fields=list(changes))
            return
    judgment = Judgment(
        collection_id=event.collection_id,
        query_id=event.query_id,
        document_id=event.document_id,
        annotator_id=event.annotator_id,
        **facts,
    )
    add_rows([judgment])
    judgments.append(judgment)


def _fill_slots(
    items: Sequence[Item], judgments: Sequence[Judgment], active: Sequence[Lease], *, always: bool
) -> None:
    verdicts = [judgment.for_slots for judgment in judgments if judgment.is_counted]
    expiries = defaultdict(list)
    for lease in active:
        expiries[lease.item_id].append(lease.expires_at)
    slots = ((item, slots_of(item, verdicts, expiries[item.pk])) for item in items)
    store(slots, always=always)


def _outcome(event: JudgmentEvent, revealed: Prelabel | None) -> Outcome:
    proposal = proposal_of(revealed) if revealed else None
    if event.extra:
        return Outcome(event.key, "extra", EXTRA, proposal)
    return Outcome(event.key, "stored", STORED, proposal)


def _duplicate(event: JudgmentEvent) -> Outcome:
    message = "Already saved as an extra judgment; nothing changed." if event.extra else STORED_BEFORE
    return Outcome(event.key, "duplicate", message)


def _undoable(queue: Queue, annotator: User, key: str) -> JudgmentEvent:
    mine = given_in(queue, annotator).order_by("-pk")
    # Rules settle many pairs at once, and an admin may look at them much later.
    settled = queue.events.filter(annotator=annotator, key=key, is_adjudication=True, brought_by=None)
    for event in (*mine[:UNDO_REACH], *settled.filter(kind=JudgmentEvent.Kind.VERDICT)):
        if event.key == key:
            return event
    raise InputError(
        _("None of your last {count} verdicts in this queue has this key.").format(count=UNDO_REACH),
        field="key",
    )


def _check_comes_back(queue: Queue, annotator: User, event: JudgmentEvent) -> None:
    """An adjudication can always be taken back: the pair waits for another, and is handed to nobody."""
    if event.is_adjudication:
        return
    state = PAUSED_FOR_YOU if in_quarantine(queue.pk, annotator) else state_of(queue)
    if state != Queue.State.OPEN:
        raise InputError(not_open_sentence(state), conflict=True)


def _take_back(queue: Queue, annotator: User, event: JudgmentEvent, now: datetime) -> None:
    """Append the undo and let the latest verdict that is not undone stand, a decision before all others, or
    none; no repeat ever stood.

    An answer to a gold question is taken back only as long as it is the last verdict: that mends a slip.
    """
    _append(
        queue, annotator, event, kind=JudgmentEvent.Kind.UNDO, key=f"undo:{event.key}", now=now, undoes=event
    )
    if event.repeats_id or (event.gold_id and not _is_slip(queue, annotator, event)):
        return
    own = Q(query=event.query_id, document=event.document_id, annotator=annotator)
    standing = (
        JudgmentEvent.objects.filter(
            own, kind=JudgmentEvent.Kind.VERDICT, repeats=None, brought_by__deleted_at=None
        )
        .exclude(Exists(JudgmentEvent.objects.filter(undoes=OuterRef("pk"))))
        .order_by("-is_adjudication", "-pk")
        .first()
    )
    if standing is None:
        Judgment.objects.filter(own).delete()
    else:
        quarantine = in_quarantine(standing.queue_id, annotator)
        Judgment.objects.filter(own).update(**_facts_from(standing, quarantine))


def _is_slip(queue: Queue, annotator: User, event: JudgmentEvent) -> bool:
    """True for an answer to a gold question that is the one that counts, with no verdict after it."""
    later = queue.events.filter(annotator=annotator, kind=JudgmentEvent.Kind.VERDICT, pk__gt=event.pk)
    return not later.exists() and Judgment.objects.filter(event=event).exists()


def _has_verdict(annotator: User, item: Item) -> bool:
    """True where an earlier verdict of the annotator stands after an undo."""
    if item.state in SLOTLESS:
        return own_answers(annotator).filter(item=item).exists()
    pair = {"query": item.query_id, "document": item.document_id}
    return Judgment.objects.filter(annotator=annotator, **pair).exists()


def _hold_again(queue: Queue, annotator: User, item: Item, now: datetime) -> Lease | None:
    own = Lease.objects.filter(item=item, annotator=annotator).select_related("item__query", "item__document")
    if lease := own.first():
        return lease
    if _has_verdict(annotator, item):
        return None
    is_free = item.state == Item.State.OPEN and item.done + item.leased < item.needed
    is_hidden = item.state in (Item.State.GOLD, Item.State.REPEAT)
    if not (is_free or is_hidden) or queue.state != Queue.State.OPEN:
        return None
    if in_quarantine(queue.pk, annotator):
        return None
    give_lease(queue, item, annotator, now)
    return own.get()
