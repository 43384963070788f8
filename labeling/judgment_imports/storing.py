"""What a staged file of judgments brings, by statements of the database; the collection is locked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from labeling.items.slots import recount, settle
from labeling.models import ADJUDICATED, Item, JudgmentImport, Quarantine, Queue, Verdict
from pooling.heavy import pl
from pooling.merging.summary import binned
from pooling.models import Pool, Query
from pooling.search_models import TextIndex
from pooling.storage.staging import Staged, staged

STAGED_PAIR = {
    "queue": "whole",
    "query": "whole",
    "document": "whole",
    "place": "whole",
    "relevant": "whole",
    "not_relevant": "whole",
    "cannot_judge": "whole",
    "adjudicated": "whole",
}
# One judgment settles a pair of an import: what was judged elsewhere is done.
BOUNDS: Final = (1, 1)
RECOUNTED = 500

DOCUMENTS = """
INSERT INTO pooling_document (collection_id, external_id, title, text, metadata, version)
SELECT %s, document, title, body, '{}', 1 FROM staged_judgments staged
WHERE seq IN (SELECT MIN(seq) FROM staged_judgments GROUP BY document) AND NOT EXISTS (
    SELECT 1 FROM pooling_document known
    WHERE known.collection_id = %s AND known.external_id = staged.document
)
"""
DOCUMENT_KEYS = """
UPDATE staged_judgments SET document_key = known.id FROM pooling_document known
WHERE known.collection_id = %s AND known.external_id = staged_judgments.document
"""
KEYS_POSTGRESQL = """
UPDATE staged_judgments SET id = fresh.id FROM (
    SELECT seq, nextval(pg_get_serial_sequence('labeling_judgmentevent', 'id')) AS id
    FROM (SELECT seq FROM staged_judgments ORDER BY seq) ordered
) fresh WHERE fresh.seq = staged_judgments.seq
"""
KEYS_SQLITE = """
UPDATE staged_judgments SET id = seq + 1 + COALESCE(
    (SELECT seq FROM sqlite_sequence WHERE name = 'labeling_judgmentevent'), 0)
"""
# Where a file does not say what stands, the last verdict of each person on each pair does.
LAST_STANDS = """
UPDATE staged_judgments SET state = 'stands' WHERE seq IN (
    SELECT MAX(staged.seq) FROM staged_judgments staged
    WHERE staged.kind = 'verdict' AND staged.state = '' AND staged.repeats IS NULL
    {not_undone}
    GROUP BY staged.query, staged.document, staged.person
)
"""
NOT_UNDONE = "AND NOT EXISTS (SELECT 1 FROM staged_judgments undo WHERE undo.undoes = staged.number)"
# An answer to a gold question that the collection does not have is a verdict like any other.
HAS_GOLD = """EXISTS (
    SELECT 1 FROM labeling_goldquestion gold
    WHERE gold.query_id = staged_judgments.query AND gold.document_id = staged_judgments.document_key
)"""
STOOD = f"""
UPDATE staged_judgments SET stood = CASE WHEN is_gold AND {HAS_GOLD} THEN 'gold'
    WHEN is_aside THEN 'aside' ELSE 'counts' END
WHERE state = 'stands' AND kind = 'verdict'
"""  # noqa: S608
NO_GOLD = f"""
SELECT query, document, COUNT(*) OVER () FROM staged_judgments
WHERE is_gold AND stood IS NOT NULL AND NOT {HAS_GOLD}
GROUP BY query, document ORDER BY MIN(seq) LIMIT 1
"""  # noqa: S608
BROUGHT = """
SELECT staged.name, staged.verdict, COUNT(*) FROM staged_judgments staged
JOIN labeling_judgment judgment ON judgment.event_id = staged.id GROUP BY staged.name, staged.verdict
"""
BROUGHT_PAIRS = """
SELECT COUNT(*) FROM (
    SELECT DISTINCT query, document FROM staged_judgments staged
    JOIN labeling_judgment judgment ON judgment.event_id = staged.id
) pairs
"""
EVENTS = """
INSERT INTO labeling_judgmentevent (
    id, collection_id, queue_id, query_id, document_id, annotator_id, kind, key, verdict, reason, note, shown,
    highlight, document_version, active_ms, span_start, span_end, span_sha256, extra, gold_id, repeats_id,
    is_adjudication, is_practice, prelabel_seen, prelabeler_id, undoes_id, created_at, brought_by_id, said_at,
    stood, origin
)
SELECT staged.id, %(collection)s, staged.queue, staged.query, staged.document_key, staged.person, staged.kind,
    %(key)s || staged.seq, staged.verdict, staged.reason, staged.note, staged.shown, staged.highlight,
    staged.document_version, staged.active_ms, staged.span_start, staged.span_end, staged.span_sha256,
    staged.is_extra, gold.id, {repeats}, staged.is_adjudication, {false}, staged.prelabel_seen,
    staged.prelabeler, {undoes}, {now}, %(import)s, {said_at}, staged.stood, staged.origin
