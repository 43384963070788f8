"""The statements of every claim and every verdict, written as SQL.

They are the ones that fifty people wait for: put together by the ORM, they cost the server more than the
database needs to answer them. Everything else goes through the ORM.
"""

from __future__ import annotations

from collections.abc import Collection as SomeOf
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model

from labeling.models import Bookmark, Item, Judgment, Lease, Quarantine, Queue
from pooling.models import Collection, Document, Query
from pooling.storage.rows import columns_of, rows

QUEUE_FOR_MEMBER = """
SELECT {columns},
  (SELECT member.role FROM pooling_membership member
    WHERE member.collection_id = queue.collection_id AND member.user_id = %s) AS member_role
FROM labeling_queue queue JOIN pooling_collection collection ON collection.id = queue.collection_id
WHERE queue.id = %s
"""
BOOKMARK = """
SELECT {columns} FROM labeling_bookmark bookmark WHERE queue_id = %s AND annotator_id = %s {lock}
"""
OWN_LEASES = "SELECT id FROM labeling_lease WHERE annotator_id = %s AND expires_at > %s"
QUARANTINE = """
SELECT id FROM labeling_quarantine WHERE queue_id = %s AND annotator_id = %s AND lifted_at IS NULL
"""
STORE_SLOTS = """
UPDATE labeling_item SET needed = %s, done = %s, leased = %s, leased_until = %s, state = %s
WHERE id IN ({items})
"""

HAS_ROOM = "(item.needed > item.done + item.leased OR item.leased_until <= %(now)s)"
NOT_JUDGED = """NOT EXISTS (
    SELECT 1 FROM labeling_judgment judgment
    WHERE judgment.query_id = item.query_id AND judgment.document_id = item.document_id
      AND judgment.annotator_id = %(annotator)s)"""
# Open items in a range of keys, with a slot free or a lease run out, of pairs that the person has not judged.
IS_FREE = """item.queue_id = %(queue)s AND item.state = 'open'
  AND item.{key} >= %(first)s AND item.{key} <= %(last)s
  AND {has_room}
  AND {not_judged}"""
FREE_ITEMS = """
SELECT {columns} FROM labeling_item item
JOIN pooling_query query ON query.id = item.query_id
JOIN pooling_document document ON document.id = item.document_id
WHERE {is_free}
  {and_only}
ORDER BY {order} LIMIT {count} {lock}
"""
ITEMS_BY_ID = """
SELECT {columns} FROM labeling_item item
JOIN pooling_query query ON query.id = item.query_id
JOIN pooling_document document ON document.id = item.document_id
WHERE item.id IN ({items})
"""
NOT_SKIPPED = """AND NOT EXISTS (
    SELECT 1 FROM labeling_judgmentevent event
    WHERE event.item_id = item.id AND event.annotator_id = %(annotator)s AND event.kind = 'skip')"""

# What a pre-label of an item's pair lets expect, where its queue asks for second opinions and the pre-label
# is sure enough; else nothing. One of a text that has changed since, or without a score, is never sure.
EXPECTED = """COALESCE((
    SELECT CASE WHEN prelabel.score >= asking.second_opinion_from THEN 'relevant'
      WHEN 1 - prelabel.score >= asking.second_opinion_from THEN 'not_relevant' END
    FROM labeling_queue asking
    JOIN labeling_prelabel prelabel ON prelabel.prelabeler_id = asking.prelabeler_id
      AND prelabel.query_id = item.query_id AND prelabel.document_id = item.document_id
    JOIN pooling_document judged ON judged.id = prelabel.document_id
      AND judged.version = prelabel.document_version
    WHERE asking.id = item.queue_id AND asking.second_opinion_from IS NOT NULL), '')"""
# Items of a queue that somebody has judged, or that expect something, and whose expectation is out of date.
OUTDATED_EXPECTATIONS = """
SELECT item.id, {expected} FROM labeling_item item
WHERE item.queue_id = %s AND item.id > %s AND item.expected <> {expected}
  AND (item.expected <> '' OR EXISTS (
    SELECT 1 FROM labeling_judgment judgment
    WHERE judgment.query_id = item.query_id AND judgment.document_id = item.document_id))
ORDER BY item.id LIMIT %s
"""

