"""Handing items out: claim, renew, release. The rules are stated in `labeling/queues/opening.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Annotated
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, Min, Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from labeling.adaptive.reordering import find_more
from labeling.gold.hidden import deal_more, deal_the_rest
from labeling.gold.practice import is_practice_due
from labeling.items.answers import own_answers
from labeling.items.bookmarks import locked_bookmark, move, move_back, places_ahead, stretch_at
from labeling.items.dealt import Standing, standing, to_hand_out
from labeling.items.slots import SLOTLESS, Slots, recount, store
from labeling.items.statements import (
    LONG_TEXT,
    Keys,
    items_by_id,
    lock_free_items,
    lock_these_items,
    own_leases,
)
from labeling.judging.blind_counts import tell_left
from labeling.models import Bookmark, Item, Judgment, Lease, Queue
from labeling.models.words import SAME_PAIR
from labeling.signals import items_claimed, queue_emptied
from pooling.models import Document
from pooling.storage.rows import add_rows

# Hiding of a model's doubt of one's own verdict: the state of the pair must not show it.
#
# A verdict against a confident pre-label has its pair judged once more. Anyone who gave it would read the
# model's answer from a pair that does not close, or from a need that rises. So to them it counts as any other
# pair with as many judgments; to everybody else it is open, and is handed out.


def may_be_doubted(user: User) -> Q:
    """Items of pairs that `user` has judged and of which a confident pre-label lets expect a verdict."""
    own = Judgment.objects.filter(**SAME_PAIR, annotator=user.pk)
    return ~Q(expected="") & Q(Exists(own))


def closed_to(user: User) -> Q:
    """Items that are closed to `user`, whatever their state: a model's doubt may be all that moves it."""
    return Q(done__gte=F("needed_at_least")) & may_be_doubted(user)


LARGEST_CLAIM = 50
# A candidate may turn out taken when its leases are counted afresh; after this many tries the rest is left.
ROUNDS = 3
#: The texts of what somebody holds have no more bytes together, or are one text. A claim takes less than is
#: asked for where the texts are long.
MOST_BYTES = 2**22
#: What came back is looked for among the places dealt last: as many as a person may hold, and a stretch.
LAST_PLACES = 128

# What the queue is to somebody to whom it hands nothing out; it fits "This queue is …".
PAUSED_FOR_YOU = gettext_noop("paused for you until an admin has reviewed your work")
DELETED = gettext_noop("deleted")
PRACTICE_FIRST = gettext_noop("waiting for you to finish the practice round")


@dataclass(frozen=True)
class EmptyQueue:
    """Why there is nothing for you now; the counts are of items."""

    leased: Annotated[int, "Held by others."]
    second_opinion: Annotated[int, "Judged by you, waiting for another annotator."]
    conflict: Annotated[int, "Tied, or could not be judged."]
    next_free_at: Annotated[datetime | None, "When the next lease expires."]
    state: Annotated[
        str,
        "State of the queue for you, to complete “This queue is …”; only an open queue hands out pairs.",
    ]


@dataclass(frozen=True)
class Claim:
    leases: list[Lease]
    empty: EmptyQueue | None


def claim(queue: Queue, annotator: User, count: int = 10, *, now: datetime | None = None) -> Claim:
    """Lease up to `count` items: first those still held, so that a reload neither loses nor doubles.

    1. The bookmark's row is locked, so that two tabs of one person take turns.
    2. Free items are locked in stored order where the bookmark says to look, passing over rows that others
       are just taking; items this person skipped only when nothing else is left.
    3. What is locked is counted afresh, and leased where a slot is still free.
    4. In a queue that hides gold questions or repeats, what comes at each place was dealt before, once (see
       `labeling/gold/hidden.py`), and is handed out in that order.
    5. Long texts make it fewer items: see `MOST_BYTES`.

    Somebody in quarantine, or with practice questions to answer first, gets nothing, and the reason.
    """
    result = _claim_result(queue, annotator, max(1, min(count, LARGEST_CLAIM)), now or timezone.now())
    items_claimed.send(Queue, queue=queue, count=len(result.leases))
    return result