FROM staged_judgments staged
LEFT JOIN labeling_goldquestion gold
    ON staged.is_gold AND gold.query_id = staged.query AND gold.document_id = staged.document_key
{links}
ORDER BY staged.seq
"""
LINKS = """
LEFT JOIN staged_judgments undone ON undone.number = staged.undoes
LEFT JOIN staged_judgments repeated ON repeated.number = staged.repeats
"""
# What somebody said here of the pair already stays.
PROJECTED = """
INSERT INTO labeling_judgment (collection_id, query_id, document_id, annotator_id, verdict, event_id,
    judged_at, is_gold, is_adjudication, quarantine_id)
SELECT event.collection_id, event.query_id, event.document_id, event.annotator_id, event.verdict, event.id,
    event.created_at, event.stood = 'gold', event.is_adjudication, quarantine.id
FROM labeling_judgmentevent event
LEFT JOIN labeling_quarantine quarantine ON event.stood = 'aside' AND quarantine.lifted_at IS NULL
    AND quarantine.queue_id = event.queue_id AND quarantine.annotator_id = event.annotator_id
WHERE event.brought_by_id = %s AND event.stood IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM labeling_judgment known WHERE known.query_id = event.query_id
        AND known.document_id = event.document_id AND known.annotator_id = event.annotator_id
)
ON CONFLICT DO NOTHING
"""
PAIRS = """
INSERT INTO imported_pairs
SELECT pair.queue, pair.query, pair.document, pair.place,
    COALESCE(SUM(CASE WHEN said.verdict = 'relevant' AND NOT said.is_adjudication THEN 1 ELSE 0 END), 0),
    COALESCE(SUM(CASE WHEN said.verdict = 'not_relevant' AND NOT said.is_adjudication THEN 1 ELSE 0 END), 0),
    COALESCE(SUM(CASE WHEN said.verdict = 'cannot_judge' AND NOT said.is_adjudication THEN 1 ELSE 0 END), 0),
    COALESCE(SUM(CASE WHEN said.is_adjudication THEN 1 ELSE 0 END), 0)
FROM (
    SELECT queue, query, document_key AS document, MIN(seq) AS place FROM staged_judgments
    WHERE kind = 'verdict' GROUP BY queue, query, document_key
) pair
LEFT JOIN labeling_judgment said ON said.query_id = pair.query AND said.document_id = pair.document
    AND NOT said.is_gold AND said.quarantine_id IS NULL
GROUP BY pair.queue, pair.query, pair.document, pair.place
"""
ENTRIES = """
INSERT INTO pooling_poolentry (pool_id, query_id, document_id, position, run_count, best_rank, rrf, in_audit,
    inclusion_probability, found_by, version)
SELECT %s, query, document, ROW_NUMBER() OVER (PARTITION BY query ORDER BY place), 0, 1, 0, {false}, 1, '[]',
    1
FROM imported_pairs WHERE queue = %s
"""
ITEMS = """
INSERT INTO labeling_item (queue_id, query_id, document_id, order_key, needed_at_least, needed_at_most,
    expected, needed, done, leased, state)