# The items of one item's pair in every queue, in key order; who asks, whether the key was seen before, and
# whose pre-label of the pair was handed out to them.
ITEMS_OF_PAIR = """
SELECT {columns},
  EXISTS (SELECT 1 FROM pooling_membership member WHERE member.collection_id = %(collection)s
    AND member.user_id = %(annotator)s AND member.role IN ('admin', 'annotator')) AS is_member,
  EXISTS (SELECT 1 FROM labeling_judgmentevent event
    WHERE event.annotator_id = %(annotator)s AND event.key = %(key)s) AS key_is_known,
  (SELECT gold.id FROM labeling_goldquestion gold
    WHERE gold.query_id = item.query_id AND gold.document_id = item.document_id) AS gold_id,
  (SELECT sight.prelabeler_id FROM labeling_prelabelsight sight
    WHERE sight.query_id = item.query_id AND sight.document_id = item.document_id
      AND sight.annotator_id = %(annotator)s ORDER BY sight.id DESC LIMIT 1) AS seen_prelabeler,
  {expected} AS now_expected,
  (SELECT first.annotator_id FROM labeling_judgmentevent first
    WHERE first.id = item.repeats_id) AS repeats_for,
  (SELECT document.version FROM pooling_document document
    WHERE document.id = item.document_id) AS newest_version
FROM labeling_item target
JOIN labeling_item item ON item.query_id = target.query_id AND item.document_id = target.document_id
WHERE target.id = %(item)s AND target.queue_id = %(queue)s
ORDER BY item.id {lock}
"""
JUDGMENTS_OF_PAIR = """
SELECT {columns}, event.extra FROM labeling_judgment judgment
JOIN labeling_judgmentevent event ON event.id = judgment.event_id
WHERE judgment.query_id = %s AND judgment.document_id = %s
"""

# What ends with a verdict: the leases of who gave it, and those that have run out.
END_LEASES = """
DELETE FROM labeling_lease
WHERE item_id IN ({items}) AND (annotator_id = %s OR expires_at <= %s) RETURNING {columns}
"""

# The items, in whatever queue, of the pairs that somebody judged in one, or that a quarantine set aside.
ITEMS_JUDGED = """
SELECT item.id FROM labeling_judgment judgment
JOIN labeling_judgmentevent event ON event.id = judgment.event_id
JOIN labeling_item item ON item.query_id = judgment.query_id AND item.document_id = judgment.document_id
WHERE judgment.annotator_id = %s AND event.queue_id = %s
"""
ITEMS_SET_ASIDE = """
SELECT item.id FROM labeling_judgment judgment
JOIN labeling_item item ON item.query_id = judgment.query_id AND item.document_id = judgment.document_id
WHERE judgment.quarantine_id = %s
"""

# Open items of queries that the person has not judged. Each hidden check that they answered is taken off, so
# that every answer lowers the number by one, and no check that is yet to come is in it.
LEFT_OF_QUERIES = """
SELECT query.id, (
    SELECT COUNT(*) FROM labeling_item item
    WHERE item.queue_id = %(queue)s AND item.query_id = query.id AND item.state = 'open'
      AND item.order_key > 0
      AND NOT EXISTS (
        SELECT 1 FROM labeling_judgment judgment
        WHERE judgment.query_id = item.query_id AND judgment.document_id = item.document_id
          AND judgment.annotator_id = %(annotator)s)
  ) {checks}
FROM pooling_query query WHERE query.id IN ({queries})
"""
CHECKS_ANSWERED = """- (
    SELECT COUNT(DISTINCT event.item_id) FROM labeling_judgmentevent event
    LEFT JOIN labeling_goldquestion gold ON gold.id = event.gold_id
    WHERE event.queue_id = %(queue)s AND event.annotator_id = %(annotator)s AND event.query_id = query.id
      AND event.kind = 'verdict' AND NOT event.is_practice
      AND (event.repeats_id IS NOT NULL OR NOT gold.practice)
      AND NOT EXISTS (SELECT 1 FROM labeling_judgmentevent undo WHERE undo.undoes_id = event.id)
  )"""

# Waits for every transaction that has read items in order to count them, and lets the next ones wait.
ALONE_WITH_ITEMS = "LOCK TABLE labeling_item IN EXCLUSIVE MODE"

LAST_KEY = 2**63 - 1
LONG_TEXT = 2**18
ITEM_RELATED: dict[str, type[Model]] = {"query": Query, "document": Document}


class Keys(NamedTuple):
    """A range of one of the two stored orders, both ends included."""

    first: int = 0
    last: int = LAST_KEY
    in_second_order: bool = False


