"""The deal: what comes at each place of somebody's stream in a queue that hides checks among its items.

Checks are gold questions and pairs shown again. Nobody may tell them from the rest by what claims give, in
whatever sizes one claims, returns, skips, takes back or lets leases run out. So:

1. Each place is dealt once and stored, stretch by stretch, when the person comes to the stretch. Claims hand
   out what was dealt, in the order of places; whatever came back unanswered comes again from its place.
2. Which places of a stretch have checks, and which, follows from the person's seed, the number of its first
   place and what the person was asked before; the size of a claim has no part in it.
3. Checks are of the stretch's own query. Where it has none, those that are due wait for a query that has.
4. A stretch is as long with checks as without: each takes the place of an item, which is put off for more
   places than anybody can hold at once.
5. What is returned may go to others; a check goes and comes with the item that stands nearest to it. What is
   skipped comes again when nothing else is left, checks like pairs.
6. A claim reads and writes as much whatever it hands out, and so does a deal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection as SomeOf
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from labeling.gold.places import Shares, gold_places, lot, wants_relevant
from labeling.gold.repeats import make_repeats, repeatable, repeats_due
from labeling.items.bookmarks import places_ahead
from labeling.items.dealt import Undealt, put_off, store_deal, undealt, unused_gold
from labeling.items.ordering import STRETCH_KEYS
from labeling.items.statements import Keys
from labeling.models import Bookmark, Dealt, Judgment, Verdict

# Gold questions among the items that a person is given: how many in a stretch, and which.


#: The unused gold questions of a query, by their answer.
Stock = dict[str, list[int]]


def gold_due(bookmark: Bookmark, size: int) -> int:
    """Number of gold questions due in the next `size` places of the bookmark's owner."""
    queue = bookmark.queue
    if not queue.gold_count:
        return 0
    shares = Shares(queue.gold_first_share, queue.gold_share)
    return len(gold_places(seed_of(bookmark), bookmark.handed_out, size, shares))


def gold_of(bookmark: Bookmark, queries: SomeOf[int], now: datetime) -> dict[int, Stock]:
    """Gold questions left for each query; looked for even where none is due."""
    stock: dict[int, Stock] = defaultdict(lambda: {Verdict.RELEVANT: [], Verdict.NOT_RELEVANT: []})
    if bookmark.queue.gold_count:
        draw = lot(~seed_of(bookmark), bookmark.handed_out)
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
    return bookmark.gold_seed ^ bookmark.pk


#: As many places lie between an item that is put off and its new place: nobody can hold more at once.
PUT_OFF_FOR = 50
#: Of so many places of a stretch one may have a check that was due before.
CATCH_UP = 4
# Where checks stand has nothing to do with what else is drawn.
WHERE = 0x2545F4914F6CDD1D


class Stretch(NamedTuple):
    stretch: int
    query: int
    items: list[int]


def deal_more(bookmark: Bookmark, count: int, now: datetime) -> bool:
    """Deal what comes next to the owner of the bookmark, which is locked: `count` places or, with the rest of
    a stretch, more, as far as there are any. Whether anything was dealt.

    What was put off long enough ago comes first, then what is new in the person's own stretch, then the next
    stretches, behind those that others are at; at last whatever was left, from the front.
    """
    limit = count + STRETCH_KEYS
    waited = put_off(bookmark, bookmark.handed_out - PUT_OFF_FOR, limit, now)
    if _deal(bookmark, waited, count, now):
        return True
    for lap, keys in places_ahead(bookmark):
        if _deal(bookmark, undealt(bookmark, keys, limit, now), count, now, lap=lap):
            return True
    return _deal(bookmark, put_off(bookmark, bookmark.handed_out, limit, now), count, now)


def deal_the_rest(bookmark: Bookmark, count: int, now: datetime) -> None:
    """Deal what is free and never was, skipped or not: nothing else is left for the person."""
    keys = Keys(in_second_order=bookmark.in_second_order)
    candidates = undealt(bookmark, keys, count + STRETCH_KEYS, now, skipped_too=True)
    _deal(bookmark, candidates, count, now)


def _deal(
    bookmark: Bookmark, candidates: Sequence[Undealt], count: int, now: datetime, *, lap: int | None = None
) -> bool:
    """Deal stretches until `count` places are dealt; whether there are any. lap: the bookmark goes along."""
    stretches = _stretches(candidates, count)
    if not stretches:
        return False
    queries = {stretch.query for stretch in stretches}
    gold, earlier = gold_of(bookmark, queries, now), repeatable(bookmark, queries)
    rows: list[Dealt] = []
    again: list[tuple[Dealt, Judgment]] = []
    for stretch, query, items in stretches:
        checks = _checks(bookmark, len(items), gold[query], earlier[query])
        ordinary = iter(items)
        for at in range(len(items)):
            row = Dealt(bookmark_id=bookmark.pk, stretch=stretch, place=bookmark.handed_out + at)
            check = checks.get(at) or next(ordinary)
            if isinstance(check, int):
                row.item_id = check
            else:
                again.append((row, check))
            rows.append(row)
        bookmark.handed_out += len(items)
        late = {"stretch": stretch, "place": bookmark.handed_out, "put_off": True}
        rows += [Dealt(bookmark_id=bookmark.pk, item_id=item, **late) for item in ordinary]
    made = make_repeats(bookmark.queue, [judgment for _, judgment in again])
    for (row, _), item in zip(again, made, strict=True):
        row.item = item
    if lap is not None:
        bookmark.lap, bookmark.stretch = lap, stretches[-1].stretch
    store_deal(bookmark, rows)
    return True


def _stretches(candidates: Sequence[Undealt], count: int) -> list[Stretch]:
    """The first whole stretches of what was found, of one query each, with `count` items or more."""
    groups = [
        Stretch(stretch, query, [one.item for one in items])
        for (stretch, query), items in groupby(candidates, key=lambda one: (one.stretch, one.query))
    ]
    if len(candidates) == count + STRETCH_KEYS:  # the last of them may go on
        groups = groups[:-1] or groups
    chosen: list[Stretch] = []
    for group in groups:
        if sum(len(stretch.items) for stretch in chosen) >= count:
            break
        chosen.append(group)
    return chosen


def _checks(
    bookmark: Bookmark, size: int, stock: Stock, earlier: Sequence[Judgment]
) -> dict[int, int | Judgment]:
    """Gold items and verdicts to repeat by places among the next `size` of a query, at most every second."""
    due = gold_due(bookmark, size)
    owed = bookmark.gold_owed + due
    questions = take_gold(bookmark, stock, min(owed, size // 2, max(due, _caught_up(size))))
    bookmark.gold_owed = owed - len(questions)
    due = repeats_due(bookmark, size)
    owed = bookmark.repeats_owed + due
    again = earlier[: min(owed, size // 2 - len(questions), max(due, _caught_up(size)))]
    bookmark.repeats_owed = owed - len(again)
    seed = seed_of(bookmark) ^ WHERE
    places = sorted(range(size), key=lambda at: lot(seed, bookmark.handed_out + at))
    return dict(zip(places, [*questions, *again], strict=False))


def _caught_up(size: int) -> int:
    return -(-(size - 1) // CATCH_UP)
