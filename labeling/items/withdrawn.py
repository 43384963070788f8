"""The items of deleted queries and documents: out of every queue, and back when these are restored."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from labeling.items.slots import recount
from labeling.models import Item, Lease
from labeling.models.words import THERE as THERE

BATCH = 500


def withdraw_items(pairs: Q) -> None:
    """Take the items of some pairs out of their queues. What somebody holds may still come in."""
    there = Item.objects.filter(pairs).exclude(state=Item.State.WITHDRAWN).order_by("pk")
    keys = list(there.select_for_update(no_key=True).values_list("pk", flat=True))
    for start in range(0, len(keys), BATCH):
        Item.objects.filter(pk__in=keys[start : start + BATCH]).update(
            state=Item.State.WITHDRAWN, done=0, leased=0, leased_until=None
        )


def return_items(pairs: Q) -> None:
    """Put the items of some pairs back, counted again; questions with known answers follow from elsewhere."""
    back = Item.objects.filter(pairs, state=Item.State.WITHDRAWN, **THERE)
    keys = list(back.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), BATCH):
        with transaction.atomic():
            rows = Item.objects.filter(pk__in=keys[start : start + BATCH]).order_by("pk")
            _put_back(rows.select_for_update(of=("self",), no_key=True))


def _put_back(items: QuerySet[Item]) -> None:
    ordinary = []
    for item in items:
        if item.repeats_id:
            item.state = Item.State.REPEAT
        elif item.order_key:
            item.state = Item.State.OPEN
            ordinary.append(item)
        else:
            item.state = Item.State.ASIDE
        Item.objects.filter(pk=item.pk).update(state=item.state)
    Lease.objects.filter(item__in=ordinary, expires_at__lte=timezone.now()).delete()
    recount(ordinary, timezone.now())
