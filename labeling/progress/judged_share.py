"""Share of each run's top K that has a label: now, and when a queue is done (judged@K).

From what the pool knows of who found which pair where; no run is read. A pair counts as labelled when it has
one of the labels that a release would have now.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NotRequired, TypedDict

from django.core.cache import cache
from django.db.models import BooleanField, Exists, ExpressionWrapper, Q, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from labeling.models import Item, Queue
from labeling.models.words import SAME_PAIR
from labeling.qrels.labels import PAIR, judged_labels, state_of_labels
from pooling.heavy import pl
from pooling.models import Pool
from pooling.storage.frames import PAIR_IDS, rows_frame

KEPT_SECONDS = 600
# As for the figures of quality: above this many pairs, a minute old will do.
BEHIND = timedelta(seconds=60)
LARGE = 20_000
USUAL_K = 10


class JudgedShare(TypedDict):
    """The mean over queries of the share of a run's first K that has a label, 0 to 1: `now`, and `when_done`,
    which supposes that every pair of the queue gets one. Rows of a later version of a pool have `before` as
    well: now, without what that version brought."""

    run: str
    k: int
    before: NotRequired[float]
    now: float
    when_done: float


def judged_share(queue: Queue) -> list[JudgedShare]:
    """A row for each run and K (10 and the run's depth in the pool); of a large queue up to a minute old."""
    now = timezone.now()
    key = f"judged-share-{queue.pk}-{queue.opened_at.timestamp()}"
    state = state_of_labels(queue.collection)
    if kept := cache.get(key):
        rows, at, before = kept
        if before == state or (queue.pool.pair_count >= LARGE and now - at < BEHIND):
            return list(rows)
    rows = _computed(queue.pool, queue)
    cache.set(key, (rows, now, state), KEPT_SECONDS)
    return rows


def judged_share_of_pool(pool: Pool) -> list[JudgedShare]:
    """Shares for a pool, as it is now; `when_done` supposes that every chosen pair gets a label."""
    return _computed(pool, None)


def _computed(pool: Pool, queue: Queue | None) -> list[JudgedShare]:
    names = dict(pool.pool_runs.values_list("index", "run__name"))
    entries = _entries(pool, queue)
    if not names or entries.is_empty():
        return []
    places = (
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
    rows: list[JudgedShare] = []
    depths = {index: pool.depth_of(name) for index, name in names.items()}
    for k in sorted({k for depth in depths.values() for k in (min(USUAL_K, depth), depth)}):
        # No further down than a run was pooled: nothing is known of what stands below.
        indexes = [index for index, depth in depths.items() if k in (min(USUAL_K, depth), depth)]
        shares = _shares(places.filter(pl.col("rank") <= k, pl.col("index").is_in(indexes)))
        if pool.extends_id is None:
            shares = shares.drop("before")
        rows += [_row(names[row["index"]], k, row) for row in shares.iter_rows(named=True)]
    return sorted(rows, key=lambda row: (row["run"], row["k"]))


def _row(run: str, k: int, shares: Mapping[str, float]) -> JudgedShare:
    now, when_done = shares["now"], shares["when_done"]
    if "before" not in shares:
        return {"run": run, "k": k, "now": now, "when_done": when_done}
    return {"run": run, "k": k, "before": shares["before"], "now": now, "when_done": when_done}


def _shares(places: pl.DataFrame) -> pl.DataFrame:
    done = pl.col("labelled") | pl.col("queued")
    before = pl.col("labelled") & ~pl.col("brought")
    by_query = places.group_by("index", "query_id").agg(
        before=before.mean(), now=pl.col("labelled").mean(), when_done=done.mean()
    )
    return by_query.group_by("index").agg(pl.col("before", "now", "when_done").mean())


def _entries(pool: Pool, queue: Queue | None) -> pl.DataFrame:
    """Every pair of the pool: its query, finders as text, whether it has a label, is in the queue (chosen,
    without one), and came with this version."""
    queued: Any = ExpressionWrapper(Q(inclusion_probability__isnull=False), BooleanField())
    if queue is not None:
        queued = Exists(Item.objects.filter(queue=queue, order_key__gte=0, **SAME_PAIR))
    rows = pool.entries.order_by().annotate(finders=Cast("found_by", TextField()), queued=queued)
    frame = rows_frame(rows, "queued", "version", **PAIR_IDS, found_by="finders")
    labels = judged_labels(pool.collection).select(*PAIR, labelled=pl.lit(True))
    return frame.join(labels, on=PAIR, how="left").select(
        *PAIR,
        "found_by",
        "queued",
        pl.col("labelled").fill_null(False),
        brought=pl.col("version") == pool.version,
    )
