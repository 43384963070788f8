"""Pools of pairs that were picked one by one, for a reason that is stored with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from pooling.heavy import pl
from pooling.merging.summary import sizes_of
from pooling.models import Collection, Pool
from pooling.pools.building import count_pairs, free_name, store_pool


def pick_pool(
    collection: Collection,
    pairs: pl.DataFrame,
    *,
    strategy: str,
    provenance: Mapping[str, Any],
    name: str,
    user: User | None = None,
) -> Pool:
    """Store a pool of these pairs (query_id, document_id, rank), all of them to be judged, in this order.

    Where only some were drawn, the columns in_audit and inclusion_probability (null: not to be judged) say
    which. strategy: one of `Pool.PICKED`. No run is named as finder, and none of the estimates by query rests
    on such a pool. `InputError` for a name that exists.
    """
    empty = pl.lit([], dtype=pl.List(pl.Int64))
    if "in_audit" not in pairs.columns:
        pairs = pairs.with_columns(in_audit=pl.lit(False), inclusion_probability=pl.lit(1.0))
    pooled = pairs.select(
        "query_id",
        "document_id",
        position=pl.int_range(pl.len()).over("query_id") + 1,
        run_count=0,
        best_rank=pl.col("rank"),
        rrf=1.0 / (60 + pl.col("rank")),
        in_audit="in_audit",
        inclusion_probability="inclusion_probability",
        version=1,
        runs=empty,
        ranks=empty,
    )
    pool = Pool(
        collection=collection,
        name=free_name(collection, name),
        depth=int(pairs["rank"].max() or 1),  # type: ignore[arg-type]
        strategy=strategy,
        provenance=dict(provenance),
        built_by=user,
    )
    count_pairs(pool, pooled)
    audit = int(pooled["in_audit"].sum())
    pool.diagnostics = {"runs": [], "left_out_queries": {}, "audit": audit, "sizes": sizes_of(pooled)}
    return store_pool(pool, [], pooled)


def numbered_name(collection: Collection, word: str) -> str:
    """“WORD 1”, or the next number: a name that tells annotators nothing."""
    taken = set(collection.pools.filter(name__startswith=word).values_list("name", flat=True))
    taken |= set(collection.queues.filter(name__startswith=word).values_list("name", flat=True))
    return next(name for number in range(1, len(taken) + 2) if (name := f"{word} {number}") not in taken)