def _claim_result(queue: Queue, annotator: User, count: int, now: datetime) -> Claim:
    if state_of(queue) != Queue.State.OPEN:
        return Claim([], _why_empty(queue, annotator, now))
    leases, stop = _claim(queue, annotator, count, now)
    if not leases and not stop:
        # Somebody may just be taking one of two free slots of the last items: wait for that once.
        leases, stop = _claim(queue, annotator, count, now, waiting=True)
    if not leases and not stop and find_more(queue, now=now):
        leases, stop = _claim(queue, annotator, count, now)
    if leases:
        return Claim(leases, None)
    empty = _why_empty(queue, annotator, now)
    if stop:
        return Claim([], replace(empty, state=stop))
    tell_left(queue, annotator, empty.leased, now)
    queue_emptied.send(Queue, queue=queue)
    return Claim([], empty)


def _claim(
    queue: Queue, annotator: User, count: int, now: datetime, *, waiting: bool = False
) -> tuple[list[Lease], str]:
    """The leases, and what keeps this person from having any; rows that others hold are passed over.

    With `waiting` they are waited for instead, in the order of their keys, as whatever locks several rows
    does: in a transaction that holds no other row it cannot be in anybody's way who waits for one of its own.
    """
    with transaction.atomic():
        bookmark = locked_bookmark(queue, annotator)
        if stop := _what_stops(bookmark):
            return [], stop
        leases = _current_leases(queue, annotator, count, now)
        if len(leases) < count:
            leases += _take_new(bookmark, count - len(leases), leases, now, waiting=waiting)
    return leases, ""


def state_of(queue: Queue) -> str:
    """The queue's state to those who judge in it: open, paused, closed or deleted."""
    return DELETED if queue.deleted_at or queue.collection.deleted_at else str(queue.state)


def renew(
    queue: Queue, annotator: User, tokens: Sequence[UUID], *, now: datetime | None = None
) -> list[Lease]:
    """Extend the leases among `tokens` that `annotator` still holds in `queue`, and return them."""
    now = now or timezone.now()
    with transaction.atomic():
        items = _lock_leased(queue, annotator, tokens)
        rows = Lease.objects.filter(item__in=items, annotator=annotator, token__in=tokens, expires_at__gt=now)
        leases = list(rows)
        expires_at = now + timedelta(seconds=queue.lease_seconds)
        Lease.objects.filter(pk__in=[lease.pk for lease in leases]).update(expires_at=expires_at)
        recount(items, now)
    for lease in leases:
        lease.expires_at = expires_at
    return leases


def release(queue: Queue, annotator: User, tokens: Sequence[UUID], *, now: datetime | None = None) -> int:
    """Return the leases among `tokens` that belong to `annotator`, and say how many that were.

    The bookmark goes back to their stretch, so that coming back means going on with the same query. What was
    dealt comes again from its place.
    """
    now = now or timezone.now()
    with transaction.atomic():
        bookmark = locked_bookmark(queue, annotator)
        items = _lock_leased(queue, annotator, tokens)
        if not queue.hides_items:
            move_back(bookmark, items)
        own = Lease.objects.filter(item__in=items, annotator=annotator, token__in=tokens)
        returned, _ = own.delete()
        recount(items, now, always=queue.hides_items)
    return returned


def give_lease(queue: Queue, item: Item, annotator: User, now: datetime) -> Lease:
    """Lease one locked item with a free slot; the caller has counted it."""
    (lease,) = _lease(queue, [item], annotator, now)
    return lease


def _what_stops(bookmark: Bookmark) -> str:
    if bookmark.paused:
        return PAUSED_FOR_YOU
    return PRACTICE_FIRST if is_practice_due(bookmark) else ""


def _current_leases(queue: Queue, annotator: User, count: int, now: datetime) -> list[Lease]:
    """The leases that are still held, renewed when half of their time is over."""
    if not (own := own_leases(annotator, now)):
        return []
    states = (Item.State.OPEN, Item.State.GOLD, Item.State.REPEAT)
    current = Lease.objects.filter(pk__in=own, item__queue=queue, item__state__in=states)
    leases = list(current.select_related("item__query", "item__document").order_by("pk")[:count])
    half = now + timedelta(seconds=queue.lease_seconds / 2)
    old = {lease.token: lease for lease in leases if lease.expires_at < half}
    if old:
        for renewed in renew(queue, annotator, list(old), now=now):
            old[renewed.token].expires_at = renewed.expires_at
    return leases


