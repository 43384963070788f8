"""Gold questions among the items that a person is given: which one, and where.

They are items of the queue in a separate state, leased like any other but without slots, so that many
people may hold one at a time. A place of the stream is counted from a person's first item in the queue; what
is returned unjudged counts again.
"""

from __future__ import annotations

from collections.abc import Collection as SomeOf
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from labeling.gold.places import Shares, drawn, gold_places, wants_relevant
from labeling.items.statements import unused_gold
from labeling.models import Bookmark, Verdict


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


def chosen_gold(
    bookmark: Bookmark, queries: SomeOf[int], due: Sequence[Due], now: datetime
) -> list[tuple[int, Any]]:
    """As many gold questions as are due and left, each with its place; asked for even where none is due.

    Questions on one of `queries` come first, as they stand out least, and as many with each answer.
    """
    draw = drawn(_seed(bookmark), due[0].number if due else 0)
    found = unused_gold(
        bookmark.queue, bookmark.annotator, queries, count=max(1, len(due)), draw=draw, now=now
    )
    chosen = []
    for place, number in due:
        if not found:
            break
        is_wanted = Verdict.RELEVANT if wants_relevant(_seed(bookmark), number) else Verdict.NOT_RELEVANT
        gold = next((item for item in found if item.gold_answer == is_wanted), found[0])
        found.remove(gold)
        chosen.append((place, gold))
    return chosen


def _seed(bookmark: Bookmark) -> int:
    return bookmark.gold_seed ^ bookmark.pk