SELECT queue, query, document, place + 1, %s, %s, '', %s, %s, 0, %s FROM imported_pairs
WHERE relevant = %s AND not_relevant = %s AND cannot_judge = %s AND adjudicated = %s ORDER BY place
"""
PATTERNS = "SELECT DISTINCT relevant, not_relevant, cannot_judge, adjudicated FROM imported_pairs"
ITEMS_ELSEWHERE = """
SELECT DISTINCT item.id FROM labeling_item item
JOIN labeling_judgmentevent event ON event.query_id = item.query_id AND event.document_id = item.document_id
WHERE event.brought_by_id = %s AND event.stood IS NOT NULL AND item.repeats_id IS NULL {left_out}
ORDER BY item.id
"""


def bring_documents(collection: int, stage: Staged) -> int:
    created = stage.run(DOCUMENTS, [collection, collection])
    if created:
        TextIndex.objects.filter(collection=collection).update(is_behind=True)
    stage.run(DOCUMENT_KEYS, [collection])
    return created


def replace_numbers(stage: Staged, column: str, keys: Mapping[int, int]) -> None:
    """Put the keys of people or queues where the table has their numbers."""
    with staged("imported_keys", {"place": "whole", "found": "whole"}) as numbers:
        numbers.add(list(keys.items()))
        numbers.settle()
        stage.run(
            f"UPDATE staged_judgments SET {column} = imported_keys.found FROM imported_keys "  # noqa: S608
            f"WHERE imported_keys.place = staged_judgments.{column}"
        )


def mark_standing(stage: Staged, *, links: bool) -> None:
    if links:
        stage.run("CREATE INDEX staged_numbers ON staged_judgments (number)")
        stage.run("CREATE INDEX staged_undoes ON staged_judgments (undoes)")
    stage.run(LAST_STANDS.format(not_undone=NOT_UNDONE if links else ""))


def mark_kinds(stage: Staged) -> tuple[int, str, str]:
    """Mark what verdicts count as; how many pairs answer absent gold questions, and the first of them."""
    stage.run(STOOD)
    for query, document, pairs in stage.rows(NO_GOLD):
        return pairs, Query.objects.get(pk=query).external_id, document
    return 0, "", ""


def store_events(made: JudgmentImport, stage: Staged, *, links: bool) -> int:
    on_postgres = connection.vendor == "postgresql"
    stage.run(KEYS_POSTGRESQL if on_postgres else KEYS_SQLITE)
    parameters: dict[str, Any] = {
        "collection": made.collection_id,
        "key": f"import:{made.pk}:",
        "import": made.pk,
        "now": connection.ops.adapt_datetimefield_value(made.imported_at),
    }
    statement = EVENTS.format(
        repeats="repeated.id" if links else "NULL",
        undoes="undone.id" if links else "NULL",
        links=LINKS if links else "",
        false="FALSE",
        now="CAST(%(now)s AS timestamptz)" if on_postgres else "%(now)s",
        said_at="CAST(staged.said_at || '+00' AS timestamptz)" if on_postgres else "staged.said_at",
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


def set_aside(stage: Staged, made: JudgmentImport) -> None:
    pairs = stage.rows("SELECT DISTINCT queue, person FROM staged_judgments WHERE stood = 'aside'")
    Quarantine.objects.bulk_create(
        Quarantine(
            queue_id=queue,
            annotator_id=person,
            reason=f"Set aside where {made.name} comes from.",
            imposed_by=made.imported_by,
            imposed_at=made.imported_at,
        )
        for queue, person in pairs
    )


def judgments_by_person(stage: Staged) -> dict[int, dict[str, int]]:
    """The judgments that an import has made, by a person's number in the file and by verdict."""
    by_person: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for name, verdict, many in stage.rows(BROUGHT):
        by_person[name][verdict] = many
    return by_person


def pairs_judged(stage: Staged) -> int:
    return int(stage.rows(BROUGHT_PAIRS)[0][0])


def project(made: JudgmentImport) -> int:
    """Let the verdicts of an import count that stood elsewhere; how many do."""
    with connection.cursor() as cursor:
        cursor.execute(PROJECTED, [made.pk])
        return int(cursor.rowcount)


def store_pairs(queues: list[Queue]) -> None:
    with staged("imported_pairs", STAGED_PAIR) as pairs:
        pairs.run(PAIRS)
        pairs.settle()
        for queue in queues:
            _fill_pool(queue.pool, queue, pairs)
        for pattern in pairs.rows(PATTERNS):
            words = (Verdict.RELEVANT, Verdict.NOT_RELEVANT, Verdict.CANNOT_JUDGE, ADJUDICATED)
            # Only whether one side has more, and whether two cannot judge, makes a difference.
            verdicts = [word for word, many in zip(words, pattern, strict=True) for _ in range(many)]
            slots = settle(BOUNDS, verdicts, ())
            pairs.run(ITEMS, [*BOUNDS, slots.needed, slots.done, slots.state, *pattern])


def _fill_pool(pool: Pool, queue: Queue, pairs: Staged) -> None:
    stored = pairs.run(ENTRIES.format(false="FALSE"), [pool.pk, queue.pk])
    sizes = pairs.rows("SELECT COUNT(*) FROM imported_pairs WHERE queue = %s GROUP BY query", [queue.pk])
    pool.pair_count = pool.chosen_count = stored
    pool.query_count = len(sizes)
    pool.depth = max((size for (size,) in sizes), default=1)
    if sizes:
        pool.diagnostics |= {"sizes": binned(pl.Series([size for (size,) in sizes]))}
    pool.save(update_fields=["pair_count", "chosen_count", "query_count", "depth", "diagnostics"])


def recount_items(made: JudgmentImport, but: Sequence[Queue] = ()) -> None:
    """Count the items of all queues but some again that hold a pair of an import. Leases stay as they are."""
    own = [queue.pk for queue in but]
    places = ", ".join(["%s"] * len(own))
    with connection.cursor() as cursor:
        left_out = f"AND item.queue_id NOT IN ({places})" if own else ""
        cursor.execute(ITEMS_ELSEWHERE.format(left_out=left_out), [made.pk, *own])
        keys = [key for (key,) in cursor.fetchall()]
    for start in range(0, len(keys), RECOUNTED):
        rows = Item.objects.filter(pk__in=keys[start : start + RECOUNTED]).order_by("pk")
        recount(list(rows.select_for_update(no_key=True)), timezone.now())
