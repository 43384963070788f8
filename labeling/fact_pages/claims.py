"""Handing documents out to be judged fact by fact: one at a time for each person.

As with pairs, a document is held for the queue's lease time and comes back to its holder after a reload; no
more people hold or have judged it than its queue asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Count, F, IntegerField, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from labeling.facts.items import facts_of_item, open_items, own_supports
from labeling.items.bookmarks import locked_bookmark
from labeling.judging.leases import state_of
from labeling.models import FactItem, FactLease, Queue

LOOKED_AT = 50


def claim_item(queue: Queue, annotator: User, *, now: datetime | None = None) -> FactItem | None:
    """Hold the person's document, or the next with a fact left; None without one, or if not open."""
    now = now or timezone.now()
    if state_of(queue) != Queue.State.OPEN:
        return None
    with transaction.atomic():
        locked_bookmark(queue, annotator)  # two tabs of one person take turns
        leases = FactLease.objects.filter(item__queue=queue, annotator=annotator, expires_at__gt=now)
        for lease in leases.select_related("item__query", "item__document", "item__queue").order_by("pk"):
            if left_for(lease.item, annotator):
                _hold(lease.item, annotator, queue, now)
                return lease.item
            lease.delete()
        for item in _candidates(queue, annotator, now):
            if left_for(item, annotator):
                _hold(item, annotator, queue, now)
                return item
    return None


def leased_item(queue: Queue, annotator: User) -> FactItem | None:
    """The document that the person holds: it can be judged, whatever the queue is by now."""
    leases = FactLease.objects.filter(item__queue=queue, annotator=annotator, expires_at__gt=timezone.now())
    lease = leases.select_related("item__query", "item__document", "item__queue").order_by("pk").first()
    return None if lease is None else lease.item


def hold_item(item: FactItem, annotator: User, *, now: datetime | None = None) -> None:
    if item.queue.state == Queue.State.OPEN:
        _hold(item, annotator, item.queue, now or timezone.now())


def skip_item(item: FactItem, annotator: User) -> None:
    """Give a document back that the person holds; they get it again when nothing else is left for them."""
    now = timezone.now()
    leases = FactLease.objects.filter(item=item, annotator=annotator, expires_at__gt=now)
    leases.update(expires_at=now, skipped_at=now)


def give_back(queue: Queue, annotator: User, lease: datetime | None) -> int:
    """Give back the document that the person holds, so that others get it at once; how many were given back.

    lease: until when the person's page says that it holds it. A page that was loaded again holds it until
    later, and what the one before it sends on leaving takes nothing away from it. Of a queue that is not open
    nothing is given back: nobody else would get it, and the holder not again after a reload.
    """
    if state_of(queue) != Queue.State.OPEN:
        return 0
    now = timezone.now()
    leases = FactLease.objects.filter(item__queue=queue, annotator=annotator, expires_at__gt=now)
    if lease is not None:
        leases = leases.filter(expires_at=lease)
    return leases.update(expires_at=now)


def lease_of(item: FactItem, annotator: User) -> datetime | None:
    """Until when the person holds the document."""
    return (
        FactLease.objects.filter(item=item, annotator=annotator).values_list("expires_at", flat=True).first()
    )


def left_for(item: FactItem, annotator: User) -> int:
    return len({fact.pk for fact in facts_of_item(item, annotator)} - own_supports(item, annotator).keys())


def _candidates(queue: Queue, annotator: User, now: datetime) -> Iterator[FactItem]:
    """Locked open documents that fewer people hold and have judged than are asked for."""
    others = (
        FactLease.objects.filter(item=OuterRef("pk"), expires_at__gt=now)
        .exclude(annotator=annotator)
        .order_by()
        .values("item")
        .annotate(many=Count("pk"))
        .values("many")
    )
    holders = Coalesce(Subquery(others, output_field=IntegerField()), Value(0))
    own = FactLease.objects.filter(item=OuterRef("pk"), annotator=annotator).values("skipped_at")
    items = open_items(annotator).filter(queue=queue).annotate(holders=holders, skipped=Subquery(own))
    items = items.filter(done__lt=queue.judgments_per_item - F("holders"))
    rows = items.order_by(F("skipped").asc(nulls_first=True), "order_key")
    rows = rows.select_related("query", "document", "queue")[:LOOKED_AT]
    can_skip = connection.features.has_select_for_update_skip_locked
    locked = rows.select_for_update(of=("self",), skip_locked=can_skip, no_key=True)
    return (item for item in locked if _has_room(item, annotator, queue, now))


def _has_room(item: FactItem, annotator: User, queue: Queue, now: datetime) -> bool:
    """Whether it still has once its row is locked: somebody may have taken it while this waited."""
    others = FactLease.objects.filter(item=item, expires_at__gt=now).exclude(annotator=annotator)
    return item.done + others.count() < queue.judgments_per_item


def _hold(item: FactItem, annotator: User, queue: Queue, now: datetime) -> None:
    until = now + timedelta(seconds=queue.lease_seconds)
    FactLease.objects.update_or_create(item=item, annotator=annotator, defaults={"expires_at": until})