def _take_new(
    bookmark: Bookmark, count: int, leases: list[Lease], now: datetime, *, waiting: bool
) -> list[Lease]:
    taken_ids = {lease.item_id for lease in leases}
    take = _take_dealt if bookmark.queue.hides_items else _take_ordinary
    items = take(bookmark, count, taken_ids, now, waiting=waiting)
    room = MOST_BYTES - sum(_bytes(lease.item) for lease in leases)
    chosen = items[: _how_many(items, room, at_least=0 if leases else 1)]
    if chosen != items and not bookmark.queue.hides_items:
        move_back(bookmark, items[len(chosen) :])
    _read_long_texts(chosen)
    return _lease(bookmark.queue, chosen, bookmark.annotator, now)


def _bytes(item: Item) -> int:
    return len((item.document.text or "").encode(errors="replace"))


def _how_many(items: Sequence[Item], room: int, *, at_least: int) -> int:
    """Number of the first items, which were just read, whose texts together fit into `room` bytes."""
    for count, total in enumerate(accumulate(item.text_bytes for item in items)):  # type: ignore[attr-defined]
        if total > room:
            return max(count, at_least)
    return len(items)


def _read_long_texts(items: Sequence[Item]) -> None:
    """Read the texts that are too long to have come with many others."""
    late = [item.document for item in items if item.text_bytes > LONG_TEXT]  # type: ignore[attr-defined]
    if late:
        texts = dict(Document.everything.filter(pk__in=[one.pk for one in late]).values_list("pk", "text"))
        for document in late:
            document.text = texts[document.pk]


def _take_dealt(
    bookmark: Bookmark, count: int, taken_ids: set[int], now: datetime, *, waiting: bool
) -> list[Item]:
    """Take up to `count` items in the order in which they were dealt, and deal more where that is not enough.

    `taken_ids` and `waiting` are as in `_claim`. What the person has skipped comes when nothing else is left.
    """
    holds_nothing = not taken_ids
    items: list[Item] = []
    while not waiting:
        places = standing(bookmark, now, since=max(0, bookmark.handed_out - LAST_PLACES))
        items += _take_places(bookmark, to_hand_out(places), count - len(items), taken_ids, now=now)
        if len(items) == count:
            return items
        if not deal_more(bookmark, count - len(items), now):
            places = standing(bookmark, now)
            items += _take_places(bookmark, to_hand_out(places), count - len(items), taken_ids, now=now)
            break
    if not items and holds_nothing:
        deal_the_rest(bookmark, count, now)
        places = to_hand_out(standing(bookmark, now), skipped_too=True)
        items = _take_places(bookmark, places, count, taken_ids, now=now, waiting=waiting)
    return items


def _take_places(
    bookmark: Bookmark,
    places: Sequence[Standing],
    count: int,
    taken_ids: set[int],
    *,
    now: datetime,
    waiting: bool = False,
) -> list[Item]:
    """Take up to `count` of what was dealt; those that somebody else has just taken are passed over."""
    left = [one for one in places if one.item not in taken_ids]
    taken: list[Item] = []
    while left and len(taken) < count:
        some, left = left[: count - len(taken)], left[count - len(taken) :]
        taken_ids.update(one.item for one in some)
        ordinary = [one.item for one in some if not one.is_check]
        locked = lock_these_items(bookmark, ordinary, now, waiting=waiting)
        checks = items_by_id([one.item for one in some if one.is_check])
        by_id = {item.pk: item for item in [*_with_room(locked, now), *checks]}
        taken += [by_id[one.item] for one in some if one.item in by_id]
        if stale := [one.item for one in some if one.is_check and one.was_leased]:
            Lease.objects.filter(item__in=stale, annotator=bookmark.annotator).delete()
    return taken


def _with_room(items: list[Item], now: datetime) -> list[Item]:
    """Those of locked items that still have a free slot once their leases are counted."""
    if leased := [item for item in items if item.leased]:
        recount(leased, now)
    return [item for item in items if item.state == Item.State.OPEN and item.done + item.leased < item.needed]


def _take_ordinary(
    bookmark: Bookmark, count: int, taken_ids: set[int], now: datetime, *, waiting: bool = False
) -> list[Item]:
    """Lock up to `count` items that have slots; `taken_ids` is as in `_lock`, `waiting` as in `_claim`."""
    everything = Keys(in_second_order=bookmark.in_second_order)
    if waiting:
        return _lock(
            bookmark, everything, count, taken_ids=taken_ids, now=now, skipped_too=True, waiting=True
        )
    holds_nothing = not taken_ids
    items: list[Item] = []
    for lap, keys in places_ahead(bookmark):
        locked = _lock(bookmark, keys, count - len(items), taken_ids=taken_ids, now=now)
        if locked:
            move(bookmark, lap, stretch_at(bookmark, locked[-1]))
        items += locked
        if len(items) == count:
            break
    if not items and holds_nothing:
        items = _lock(bookmark, everything, count, taken_ids=taken_ids, now=now, skipped_too=True)
    return items


