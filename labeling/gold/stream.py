"""Gold questions among the items that a person is given: how many in a stretch, and which.

They are items of the queue in a separate state, leased like any other but without slots, so that many
people may hold one at a time. Places of the stream count from a person's first item in the queue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection as SomeOf
from datetime import datetime

from labeling.gold.places import Shares, drawn, gold_places, wants_relevant
from labeling.items.dealt import unused_gold
from labeling.models import Bookmark, Verdict

#: The unused gold questions of a query, by their answer.
Stock = dict[str, list[int]]


def gold_due(bookmark: Bookmark, size: int) -> int:
    """How many of the next `size` places of the bookmark's owner are to have gold questions."""
    queue = bookmark.queue
    if not queue.gold_count:
        return 0
    shares = Shares(queue.gold_first_share, queue.gold_share)
    return len(gold_places(seed_of(bookmark), bookmark.handed_out, size, shares))


def gold_of(bookmark: Bookmark, queries: SomeOf[int], now: datetime) -> dict[int, Stock]:
    """What can be asked of each query; looked for even where none is due."""
    stock: dict[int, Stock] = defaultdict(lambda: {Verdict.RELEVANT: [], Verdict.NOT_RELEVANT: []})
    if bookmark.queue.gold_count:
        draw = drawn(~seed_of(bookmark), bookmark.handed_out)
        for query, item, answer in unused_gold(bookmark, queries, draw, now):
            stock[query][answer].append(item)
    return stock


def take_gold(bookmark: Bookmark, stock: Stock, count: int) -> list[int]:
    """Take up to `count` questions out of the stock of a query, in all as many with each answer."""
    taken: list[int] = []
    while len(taken) < count and any(stock.values()):
        is_relevant = wants_relevant(seed_of(bookmark), bookmark.gold_dealt)
        wanted, other = Verdict.RELEVANT, Verdict.NOT_RELEVANT
        if not is_relevant:
            wanted, other = other, wanted
        taken.append((stock[wanted] or stock[other]).pop(0))
        bookmark.gold_dealt += 1
    return taken


def seed_of(bookmark: Bookmark) -> int:
    """What the places of somebody's gold questions are drawn by."""
    return bookmark.gold_seed ^ bookmark.pk
