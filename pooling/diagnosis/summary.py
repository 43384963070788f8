"""A pool told in figures, for its page, the HTTP interface and the command: by run, by query, by depth."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import polars as pl

from pooling.diagnosis.diagnostics import overlap, size_by_depth, unique_finds
from pooling.diagnosis.families import dry_depth, families, lone_relevant

#: Rank-biased overlap looks at the first ranks above all; below this one it has nothing left to say.
FAMILY_DEPTH = 50
#: A query with fewer pairs than this share of the median is thin.
THIN = 0.5
#: Thin queries that are listed, the thinnest first.
LISTED = 50


def diagnose(runs: Mapping[str, pl.DataFrame], pooled: pl.DataFrame, depth: int) -> dict[str, Any]:
    """What a pool tells before anything is judged, in plain values fit for JSON.

    `pooled` is the frame of `pooling.merging.merging.build_pool` with its finders. By name of the run:
    `contributed` (pairs it found) and `unique_finds` (pairs that it alone found). `families`: groups of two
    or more runs that are nearly the same list. `overlap[i][j]`: share of run i's top that run j has too.
    `thin`: queries with fewer than half the median number of pairs.
    """
    contributed = pooled["runs"].explode().value_counts()
    by_index = dict(zip(contributed["runs"].to_list(), contributed["count"].to_list(), strict=True))
    groups = families(runs, depth=min(depth, FAMILY_DEPTH))
    return {
        "runs": list(runs),
        "size_by_depth": [row["pairs"] for row in size_by_depth(runs)],
        "overlap": overlap(runs, depth),
        "contributed": {name: by_index.get(index, 0) for index, name in enumerate(runs)},
        "unique_finds": dict(zip_longest(runs, unique_finds(pooled), fillvalue=0)),
        "families": [group for group in groups if len(group) > 1],
        "sizes": sizes_of(pooled),
        "thin": thin_queries(pooled),
        "audit": int(pooled["in_audit"].sum()),
    }


def sizes_of(pooled: pl.DataFrame) -> dict[str, Any]:
    """How many pairs the queries have: `bins` are [from, to, queries], ten at most."""
    return binned(pooled.group_by("query_id").len()["len"])


def binned(sizes: pl.Series) -> dict[str, Any]:
    """The same from the number of pairs of each query; at least one query."""
    least, most = int(sizes.min()), int(sizes.max())  # type: ignore[arg-type]
    width = (most - least) // 10 + 1
    starts = range(least, most + 1, width)
    bins = [
        [low, min(low + width - 1, most), int(sizes.is_between(low, low + width - 1).sum())] for low in starts
    ]
    return {"least": least, "median": sizes.median(), "mean": sizes.mean(), "most": most, "bins": bins}


def thin_queries(pooled: pl.DataFrame) -> dict[str, Any]:
    """Queries with fewer than `below` pairs: how many, and the thinnest as [query id, pairs]."""
    return thin_among(pooled.group_by("query_id").len())


def thin_among(sizes: pl.DataFrame) -> dict[str, Any]:
    """The same from a frame of query_id and len."""
    sizes = sizes.sort("len", "query_id")
    below = THIN * float(sizes["len"].median() or 0)  # type: ignore[arg-type]
    thin = sizes.filter(pl.col("len") < below)
    return {"below": below, "count": thin.height, "queries": [list(row) for row in thin.head(LISTED).rows()]}


def diagnose_labels(pooled: pl.DataFrame, qrels: pl.DataFrame, runs: Sequence[str]) -> dict[str, Any]:
    """What the labels so far tell of a pool, in plain values fit for JSON.

    `relevant_alone`: relevant pairs that one run alone found, by its name. `dry_depth`: the last rank whose
    neighbourhood still brought relevant pairs, None without a label; `by_rank` has, from rank 1 on, the pairs
    that each rank brought, those with a label and the relevant ones. `pooled` needs query_id, document_id,
    run_count, best_rank and, where run_count is 1, runs.
    """
    dried = dry_depth(pooled, qrels)
    return {
        "labelled": sum(dried.labelled),
        "relevant": sum(dried.relevant),
        "relevant_alone": lone_relevant(pooled, qrels, runs),
        "dry_depth": dried.depth,
        "by_rank": {"pairs": dried.pairs, "labelled": dried.labelled, "relevant": dried.relevant},
    }


def as_text(found: Mapping[str, Any], labels: Mapping[str, Any] | None = None) -> str:
    """The same as lines for a terminal."""
    sizes, thin, alone = found["sizes"], found["thin"], found["unique_finds"]
    family = {name: number for number, group in enumerate(found["families"], 1) for name in group}
    width = max(map(len, found["runs"]))
    relevant = labels["relevant_alone"] if labels else {}
    lines = [
        f"{'run'.ljust(width)}  {'pairs':>9}  {'alone':>9}{'  relevant alone' if labels else ''}  family"
    ]
    for name in found["runs"]:
        mark = f"  {relevant[name]:>14,}" if labels else ""
        lines.append(
            f"{name.ljust(width)}  {found['contributed'][name]:>9,}  {alone[name]:>9,}{mark}  "
            f"{family.get(name, '–')}"
        )
    lines.append(
        f"Pairs per query: least {sizes['least']:,}, median {sizes['median']:g}, most {sizes['most']:,}."
    )
    if thin["count"]:
        listed = ", ".join(f"{query_id} ({pairs:,})" for query_id, pairs in thin["queries"][:10])
        lines.append(f"Thin queries (fewer than {thin['below']:g} pairs): {thin['count']:,}; {listed}.")
    shown = sorted(
        {depth for depth in (1, 5, 10, 20, 50, 100, 200, 500) if depth < len(found["size_by_depth"])}
    )
    depths = [*shown, len(found["size_by_depth"])]
    grown = ", ".join(f"{found['size_by_depth'][depth - 1]:,} at {depth}" for depth in depths)
    lines.append(f"Pairs by depth: {grown}.")
    if labels:
        dry = labels["dry_depth"]
        ends = "nobody knows yet where finds end" if dry is None else f"finds dry up at rank {dry:,}"
        lines.append(
            f"{labels['labelled']:,} pairs have a label, {labels['relevant']:,} are relevant; {ends}."
        )
    return "\n".join(line.rstrip() for line in lines) + "\n"
