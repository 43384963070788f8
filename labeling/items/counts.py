"""Numbers of items that are alike, which triggers of the database keep: the one writer of `ItemCount`.

So whatever changes items, in whichever way, is counted in the same transaction, and no page walks over a
million of them. SQLite, which has one writer at a time, changes the row of a kind. PostgreSQL appends rows,
so that nobody waits for a row that somebody else's transaction counts in. Now and then it adds them up: in
the statement that appends, for a page that only reads may run where nothing can be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connections, transaction
from django.db.models import Sum

from labeling.models import ItemCount, Queue

# What makes items alike: columns of the counts, and what they are of an item.
KIND = {
    "queue": "queue_id",
    "is_placed": "order_key > 0",
    "state": "state",
    "needed": "needed",
    "done": "done",
    "needed_at_least": "needed_at_least",
    "needed_at_most": "needed_at_most",
    "is_expecting": "expected <> ''",
}
KEYS, VALUES = ", ".join(KIND), ", ".join(KIND.values())
# A queue's rows are added up about every so many that it gets.
ADDED_UP = 256
TRIGGERS = ("count_items_insert", "count_items_update", "count_items_delete")

POSTGRESQL = (
    f"""
CREATE OR REPLACE FUNCTION count_items() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    appended bigint;
    newest bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO labeling_itemcount ({KEYS}, many)
        SELECT {VALUES}, COUNT(*) FROM added GROUP BY {VALUES};
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO labeling_itemcount ({KEYS}, many)
        SELECT {VALUES}, -COUNT(*) FROM removed GROUP BY {VALUES};
    ELSE
        INSERT INTO labeling_itemcount ({KEYS}, many)
        SELECT {KEYS}, SUM(many)
        FROM (SELECT {VALUES}, -1 FROM removed UNION ALL SELECT {VALUES}, 1 FROM added) AS one ({KEYS}, many)
        GROUP BY {KEYS} HAVING SUM(many) <> 0;
    END IF;
    GET DIAGNOSTICS appended = ROW_COUNT;
    IF appended > 0 THEN
        newest := lastval();
        IF newest % {ADDED_UP} < appended THEN
            WITH gone AS (
                DELETE FROM labeling_itemcount WHERE id = ANY (ARRAY(
                    SELECT id FROM labeling_itemcount
                    WHERE queue = (SELECT queue FROM labeling_itemcount WHERE id = newest)
                    FOR UPDATE SKIP LOCKED
                )) RETURNING {KEYS}, many
            )
            INSERT INTO labeling_itemcount ({KEYS}, many)
            SELECT {KEYS}, SUM(many) FROM gone GROUP BY {KEYS} HAVING SUM(many) <> 0;
        END IF;
    END IF;
    RETURN NULL;
END
$$
""",  # noqa: S608  no values, here and below
    *(
        f"CREATE TRIGGER {name} AFTER {event} ON labeling_item REFERENCING {tables} "
        "FOR EACH STATEMENT EXECUTE FUNCTION count_items()"
        for name, event, tables in zip(
            TRIGGERS,
            ("INSERT", "UPDATE", "DELETE"),
            ("NEW TABLE AS added", "OLD TABLE AS removed NEW TABLE AS added", "OLD TABLE AS removed"),
            strict=True,
        )
    ),
)


def _of(row: str) -> list[str]:
    """What a trigger's `old` or `new` item is counted by."""
    return [f"{row}.{value}" for value in KIND.values()]


def _alike(row: str) -> str:
    return " AND ".join(f"{key} = ({value})" for key, value in zip(KIND, _of(row), strict=True))


GOES = f"UPDATE labeling_itemcount SET many = many - 1 WHERE {_alike('old')};"  # noqa: S608
COMES = f"""
INSERT INTO labeling_itemcount ({KEYS}, many) SELECT {", ".join(_of("new"))}, 0
WHERE NOT EXISTS (SELECT 1 FROM labeling_itemcount WHERE {_alike("new")});
UPDATE labeling_itemcount SET many = many + 1 WHERE {_alike("new")};
"""  # noqa: S608
DIFFERS = f"({', '.join(_of('old'))}) <> ({', '.join(_of('new'))})"
SQLITE = (
    f"CREATE TRIGGER {TRIGGERS[0]} AFTER INSERT ON labeling_item BEGIN {COMES} END",
    f"CREATE TRIGGER {TRIGGERS[1]} AFTER UPDATE ON labeling_item WHEN {DIFFERS} BEGIN {GOES} {COMES} END",
    f"CREATE TRIGGER {TRIGGERS[2]} AFTER DELETE ON labeling_item BEGIN {GOES} END",
)
COUNTED_AGAIN = (
    "DELETE FROM labeling_itemcount",
    f"INSERT INTO labeling_itemcount ({KEYS}, many) SELECT {VALUES}, COUNT(*) FROM labeling_item "  # noqa: S608
    f"GROUP BY {VALUES}",
)


def keep_counts(using: str, plan: Sequence[Any] = ()) -> None:
    """Make the triggers and count what is there: after each upgrade, and wherever the triggers are gone.

    SQLite loses them with the old table where a migration copies it. A migration that changes `ItemCount` has
    to drop them first: SQLite renames no table that a trigger writes to.
    """
    database = connections[using]
    on_postgres = database.vendor == "postgresql"
    with transaction.atomic(using), database.cursor() as cursor:
        names = "pg_trigger WHERE tgname" if on_postgres else "sqlite_master WHERE name"
        cursor.execute(f"SELECT COUNT(*) FROM {names} IN (%s, %s, %s)", TRIGGERS)  # noqa: S608
        if cursor.fetchone() == (len(TRIGGERS),) and not plan:
            return
        for name in TRIGGERS:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{' ON labeling_item' if on_postgres else ''}")
        if ItemCount._meta.db_table in database.introspection.table_names(cursor):
            for statement in (*(POSTGRESQL if on_postgres else SQLITE), *COUNTED_AGAIN):
                cursor.execute(statement)


def forget_counts(queue: Queue) -> None:
    """What is left of the items that went with a queue: rows of nothing."""
    ItemCount.objects.filter(queue=queue.pk).delete()


def items_by_state(queues: Iterable[int]) -> dict[tuple[int, str], int]:
    rows = ItemCount.objects.filter(queue__in=list(queues), is_placed=True).order_by()
    by_state = rows.values_list("queue", "state").annotate(items=Sum("many"))
    return {(queue, state): items for queue, state, items in by_state}
