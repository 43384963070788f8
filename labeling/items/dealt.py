"""The stored deal of a stream that hides checks, as statements; `labeling/gold/hidden.py` has the rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from labeling.items.ordering import STRETCH_KEYS
from labeling.items.statements import (
    HAS_ROOM,
    NOT_JUDGED,
    NOT_SKIPPED,
    Keys,
    free_values,
    is_free,
    key_column,
    numbers,
)
from labeling.models import Bookmark, Dealt

# What was dealt to a person and has no answer of theirs that stands: what it is, and whether it can be had.
STANDING = """
SELECT dealt.item_id, dealt.stretch, dealt.place, item.state IN ('gold', 'repeat'),
  item.state = 'open' AND item.{key} >= dealt.stretch * {keys}
    AND item.{key} < dealt.stretch * {keys} + {keys} AND {has_room},
  EXISTS (SELECT 1 FROM labeling_lease lease WHERE lease.item_id = item.id
    AND lease.annotator_id = %(annotator)s AND lease.expires_at > %(now)s),
  EXISTS (SELECT 1 FROM labeling_lease lease
    WHERE lease.item_id = item.id AND lease.annotator_id = %(annotator)s),
  EXISTS (SELECT 1 FROM labeling_judgmentevent event
    WHERE event.item_id = item.id AND event.annotator_id = %(annotator)s AND event.kind = 'skip')
FROM labeling_dealt dealt JOIN labeling_item item ON item.id = dealt.item_id
WHERE dealt.bookmark_id = %(bookmark)s AND dealt.place >= %(since)s AND NOT dealt.put_off
  AND CASE WHEN item.state IN ('gold', 'repeat') THEN NOT EXISTS (
    SELECT 1 FROM labeling_judgmentevent event
    WHERE event.query_id = item.query_id AND event.document_id = item.document_id
      AND event.annotator_id = %(annotator)s AND event.kind = 'verdict'
      AND (event.item_id = item.id OR (item.state = 'gold' AND event.repeats_id IS NULL))
      AND NOT EXISTS (SELECT 1 FROM labeling_judgmentevent undo WHERE undo.undoes_id = event.id))
  ELSE {not_judged} END
ORDER BY dealt.place
"""

# Free items of a range that were not dealt to the person in the stretch where they stand now.
UNDEALT = """
SELECT item.id, item.query_id, item.{key} FROM labeling_item item
WHERE {is_free}
  {passing_over}
  AND NOT EXISTS (SELECT 1 FROM labeling_dealt dealt WHERE dealt.item_id = item.id
    AND dealt.bookmark_id = %(bookmark)s AND dealt.stretch = item.{key} / {keys})
ORDER BY item.{key} LIMIT {count}
"""
# Those whose place a check has taken, and that were put off before some place.
PUT_OFF = """
SELECT item.id, item.query_id, item.{key} FROM labeling_dealt dealt
JOIN labeling_item item ON item.id = dealt.item_id
WHERE dealt.bookmark_id = %(bookmark)s AND dealt.put_off AND dealt.place <= %(before)s
  AND {is_free}
ORDER BY item.{key} LIMIT {count}
"""

# Gold questions of some queries that the person was never asked, in an order that hangs on two numbers.
UNUSED_GOLD = """
SELECT item.query_id, item.id, gold.answer FROM labeling_item item
JOIN labeling_goldquestion gold ON gold.query_id = item.query_id AND gold.document_id = item.document_id
WHERE item.queue_id = %(queue)s AND item.state = 'gold' AND item.query_id IN ({queries})
  AND {not_judged}
  AND NOT EXISTS (SELECT 1 FROM labeling_dealt dealt
    WHERE dealt.item_id = item.id AND dealt.bookmark_id = %(bookmark)s)
  AND NOT EXISTS (SELECT 1 FROM labeling_lease lease WHERE lease.item_id = item.id
    AND lease.annotator_id = %(annotator)s AND lease.expires_at > %(now)s)
  AND NOT EXISTS (SELECT 1 FROM labeling_judgmentevent event
    WHERE event.item_id = item.id AND event.annotator_id = %(annotator)s)
ORDER BY (item.id * %(factor)s + %(summand)s) %% 1000003
"""


class Undealt(NamedTuple):
    """A free item, its query, and its key in the person's order."""

    item: int
    query: int
    key: int

    @property
    def stretch(self) -> int:
        return self.key // STRETCH_KEYS


