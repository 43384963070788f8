from __future__ import annotations

from urllib.parse import urlencode

from pooling.models import Pool, PoolEntry, Query
from pooling.tables.columns import Column, Empty, own_page
from pooling.tables.table import Table


def _depths(pool: Pool) -> str:
    return ", ".join(f"{depth:,}" for depth in (pool.depth, *pool.depths.values()))


def _query_page(query: Query) -> str:
    return "?" + urlencode({"query": query.external_id})


def _chosen(entry: PoolEntry) -> str:
    if entry.in_audit:
        return "audit"
    return "no" if entry.inclusion_probability is None else "yes"


POOLS = Table(
    "pools",
    "pool",
    columns=(
        Column("name", "Pool", natural=True, link=own_page, style="id"),
        Column("pairs", "Pairs", "pair_count", number=True),
        Column("chosen", "Chosen", "chosen_count", number=True),
        Column("queries", "Queries", "query_count", number=True),
        Column("depth", "Depth", _depths, sort="depth", number=True),
        Column("strategy", "Strategy"),
        Column("built", "Built", "built_at", style="quiet"),
        Column("by", "Built by", "built_by.username", hidden=True),
        Column("version", "Version", number=True, hidden=True),
    ),
    sort="-built",
    search=("name__icontains", "strategy__icontains"),
    search_hint="Name or strategy",
    choose="pools",
    empty=Empty(
        "No pools yet. A pool is a set of query-document pairs worth judging.",
        "Build a pool",
        "pool_new",
        made="pool",
    ),
)
POOLED_QUERIES = Table(
    "pooled-queries",
    "query",
    nouns="queries",
    columns=(
        Column("id", "Query", "external_id", natural=True, link=_query_page, style="mono id"),
        Column("text", "Text"),
        Column("pairs", "Pairs", "pooled", number=True),
    ),
    sort="id",
    search=("external_id__icontains", "text__icontains"),
    search_hint="Id or words",
)
POOLED_PAIRS = Table(
    "pooled-pairs",
    "pair",
    columns=(
        Column(
            "document",
            "Document",
            "document.external_id",
            natural=True,
            template="pooling/_pooled_document.html",
            style="id",
        ),
        Column("position", "Position", number=True),
        Column("found_by", "Found by (rank)", "finders", sort="run_count"),
        Column("rrf", "RRF", number=True, decimals=4),
        Column("best_rank", "Best rank", number=True, hidden=True),
        Column("chosen", "Chosen", _chosen, sort="inclusion_probability"),
    ),
    sort="position",
    search=("document__external_id__icontains", "document__title__icontains"),
    search_hint="Id or title",
)