def queue_with_role(queue_id: int, user_id: int) -> Queue | None:
    """A queue with its collection, and as `member_role` what the user is in it, or None."""
    if queue_id > LAST_KEY:
        return None
    columns = f"{columns_of(Queue, 'queue')}, {columns_of(Collection, 'collection')}"
    values = [user_id, queue_id]
    related: dict[str, type[Model]] = {"collection": Collection}
    queues = rows(
        QUEUE_FOR_MEMBER.format(columns=columns), values, Queue, related=related, extra=["member_role"]
    )
    return queues[0] if queues else None


def lock_bookmark(queue: Queue, annotator: User) -> Bookmark | None:
    statement = BOOKMARK.format(columns=columns_of(Bookmark, "bookmark"), lock=_lock(of="bookmark"))
    bookmarks = rows(statement, [queue.pk, annotator.pk], Bookmark)
    return bookmarks[0] if bookmarks else None


def own_leases(annotator: User, now: datetime) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(OWN_LEASES, [annotator.pk, connection.ops.adapt_datetimefield_value(now)])
        return [key for (key,) in cursor.fetchall()]


def in_quarantine(queue_id: int | None, annotator: User) -> int | None:
    """The key of the quarantine that somebody is in, or None."""
    with connection.cursor() as cursor:
        cursor.execute(QUARANTINE, [queue_id, annotator.pk])
        row = cursor.fetchone()
    return row[0] if row else None


def store_slots(items: SomeOf[int], slots: tuple[int, int, int, datetime | None, str]) -> None:
    needed, done, leased, until, state = slots
    moment = connection.ops.adapt_datetimefield_value(until) if until else None
    with connection.cursor() as cursor:
        cursor.execute(_for_items(STORE_SLOTS, items), [needed, done, leased, moment, state, *items])


def lock_free_items(
    bookmark: Bookmark,
    keys: Keys,
    count: int,
    now: datetime,
    *,
    skipped_too: bool = False,
    waiting: bool = False,
) -> list[Item]:
    """Lock up to `count` free items in order, passing over others' rows, or `waiting` for them by key."""
    values = free_values(bookmark, keys, now)
    return _free_items(keys, count, values, "" if skipped_too else NOT_SKIPPED, waiting=waiting)


def lock_these_items(
    bookmark: Bookmark, items: SomeOf[int], now: datetime, *, waiting: bool = False
) -> list[Item]:
    keys = Keys(in_second_order=bookmark.in_second_order)
    values = free_values(bookmark, keys, now)
    and_only = f"AND item.id IN ({numbers(items, values)})"
    return _free_items(keys, len(items), values, and_only, waiting=waiting)


def _free_items(
    keys: Keys, count: int, values: dict[str, object], and_only: str, *, waiting: bool
) -> list[Item]:
    statement = FREE_ITEMS.format(
        count=count,
        columns=_item_columns(),
        is_free=is_free(keys),
        # With the sum the index of primary keys is not walked through the items of every queue.
        order="item.id + 0" if waiting else f"item.{key_column(keys)}",
        and_only=and_only,
        lock=_lock("" if waiting else "SKIP LOCKED"),
    )
    return rows(statement, values, Item, related=ITEM_RELATED, extra=["text_bytes"])


def items_by_id(keys: SomeOf[int]) -> list[Item]:
    """Items with query and document, as those of `lock_free_items` but not locked."""
    values: dict[str, object] = {}
    statement = ITEMS_BY_ID.format(columns=_item_columns(), items=numbers(keys, values))
    return rows(statement, values, Item, related=ITEM_RELATED, extra=["text_bytes"])


def key_column(keys: Keys) -> str:
    return "second_key" if keys.in_second_order else "order_key"


def is_free(keys: Keys) -> str:
    """The condition on free items of a range; it needs `free_values`."""
    return IS_FREE.format(key=key_column(keys), has_room=HAS_ROOM, not_judged=NOT_JUDGED)


def free_values(bookmark: Bookmark, keys: Keys, now: datetime) -> dict[str, object]:
    """The values that `is_free` needs. The limit is none of them: PostgreSQL keeps a plan only where it can
    tell how few rows are wanted."""
    return {
        "queue": bookmark.queue_id,
        "annotator": bookmark.annotator_id,
        "first": keys.first,
        "last": keys.last,
        "now": connection.ops.adapt_datetimefield_value(now),
    }