class Standing(NamedTuple):
    """An item that was dealt and not answered. is_free: of one with slots, whether one can be had in the
    stretch where it was dealt. is_leased: by the person, who had it in hand before where `was_leased`."""

    item: int
    stretch: int
    place: int
    is_check: bool
    is_free: bool
    is_leased: bool
    was_leased: bool
    is_skipped: bool


def standing(bookmark: Bookmark, now: datetime, *, since: int = 0) -> list[Standing]:
    """Items dealt from place `since` on and not answered, in the order of places."""
    statement = STANDING.format(
        key=key_column(_order(bookmark)), keys=STRETCH_KEYS, has_room=HAS_ROOM, not_judged=NOT_JUDGED
    )
    values = {**_of(bookmark, now), "since": since}
    return [
        Standing(item, stretch, place, *(bool(fact) for fact in facts))
        for item, stretch, place, *facts in _rows(statement, values)
    ]


def to_hand_out(dealt: Sequence[Standing], *, skipped_too: bool = False) -> list[Standing]:
    """Those of what stands that can be had, in the order of places.

    An item with slots may have gone to others while it was returned. So that a check, which nobody takes
    away, does not stay where its fellows go, it can be had where the unanswered item with slots that stands
    nearest to it can, in the same stretch; and where the person has answered all of these.
    """
    left = [one for one in dealt if skipped_too or not one.is_skipped]
    standings = []
    for one in left:
        near = [other for other in left if other.stretch == one.stretch and not other.is_check]
        if one.is_check and near:
            nearest = min(near, key=lambda other: (abs(other.place - one.place), other.place))
            can_be_had = nearest.is_free or nearest.is_leased
        else:
            can_be_had = one.is_check or one.is_free
        if can_be_had and not one.is_leased:
            standings.append(one)
    return standings


def undealt(
    bookmark: Bookmark, keys: Keys, count: int, now: datetime, *, skipped_too: bool = False
) -> list[Undealt]:
    """The first `count` free items of a range of keys that were not dealt there, not locked."""
    statement = UNDEALT.format(
        key=key_column(keys),
        keys=STRETCH_KEYS,
        is_free=is_free(keys),
        count=count,
        passing_over="" if skipped_too else NOT_SKIPPED,
    )
    values = {**free_values(bookmark, keys, now), **_of(bookmark, now)}
    return [Undealt(*row) for row in _rows(statement, values)]


def put_off(bookmark: Bookmark, before: int, count: int, now: datetime) -> list[Undealt]:
    """The first `count` free items that were put off at place `before` or earlier, not locked."""
    keys = _order(bookmark)
    values = {**free_values(bookmark, keys, now), **_of(bookmark, now), "before": before}
    statement = PUT_OFF.format(key=key_column(keys), is_free=is_free(keys), count=count)
    return [Undealt(*row) for row in _rows(statement, values)]


def unused_gold(
    bookmark: Bookmark, queries: Collection[int], draw: int, now: datetime
) -> list[tuple[int, int, str]]:
    """Query, item and answer of gold questions neither dealt nor answered, in an order by `draw`."""
    values = {
        **_of(bookmark, now),
        "queue": bookmark.queue_id,
        "factor": 1 + draw % 999_983,
        "summand": draw // 999_983 % 1_000_003,
    }
    statement = UNUSED_GOLD.format(queries=numbers(queries, values), not_judged=NOT_JUDGED)
    return [(query, item, answer) for query, item, answer in _rows(statement, values)]


def store_deal(bookmark: Bookmark, dealt: Iterable[Dealt]) -> None:
    Dealt.objects.bulk_create(
        dealt,
        update_conflicts=True,
        unique_fields=["item", "bookmark"],
        update_fields=["stretch", "place", "put_off"],
    )
    names = ("lap", "stretch", "handed_out", "gold_dealt", "gold_owed", "repeats_owed")
    Bookmark.objects.filter(pk=bookmark.pk).update(**{name: getattr(bookmark, name) for name in names})


def _order(bookmark: Bookmark) -> Keys:
    return Keys(in_second_order=bookmark.in_second_order)


def _of(bookmark: Bookmark, now: datetime) -> dict[str, object]:
    return {
        "bookmark": bookmark.pk,
        "annotator": bookmark.annotator_id,
        "now": connection.ops.adapt_datetimefield_value(now),
    }


def _rows(statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
