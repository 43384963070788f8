"""How much of each run's top K has a label: now, and when a queue is done (judged@K).

From what the pool knows of who found which pair where; no run is read. A pair counts as labelled when a queue
of the collection has settled it, its answer is known, or its label was imported.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db.models import Case, Exists, IntegerField, OuterRef, Q, TextField, When
from django.db.models.functions import Cast
from django.utils import timezone

from labeling.models import ImportedLabel, Item, Queue
from labeling.slots import KNOWN
from pooling.frames import frame_of

if TYPE_CHECKING:
    from datetime import datetime

    import polars as pl

    from pooling.models import Pool

KEPT_SECONDS = 600
# As for the figures of quality: above so many pairs, a minute old will do.
BEHIND = timedelta(seconds=60)
LARGE = 20_000
USUAL_K = 10
FLAGS = ("labelled", "queued", "brought")


def judged_share(
    queue: Queue, counts: dict[str, int], *, now: datetime | None = None
) -> list[dict[str, Any]]:
    """A row for each run and K (10 and the run's depth in the pool): `run`, `k`, `now`, `when_done`, 0 to 1.

    The mean over queries of the share of a run's first K that has a label. `when_done` supposes that every
    pair of the queue gets one. Rows of a later version of a pool have `before` as well: now, without what
    that version brought. `counts` are the queue's items by state, by whose change the kept rows go.
    """
    now = now or timezone.now()
    key = f"judged-share-{queue.pk}-{queue.opened_at.timestamp()}"
    imported = ImportedLabel.objects.filter(collection=queue.collection_id).order_by("-pk")
    state = (tuple(counts.values()), imported.values_list("pk", flat=True).first())
    if kept := cache.get(key):
        rows, at, before = kept
        if before == state or (counts["total"] >= LARGE and now - at < BEHIND):
            return list(rows)
    rows = _computed(queue.pool, queue)
    cache.set(key, (rows, now, state), KEPT_SECONDS)
    return rows


def judged_share_of_pool(pool: Pool) -> list[dict[str, Any]]:
    """The same for a pool, as it is now; `when_done` supposes that every chosen pair gets a label."""
    return _computed(pool, None)


def _computed(pool: Pool, queue: Queue | None) -> list[dict[str, Any]]:
    import polars as pl

    names = dict(pool.pool_runs.values_list("index", "run__name"))
    entries = _entries(pool, queue)
    if not names or entries.is_empty():
        return []
    found = (
        entries.with_columns(pl.col("found_by").str.json_decode(pl.List(pl.List(pl.Int64))))
        .explode("found_by")
        .drop_nulls("found_by")
        .select(
            "query_id",
            "labelled",
            "queued",
            "brought",
            index=pl.col("found_by").list.get(0),
            rank=pl.col("found_by").list.get(1),
        )
    )
    rows = []
    depths = {index: pool.depth_of(name) for index, name in names.items()}
    for k in sorted({k for depth in depths.values() for k in (min(USUAL_K, depth), depth)}):
        # No further down than a run was pooled: nothing is known of what stands below.
        told = [index for index, depth in depths.items() if k in (min(USUAL_K, depth), depth)]
        shares = _shares(found.filter(pl.col("rank") <= k, pl.col("index").is_in(told)))
        if pool.extends_id is None:
            shares = shares.drop("before")
        rows += [{"run": names[row.pop("index")], "k": k, **row} for row in shares.to_dicts()]
    return sorted(rows, key=lambda row: (row["run"], row["k"]))


def _shares(found: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    done = pl.col("labelled") | pl.col("queued")
    before = pl.col("labelled") & ~pl.col("brought")
    by_query = found.group_by("index", "query_id").agg(
        before=before.mean(), now=pl.col("labelled").mean(), when_done=done.mean()
    )
    return by_query.group_by("index").agg(pl.col("before", "now", "when_done").mean())


def _entries(pool: Pool, queue: Queue | None) -> pl.DataFrame:
    """Every pair of the pool: its query, finders as text, whether it has a label, is in the queue (chosen,
    without one), and came with this version."""
    import polars as pl

    pair = {"query": OuterRef("query"), "document": OuterRef("document")}
    settled = Item.objects.filter(
        Q(state=Item.State.DONE) | Q(state__in=KNOWN), queue__collection=pool.collection_id, **pair
    )
    imported = ImportedLabel.objects.filter(relevance__gte=0, **pair)
    chosen: Any = Case(
        When(inclusion_probability__isnull=False, then=1), default=0, output_field=IntegerField()
    )
    if queue is not None:
        chosen = Cast(Exists(Item.objects.filter(queue=queue, order_key__gte=0, **pair)), IntegerField())
    rows = (
        pool.entries.order_by()
        .annotate(
            finders=Cast("found_by", TextField()),
            labelled=Case(
                When(Exists(settled) | Exists(imported), then=1), default=0, output_field=IntegerField()
            ),
            queued=chosen,
            brought=Case(When(version=pool.version, then=1), default=0, output_field=IntegerField()),
        )
        .values_list("query_id", "finders", "labelled", "queued", "brought")
    )
    schema = {"query_id": pl.Int64, "found_by": pl.String, **dict.fromkeys(FLAGS, pl.Int8)}
    frame = frame_of(*rows.query.sql_with_params(), schema)
    return frame.with_columns(pl.col(FLAGS).cast(pl.Boolean))
