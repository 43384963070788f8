"""Gold questions among the items that a person is given: which one, and where.

They are items of the queue in a state of their own, leased like any other but without slots, so that many
people may hold one at a time. A place of the stream is counted from a person's first item in the queue; what
is returned unjudged counts again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from labeling.gold_places import Shares, drawn, gold_places, wants_relevant
from labeling.models import Bookmark, Item, Lease, Verdict
from labeling.statements import unused_gold


class Due(NamedTuple):
    """A hidden item to come: its place among the items of a claim, and the number its draws hang on."""

    place: int
    number: int


def gold_due(bookmark: Bookmark, count: int) -> list[Due]:
    """Which of the next `count` items of the bookmark's owner are to be gold questions."""
    queue = bookmark.queue
    if not queue.gold_count:
        return []
    shares = Shares(queue.gold_first_share, queue.gold_share)
    places = gold_places(_seed(bookmark), bookmark.handed_out, count, shares)
    return [Due(place - bookmark.handed_out, number) for place, number in places.items()]


def with_gold(bookmark: Bookmark, items: Sequence[Item], due: Sequence[Due], now: datetime) -> list[Item]:
    """`items` with as many gold questions as are due and left, near the places where they are due.

    Questions on a query of `items` come first, as they stand out least, and as many with each answer.
    """
    queries = {item.query_id for item in items}
    draw = drawn(_seed(bookmark), due[0].number)
    found = unused_gold(bookmark.queue, bookmark.annotator, queries, len(due), draw, now)
    woven, chosen = list(items), []
    for place, number in due:
        if not found:
            break
        is_wanted = Verdict.RELEVANT if wants_relevant(_seed(bookmark), number) else Verdict.NOT_RELEVANT
        gold = next((item for item in found if item.gold_answer == is_wanted), found[0])
        found.remove(gold)
        chosen.append(gold)
        woven.insert(quiet_place(woven, gold, place), gold)
    if stale := [item.pk for item in chosen if item.was_held]:
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


def _seed(bookmark: Bookmark) -> int:
    return bookmark.gold_seed ^ bookmark.pk
