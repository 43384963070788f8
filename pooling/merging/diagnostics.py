"""Checks before people pay for judgments: preflight, size by depth, overlap, unique finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pooling.formats.wording import plural
from pooling.heavy import np, pl
from pooling.merging.stored_diagnosis import Depths, StoredPreflight
from pooling.ranking.ranking import order_run, query_starts

LISTED = 20


def preflight(
    run_frame: pl.DataFrame,
    query_ids: Iterable[str],
    qrels: pl.DataFrame | None = None,
    k: Sequence[int] = (1, 5, 10, 100),
) -> StoredPreflight:
    """Check a run against the queries it should answer, and against qrels where there are some.

    run_frame: query_id, document_id, score, perhaps rank. qrels: query_id, document_id, relevance.
    """
    ordered = order_run(run_frame)
    lengths = ordered.group_by("query_id").len()
    wanted, answered = set(query_ids), set(lengths["query_id"].to_list())
    missing, unknown = sorted(wanted - answered), sorted(answered - wanted)
    unjudged = None if qrels is None else {str(at): unjudged_at(ordered, qrels, at) for at in k}
    return {
        "rows": run_frame.height,
        "queries": len(answered),
        "queries_in_common": len(wanted & answered),
        "missing_queries": len(missing),
        "missing_query_ids": missing[:LISTED],
        "unknown_queries": len(unknown),
        "unknown_query_ids": unknown[:LISTED],
        "depths": depths_of(lengths["len"]),
        "ties_across_k": {str(at): ties_across(ordered, at) for at in k},
        "unjudged_at_k": unjudged,
        "notes": list(coverage_notes(missing, unknown)),
    }


def depths_of(lengths: pl.Series) -> Depths:
    """Least, median and greatest of the lengths of lists; zeros where there is none."""
    if not len(lengths):
        return {"least": 0.0, "median": 0.0, "greatest": 0.0}
    values = lengths.to_numpy()
    return {"least": float(values.min()), "median": float(np.median(values)), "greatest": float(values.max())}


def ties_across(ordered: pl.DataFrame, k: int) -> int:
    """Queries whose documents at ranks k and k + 1 have the same score; ordered: as `order_run` gives it."""
    starts = query_starts(ordered)
    lengths = np.diff(np.append(starts, ordered.height))
    last = starts[lengths > k] + k - 1
    score = ordered["score"].to_numpy()
    return int((score[last] == score[last + 1]).sum())


def unjudged_at(ordered: pl.DataFrame, qrels: pl.DataFrame, k: int) -> float:
    """Share of the top k of the queries in the qrels that has no judgment; a negative relevance is none.

    ordered: as `order_run` gives it. qrels: query_id, document_id, relevance.
    """
    judged = qrels.filter(pl.col("relevance") >= 0).select("query_id", "document_id")
    top = ordered.filter(pl.col("position") <= k).join(qrels.select("query_id"), on="query_id", how="semi")
    if not top.height:
        return 0.0
    return top.join(judged, on=["query_id", "document_id"], how="anti").height / top.height


def coverage_notes(missing: Sequence[str], unknown: Sequence[str]) -> tuple[str, ...]:
    sides = (("queries", missing, "in the run"), ("run's queries", unknown, "known here"))
    return tuple(
        f"{len(ids):,} of the {side} {plural(len(ids), 'is', 'are')} not {where}, such as “{ids[0]}”."
        for side, ids, where in sides
        if ids
    )


def size_by_depth(runs: Mapping[str, pl.DataFrame], depth: int | None = None) -> list[dict[str, int]]:
    """Pairs in the pool at each depth to `depth` (or the deepest list): `[{"depth": 1, "pairs": 7}, …]`.

    runs: name -> frame of query_id, document_id, score, perhaps rank.
    """
    best = pl.concat([tops(run, depth) for run in runs.values()]).group_by("query_id", "document_id").min()
    deepest = depth or int(best["position"].max() or 0)  # type: ignore[arg-type]
    counts = np.bincount(best["position"].to_numpy(), minlength=deepest + 1)
    return [{"depth": rank, "pairs": int(pairs)} for rank, pairs in enumerate(counts.cumsum())][1:]


def tops(run: pl.DataFrame, depth: int | None) -> pl.DataFrame:
    """query_id, document_id and position (from 1) of the first `depth` documents of each query."""
    return order_run(run, depth=depth).select("query_id", "document_id", "position")


def overlap(runs: Mapping[str, pl.DataFrame], depth: int) -> list[list[float]]:
    """`[i][j]`: the share (0 to 1) of run i's top `depth` that is in run j's too, over all queries.

    runs: name -> frame of query_id, document_id, score, perhaps rank. The result is square, in their order.
    """
    pairs_by_run = [tops(run, depth).select("query_id", "document_id") for run in runs.values()]
    owners = pl.concat(
        frame.with_columns(run=pl.lit(index, dtype=pl.Int64)) for index, frame in enumerate(pairs_by_run)
    )
    codes = owners.select(pl.struct("query_id", "document_id").rank("dense").alias("pair"), "run")
    both = codes.join(codes, on="pair", suffix="_other").group_by("run", "run_other").len()
    shared = np.zeros((len(pairs_by_run), len(pairs_by_run)))
    shared[both["run"].to_numpy(), both["run_other"].to_numpy()] = both["len"].to_numpy()
    sizes = np.array([max(frame.height, 1) for frame in pairs_by_run])
    return [[float(share) for share in row] for row in shared / sizes[:, None]]


def unique_finds(pooled: pl.DataFrame) -> list[int]:
    """Pairs that one run alone found, by index of the run; empty runs at the end are left out.

    pooled: runs (a list of indexes a row) and run_count, as `pooling.merging.merging.build_pool` gives them.
    """
    finders = pooled["runs"].explode()
    alone = pooled.filter(pl.col("run_count") == 1)["runs"].list.first().to_numpy()
    runs = 1 + int(finders.to_numpy().max(initial=-1))
    return [int(count) for count in np.bincount(alone, minlength=runs)]
