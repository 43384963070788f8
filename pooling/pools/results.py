from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from django.urls import reverse

from pooling.formats.wording import counted
from pooling.interface.results import Result
from pooling.merging.stored_diagnosis import NewPairs
from pooling.models import Pool


class PoolBuilt(Result):
    """A pool just built."""

    id: int
    name: str
    pairs: int
    chosen: int
    queries: int
    # By run, queries that the collection does not have.
    left_out_queries: dict[str, int]
    version: int
    new: Annotated[
        NewPairs | None,
        Mapping[str, Any],
        "Of a later version: pairs, chosen, audit and queries that are new.",
    ]


def pool_result(pool: Pool) -> PoolBuilt:
    return {
        "id": pool.pk,
        "name": pool.name,
        "pairs": pool.pair_count,
        "chosen": pool.chosen_count,
        "queries": pool.query_count,
        "left_out_queries": pool.diagnostics.get("left_out_queries", {}),
        "version": pool.version,
        "new": pool.diagnostics.get("new"),
        "detail": _sentence(pool),
        "url": reverse("pool", args=[pool.collection.slug, pool.pk]),
    }


def _sentence(pool: Pool) -> str:
    text = f"Pool “{pool.name}”: {counted(pool.pair_count, 'pair')} for {counted(pool.query_count, 'query')}"
    new = pool.diagnostics.get("new")
    return f"{text}, {new['pairs']:,} of them new." if new else f"{text}."