def _lock(
    bookmark: Bookmark, keys: Keys, count: int, *, taken_ids: set[int], now: datetime, **options: bool
) -> list[Item]:
    """Lock up to `count` items and keep those that still have a free slot once their leases are counted.

    `taken_ids`: items to pass over; every one that was looked at is added.
    """
    taken: list[Item] = []
    for _ in range(ROUNDS):
        limit = count - len(taken) + len(taken_ids)
        free_items = lock_free_items(bookmark, keys, limit, now, **options)
        items = [item for item in free_items if item.pk not in taken_ids][: count - len(taken)]
        taken_ids.update(item.pk for item in items)
        taken += _with_room(items, now)
        if len(free_items) < limit or len(taken) == count:
            break
    return taken


def _lease(queue: Queue, items: Iterable[Item], annotator: User, now: datetime) -> list[Lease]:
    expires_at = now + timedelta(seconds=queue.lease_seconds)
    leases = [Lease(item=item, annotator=annotator, leased_at=now, expires_at=expires_at) for item in items]
    if leases:
        add_rows(leases)
        ordinary = [lease.item for lease in leases if lease.item.state not in SLOTLESS]
        store(((item, _with_lease(item, expires_at)) for item in ordinary), always=queue.hides_items)
    return leases


def _with_lease(item: Item, expires_at: datetime) -> Slots:
    until = min(item.leased_until or expires_at, expires_at)
    return Slots(item.needed, item.done, item.leased + 1, until, item.state)


def _lock_leased(queue: Queue, annotator: User, tokens: Sequence[UUID]) -> list[Item]:
    """Lock the items of one's leases, in key order, so that nobody waits in a circle."""
    own = Lease.objects.filter(token__in=tokens, annotator=annotator, item__queue=queue)
    rows = Item.objects.filter(pk__in=own.values("item"))
    return list(rows.order_by("pk").select_for_update(of=("self",), no_key=True))


def _why_empty(queue: Queue, annotator: User, now: datetime) -> EmptyQueue:
    """Numbers of what others hold, what this person judged and others have yet to, and what others disagree
    on.

    Neither number tells of a hidden check or of other people's answers: the answer to a check waits as long
    as the one before it, and pairs that the person judged are in conflict for admins alone.
    """
    judged = Exists(Judgment.objects.filter(**SAME_PAIR, annotator=annotator))
    others = Q(judged=False, leased__gt=0)
    items = queue.items.filter(state=Item.State.OPEN, order_key__gt=0).exclude(closed_to(annotator))
    counts = items.annotate(judged=judged).aggregate(
        with_others=Count("pk", filter=others & Q(needed__lte=F("done") + F("leased"))),
        second_opinion=Count("pk", filter=Q(judged=True)),
        next_free_at=Min("leased_until", filter=others),
    )
    if counts["second_opinion"] and queue.hides_items:
        waiting = set(items.annotate(judged=judged).filter(judged=True).values_list("pk", flat=True))
        counts["second_opinion"] += _checks_that_wait(queue, annotator, waiting)
    unsettled = queue.items.filter(state=Item.State.ADJUDICATION)
    conflict = unsettled.annotate(judged=judged).filter(judged=False).count()
    return EmptyQueue(leased=counts.pop("with_others"), **counts, conflict=conflict, state=state_of(queue))


def _checks_that_wait(queue: Queue, annotator: User, waiting: set[int]) -> int:
    """How many answers to checks count as waiting, given the items of other answers that do."""
    own = own_answers(annotator).filter(queue=queue).order_by("pk").values_list("item", "gold", "repeats")
    answers = [(item, bool(gold or repeats)) for item, gold, repeats in own]
    # Those before the first of the others wait as long as that one.
    waits = next((item in waiting for item, is_check in answers if not is_check), True)
    checks = 0
    for item, is_check in answers:
        if is_check:
            checks += waits
        else:
            waits = item in waiting
    return checks
