"""Each annotator's place in the stored order, and the places to look for what comes next.

People take stretches (see `labeling/items/ordering.py`) one after another: anyone who has finished one goes
on behind the frontier, the last stretch that anybody has taken. So each has a query for themselves, and no
claim looks through what others are at. Behind the last stretch the next lap begins, which picks up what was
left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from django.contrib.auth.models import User

from labeling.items.ordering import STRETCH_KEYS, stretch_of
from labeling.items.statements import Keys, lock_bookmark
from labeling.models import Bookmark, Item, Queue


class Place(NamedTuple):
    lap: int
    keys: Keys


def locked_bookmark(queue: Queue, annotator: User) -> Bookmark:
    """The annotator's bookmark, locked, made where needed; every other new one follows the second order."""
    bookmark = lock_bookmark(queue, annotator)
    while bookmark is None:
        second = queue.judgments_per_item > 1 and queue.bookmarks.count() % 2 == 1
        Bookmark.objects.get_or_create(queue=queue, annotator=annotator, defaults={"in_second_order": second})
        bookmark = lock_bookmark(queue, annotator)
    bookmark.queue, bookmark.annotator = queue, annotator
    return bookmark


def places_ahead(bookmark: Bookmark) -> Iterator[Place]:
    """In this order: one's own stretch, behind the frontier, then all from the front."""
    second = bookmark.in_second_order
    start = bookmark.stretch * STRETCH_KEYS
    if bookmark.stretch:
        yield Place(bookmark.lap, Keys(start, start + STRETCH_KEYS - 1, second))
    same_order = Bookmark.objects.filter(queue=bookmark.queue_id, in_second_order=bookmark.in_second_order)
    lap, stretch = max(same_order.values_list("lap", "stretch"))
    yield Place(lap, Keys((stretch + 1) * STRETCH_KEYS, in_second_order=second))
    yield Place(lap + 1, Keys(in_second_order=second))


def move(bookmark: Bookmark, lap: int, stretch: int) -> None:
    if (lap, stretch) != (bookmark.lap, bookmark.stretch):
        bookmark.lap, bookmark.stretch = lap, stretch
        Bookmark.objects.filter(pk=bookmark.pk).update(lap=lap, stretch=stretch)


def move_back(bookmark: Bookmark, items: list[Item]) -> None:
    """Go back to the first stretch of `items`, so that coming back means going on with the same query."""
    first = min((stretch_at(bookmark, item) for item in items), default=bookmark.stretch)
    move(bookmark, bookmark.lap, min(first, bookmark.stretch))


def stretch_at(bookmark: Bookmark, item: Item) -> int:
    key = item.second_key if bookmark.in_second_order else item.order_key
    return stretch_of(key or 0)
