"""Hidden checks among the items that a person is given: gold questions and repeats, and where they stand.

A claim looks for them whether one is due or not, and in the same statements: neither its answer nor the time
it takes tells what it hands out. Checks of a query that the person is at come first; one that belongs to
another query stands out by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from labeling.gold.repeats import make_ready, repeats_due
from labeling.gold.stream import Due, chosen_gold, gold_due
from labeling.items.statements import waiting_repeats
from labeling.models import Item, Lease

if TYPE_CHECKING:
    from labeling.models import Bookmark


def with_checks(bookmark: Bookmark, items: Sequence[Item], count: int, now: datetime) -> list[Item]:
    """Of `items`, which are locked, and the checks that are due and can be had, as many as `count`.

    Checks stand near the places where they are due; what they take the place of are the last of `items`.
    """
    queue = bookmark.queue
    queries = {item.query_id for item in items}
    chosen: list[tuple[int, Any]] = []
    gold = gold_due(bookmark, count)
    if queue.gold_count:
        chosen += chosen_gold(bookmark, queries, gold, now)
    if queue.repeat_share:
        make_ready(bookmark, queries, count)
        waiting = waiting_repeats(queue, bookmark.annotator, queries, now)
        due: list[Due] = repeats_due(bookmark, count, gold)
        chosen += [(one.place, repeat) for one, repeat in zip(due, waiting, strict=False)]
    woven = list(items[: count - len(chosen)])
    for place, check in chosen:
        woven.insert(quiet_place(woven, check, place), check)
    if stale := [check.pk for _, check in chosen if check.was_held]:
        Lease.objects.filter(item__in=stale, annotator=bookmark.annotator).delete()
    return woven


def quiet_place(items: Sequence[Item], hidden: Item, due: int) -> int:
    """The place nearest to where it is due among its own query, else between two queries, else just there."""
    around = [
        (items[place - 1].query_id if place else None, items[place].query_id if place < len(items) else None)
        for place in range(len(items) + 1)
    ]
    own = [place for place, queries in enumerate(around) if hidden.query_id in queries]
    between = [place for place, (before, after) in enumerate(around) if before != after]
    due = min(due, len(items))
    # The ends of a batch are no boundary that anybody sees.
    inner = [place for place in between if 0 < place < len(items)]
    return min(own or inner or [due], key=lambda place: abs(place - due))
