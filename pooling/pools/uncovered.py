"""Runs that no pool has merged yet, and how many pairs they would bring."""

from __future__ import annotations

from dataclasses import replace

from django.core.cache import cache
from django.db.models import Exists, OuterRef, QuerySet

from pooling.models import Collection, Pool, PoolRun, Run
from pooling.pools.building import choice_of, pooled_frame, read_tops

# Above these nobody waits for the count.
MOST_ROWS, MOST_PAIRS = 1_000_000, 50_000
KEPT_SECONDS = 30 * 24 * 3600


def newest_merged_pool(collection: Collection) -> Pool | None:
    """The newest pool that a strategy chose, in its newest version."""
    return merged_pools(collection.pools.listed()).defer("diagnostics").first()


def merged_pools(pools: QuerySet[Pool]) -> QuerySet[Pool]:
    """Those that a strategy chose, in their newest versions, the newest first."""
    later = Pool.objects.filter(extends=OuterRef("pk"))
    return pools.exclude(strategy__in=Pool.PICKED).filter(~Exists(later)).order_by("-pk")


def newest_run_outside(collection: Collection) -> Run | None:
    """The newest run that is in no pool."""
    pooled = PoolRun.objects.filter(run=OuterRef("pk"), pool__deleted_at=None)
    outside = collection.runs.listed().filter(~Exists(pooled)).defer("preflight")
    return outside.order_by("-imported_at", "-pk").first()


def new_pairs(run: Run, pool: Pool) -> int | None:
    """Pairs that a run would bring to a pool's next version, counted once; None where that takes long."""
    if run.row_count > MOST_ROWS or pool.pair_count > MOST_PAIRS:
        return None
    key = f"new-pairs-{pool.pk}-{pool.built_at.timestamp()}-{run.pk}"
    count: int | None = cache.get(key)
    if count is None:
        queries = dict(pool.collection.queries.listed().values_list("external_id", "pk"))
        # What only the audit may draw is no new pair.
        choice = replace(choice_of(pool), reach=None)
        tops, _ = read_tops([run], queries, choice, lambda share, detail: None)
        pair = ["query_id", "document_id"]
        count = tops[run.name].select(pair).join(pooled_frame(pool), on=pair, how="anti").height
        cache.set(key, count, KEPT_SECONDS)
    return count