def lock_items_of_pair(queue: Queue, annotator: User, item: int, key: str) -> list[Any]:
    """Lock the items of the pair of `item`, with `is_member`, `key_is_known` and the pair's `gold_id`.

    `seen_prelabeler` is whose pre-label the person was last shown, or None; `now_expected` is what `expected`
    is to be, `repeats_for` whose verdict an item repeats, `newest_version` that of the document's text. None
    for an item of another queue.
    """
    values = {
        "collection": queue.collection_id,
        "queue": queue.pk,
        "annotator": annotator.pk,
        "item": item,
        "key": key,
    }
    statement = ITEMS_OF_PAIR.format(columns=columns_of(Item, "item"), expected=EXPECTED, lock=_lock())
    more = ("is_member", "key_is_known", "gold_id", "seen_prelabeler", "now_expected", "repeats_for")
    extra = [*more, "newest_version"]
    return rows(statement, values, Item, extra=extra)


def outdated_expectations(queue: Queue, after: int, count: int) -> dict[int, str]:
    """The next `count` items whose expectation is out of date, by key, and what it is to be."""
    with connection.cursor() as cursor:
        cursor.execute(OUTDATED_EXPECTATIONS.format(expected=EXPECTED), [queue.pk, after, count])
        return dict(cursor.fetchall())


def be_alone_with_items() -> None:
    """Let nobody else claim or judge until the transaction ends; on SQLite a writer is alone anyway.

    Two who wait for each other here would wait for ever, so `queue_up_to_add_items` comes first.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(ALONE_WITH_ITEMS)


def queue_up_to_add_items() -> None:
    """Let those who add items to a queue take turns until their transaction ends."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('labeling_item'))")


def judgments_of_pair(query: int, document: int) -> list[Judgment]:
    """Everybody's current judgments on a pair, each with the `extra` of its event."""
    statement = JUDGMENTS_OF_PAIR.format(columns=columns_of(Judgment, "judgment"))
    return rows(statement, [query, document], Judgment, extra=["extra"])


def end_leases(items: SomeOf[Item], annotator: User, now: datetime) -> list[Lease]:
    """Delete the leases of `annotator` on locked `items`, and expired ones; returns what they were."""
    moment = connection.ops.adapt_datetimefield_value(now)
    statement = _for_items(END_LEASES, items, columns=columns_of(Lease, "labeling_lease"))
    return rows(statement, [*(item.pk for item in items), annotator.pk, moment], Lease)


def items_judged_by(queue: Queue, annotator: User) -> list[int]:
    return _keys(ITEMS_JUDGED, [annotator.pk, queue.pk])


def items_set_aside(quarantine: Quarantine) -> list[int]:
    return _keys(ITEMS_SET_ASIDE, [quarantine.pk])


def _keys(statement: str, values: list[Any]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [key for (key,) in cursor.fetchall()]


def left_of_queries(queue: Queue, annotator: User, queries: SomeOf[int]) -> dict[int, int]:
    """Open items of each query, which `annotator` is at, that they have not judged; at least one.

    Others' leases are included. The number falls by one with whatever is judged, and may be too low by the
    hidden checks among them.
    """
    if not queries:
        return {}
    values: dict[str, int] = {"queue": queue.pk, "annotator": annotator.pk}
    checks = CHECKS_ANSWERED if queue.hides_items else ""
    statement = LEFT_OF_QUERIES.format(queries=numbers(queries, values), checks=checks)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return {query: max(1, left) for query, left in cursor.fetchall()}


def numbers(keys: SomeOf[int], values: dict[str, Any]) -> str:
    """Keys as one text in `values`, which is planned once for any number of them. No row has the key 0."""
    named = {f"key_{place}": key for place, key in enumerate(keys or [0])}
    values.update(named)
    return ", ".join(f"%({name})s" for name in named)


def _item_columns() -> str:
    """Columns of an item with query and document, and `text_bytes`; texts beyond `LONG_TEXT` are left out."""
    tables = ((Item, "item"), (Query, "query"), (Document, "document"))
    columns = ", ".join(columns_of(model, alias) for model, alias in tables)
    length = "octet_length(document.text)"
    if connection.vendor == "sqlite":
        length = "LENGTH(CAST(document.text AS BLOB))"
    short = f"CASE WHEN {length} > {LONG_TEXT} THEN NULL ELSE document.text END"
    return f"{columns.replace('document.text', short)}, COALESCE({length}, 0)"


def _for_items(statement: str, items: SomeOf[Any], **names: str) -> str:
    return statement.format(items=", ".join(["%s"] * len(items)), **names)


def _lock(others: str = "", *, of: str = "item") -> str:
    """SQLite knows no row locks: its transactions are immediate and so alone from their start."""
    return f"FOR NO KEY UPDATE OF {of} {others}" if connection.features.has_select_for_update else ""
