"""Runs in, pooled pairs out: who found each document, at which rank, and what is to be judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pooling.heavy import NDArray, np, pl
from pooling.merging.choice import Choice
from pooling.ranking.frame import Draw, choose_from_frame
from pooling.ranking.ranking import RRF_K, order_run, query_starts
from pooling.ranking.sample import Budget, choose
from pooling.strategies import strategy_named


def with_score_sums(
    merged: pl.DataFrame,
    runs: Mapping[str, pl.DataFrame],
    *,
    depth: int,
    ties: str = "docid",
    scores: str = "float64",
    depths: Mapping[str, int] | None = None,
) -> pl.DataFrame:
    """The merged pairs with `score_sum` (Float64): each run's scores mapped to 0 … 1 by query, then summed.

    The least and the greatest score are those of the run's first `depth` documents (or as many as `depths`
    says of it); where they are equal, each document gets 1.
    """
    own = depths or {}
    parts = [
        normalised(order_run(run, ties=ties, scores=scores, depth=own.get(name, depth)))
        for name, run in runs.items()
    ]
    # Summed in the order of the runs, so that the last bit does not hang on how rows were grouped.
    sums = (
        pl.concat(parts)
        .group_by("query_id", "document_id", maintain_order=True)
        .agg(pl.col("score_sum").sum())
    )
    return merged.join(sums, on=["query_id", "document_id"], how="left", maintain_order="left")


def normalised(top: pl.DataFrame) -> pl.DataFrame:
    score = pl.col("score").cast(pl.Float64)
    least, greatest = score.min().over("query_id"), score.max().over("query_id")
    share = pl.when(greatest > least).then((score - least) / (greatest - least)).otherwise(1.0)
    return top.select("query_id", "document_id", share.alias("score_sum"))


#: Rows merged at a time.
BLOCK_ROWS = 1 << 18
FINDERS = ("runs", "ranks")
MERGED = ("query_id", "document_id", "run_count", "best_rank", "rrf", "runs", "ranks")
POOLED = (
    "query_id",
    "document_id",
    "position",
    "run_count",
    "best_rank",
    "rrf",
    "in_audit",
    "inclusion_probability",
    "runs",
    "ranks",
)
#: What pairs have besides where the audit has a reach.
IN_FRAME = ("frame_size", "frame_reach", "is_beyond")


def merge_runs(
    runs: Mapping[str, pl.DataFrame],
    *,
    depth: int,
    ties: str = "docid",
    scores: str = "float64",
    depths: Mapping[str, int] | None = None,
    finders: bool = True,
) -> pl.DataFrame:
    """The union of the first `depth` documents of every run, sorted by query and document id bytewise.

    A run that `depths` names has its own depth.

    Columns: query_id, document_id, run_count (UInt32), best_rank (UInt32), rrf (Float64, Σ 1/(60 + rank)),
    runs and ranks (List[Int32], parallel and best rank first: indexes into the order of `runs`, and the ranks
    there). Ranks are positions in the one order of `pooling.ranking.ranking`, never the file's rank column.

    >>> run = pl.DataFrame({"query_id": ["1"], "document_id": ["a"], "score": [2.0]})
    >>> merge_runs({"bm25": run}, depth=10)["best_rank"].to_list()
    [1]
    """
    own = depths or {}
    for one in (depth, *own.values()):
        if one < 1:
            raise ValueError(f"The depth is {one}; it must be 1 or more.")
    if not runs:
        raise ValueError("A pool needs at least one run.")
    ordered = [
        order_run(run, ties=ties, scores=scores, depth=own.get(name, depth)) for name, run in runs.items()
    ]
    # Numbered as they come: runs mostly agree on that order, so that their rows stay where they are.
    queries = pl.concat([first_rows(run) for run in ordered]).unique(maintain_order=True)
    tops = [Top.of(index, ordered.pop(0), queries) for index in range(len(ordered))]
    merged = pl.concat([merge_block(tops, *block, finders) for block in blocks(tops, len(queries))])
    return with_query_ids(merged, queries)


def first_rows(run: pl.DataFrame) -> pl.Series:
    """The query ids of a run whose rows stand together by query, one for each."""
    return run["query_id"].gather(query_starts(run))


@dataclass(frozen=True)
class Top:
    """A run's first documents, `rows` (document_id, rank): query i's are `offsets[i]` to `offsets[i + 1]`."""

    run: int
    rows: pl.DataFrame
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, run: int, ordered: pl.DataFrame, queries: pl.Series) -> Top:
        starts = query_starts(ordered)
        lengths = np.diff(np.append(starts, ordered.height))
        numbers = numbers_of(first_rows(ordered), queries)
        counts = np.zeros(len(queries), dtype=np.int64)
        counts[numbers] = lengths
        rows = ordered.select("document_id", pl.col("position").alias("rank"))
        if bool((numbers[1:] < numbers[:-1]).any()):
            rows = rows[np.argsort(np.repeat(numbers, lengths), kind="stable")]
        return cls(run, rows, np.concatenate(([0], np.cumsum(counts))))

    def slice(self, first: int, last: int) -> pl.DataFrame:
        """The rows of queries first … last - 1, with the number of their query and of the run."""
        counts = np.diff(self.offsets[first : last + 1])
        numbers = np.repeat(np.arange(first, last, dtype=np.uint32), counts)
        return self.rows[int(self.offsets[first]) : int(self.offsets[last])].with_columns(
            pl.Series("number", numbers),
            pl.col("rank").cast(pl.Int32),
            pl.lit(self.run, dtype=pl.Int32).alias("run"),
        )


def blocks(tops: list[Top], queries: int) -> Iterator[tuple[int, int]]:
    """Ranges of queries with about BLOCK_ROWS rows each: small enough for the caches and for memory."""
    rows = sum((top.offsets[1:] for top in tops), np.zeros(queries, dtype=np.int64))
    edges = np.flatnonzero(np.diff(rows // BLOCK_ROWS)) + 1
    return pairwise([0, *edges.tolist(), queries])


def merge_block(tops: list[Top], first: int, last: int, finders: bool) -> pl.DataFrame:
    """Group the rows of some queries by pair; the finders of a pair stand best rank first."""
    rows = pl.concat([top.slice(first, last) for top in tops]).sort("rank", maintain_order=True)
    lists = (pl.col("run").alias("runs"), pl.col("rank").alias("ranks"))[0 if finders else 1 :]
    merged = rows.group_by("number", "document_id").agg(lists).sort("number", "document_id")
    counts = merged["ranks"].list.len()
    starts = np.cumsum(counts.to_numpy(), dtype=np.int64) - counts.to_numpy()
    ranks = merged["ranks"].explode().to_numpy()
    # Summed from the best rank on: equal sets of ranks give equal sums to the last bit.
    summed = merged.with_columns(
        counts.alias("run_count"),
        pl.Series("best_rank", ranks[starts].astype(np.uint32)),
        pl.Series("rrf", np.add.reduceat(1.0 / (RRF_K + ranks), starts)),
    )
    return summed if finders else summed.drop("ranks")


def numbers_of(ids: pl.Series, queries: pl.Series) -> NDArray[np.int64]:
    """The places of some query ids in `queries`."""
    table = pl.DataFrame({"query_id": queries, "number": np.arange(len(queries))})
    rows = pl.DataFrame({"query_id": ids}).join(table, on="query_id", how="left", maintain_order="left")
    return rows["number"].to_numpy()


def with_query_ids(merged: pl.DataFrame, queries: pl.Series) -> pl.DataFrame:
    """The ids in place of the numbers, and the queries in bytewise order."""
    place = np.empty(len(queries), dtype=np.int64)
    place[queries.arg_sort().to_numpy()] = np.arange(len(queries))
    places = place[merged["number"].to_numpy()]
    if bool((places[1:] < places[:-1]).any()):
        merged = merged[np.argsort(places, kind="stable")]
    ids = queries.gather(merged["number"]).alias("query_id")
    return merged.select(ids, *present(merged, MERGED[1:]))


def present(frame: pl.DataFrame, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if name in frame.columns]


def build_pool(
    runs: Mapping[str, pl.DataFrame],
    *,
    depth: int,
    strategy: str = "rrf",
    budget: Budget | None = None,
    audit_share: float | None = None,
    reach: int | None = None,
    seed: int = 0,
    ties: str = "docid",
    scores: str = "float64",
    depths: Mapping[str, int] | None = None,
    finders: bool = True,
    deepest: int | None = None,
    text: pl.DataFrame | None = None,
    with_reserve: bool = False,
) -> pl.DataFrame:
    """Merge the runs, order the pairs by a strategy, and choose what is judged within the budget.

    The pooled frame, sorted by query id bytewise and then position: the columns of `merge_runs` and
    `position` (UInt32, 1-based in the query), `in_audit` (Boolean), `inclusion_probability` (Float64, null
    when the pair is neither in the budget nor in the audit). How budget and audit work stands in
    `ranking.sample`. Without `finders` the columns `runs` and `ranks` are left out, which saves memory.

    With a `reach`, the audit is drawn from the first `reach` places of every run and of `text`, a ranking of
    the collection's texts (query_id, document_id, score); `ranking.frame` says how. Then there are three
    columns more: `frame_size` (UInt32, documents in the frame of the query), `frame_reach` (UInt32, the
    reach) and `is_beyond` (Boolean), which marks the rows of documents beyond the depth: those that were
    drawn and, `with_reserve`, those that a queue may come to draw. What only the text ranking has is of 0
    runs, and its best rank is null.

    Some queries of larger runs give the same rows as all of them would, when the budget is given by query and
    `deepest` is the deepest rank in any run, at most its depth.
    Raises ValueError for values out of range and for an unknown strategy.
    """
    choice = Choice(
        depth,
        depths=depths or {},
        strategy=strategy,
        budget=budget,
        audit_share=audit_share,
        reach=reach,
        seed=seed,
        ties=ties,
        scores=scores,
    )
    strategy_named(strategy).check(audit_share)
    ordered = ordered_pairs(runs, choice, finders=finders, deepest=deepest)
    if reach is None:
        chosen = chosen_pairs(ordered, choice)
    else:
        beyond = pairs_beyond(runs, ordered, choice, text)
        chosen = chosen_in_frame(ordered, beyond, choice, with_reserve=with_reserve)
    return chosen if finders else chosen.select(name for name in chosen.columns if name not in FINDERS)


def ordered_pairs(
    runs: Mapping[str, pl.DataFrame], choice: Choice, *, finders: bool = True, deepest: int | None = None
) -> pl.DataFrame:
    """The merged pairs with `position`, in the order of the strategy; `finders` and `deepest` as above."""
    order = strategy_named(choice.strategy)
    how: Any = {name: getattr(choice, name) for name in ("depth", "ties", "scores", "depths")}
    merged = merge_runs(runs, finders=finders or order.needs_finders, **how)
    if order.needs_scores:
        merged = with_score_sums(merged, runs, **how)
    return with_position(order(merged, seed=choice.seed, runs=len(runs), depth=deepest))


def chosen_pairs(ordered: pl.DataFrame, choice: Choice) -> pl.DataFrame:
    order = strategy_named(choice.strategy)
    chosen = choose(ordered, budget=choice.budget, audit_share=choice.share, seed=choice.seed)
    pooled = order.with_probabilities(ordered.with_columns(chosen), seed=choice.seed)
    return pooled.select(present(pooled, POOLED))


def pairs_beyond(
    runs: Mapping[str, pl.DataFrame], ordered: pl.DataFrame, choice: Choice, text: pl.DataFrame | None
) -> pl.DataFrame:
    """The pairs of the frame that the ordered ones lack, with the columns of `merge_runs`, sorted by pair."""
    pair = ["query_id", "document_id"]
    depths = {name: choice.reach_of(name) for name in runs}
    merged = merge_runs(runs, depth=choice.deepest, ties=choice.ties, scores=choice.scores, depths=depths)
    beyond = merged.join(ordered, on=pair, how="anti")
    if text is None or choice.reach is None:
        return beyond.sort(pair)
    ranked = order_run(text, ties="docid", scores="float64", depth=choice.reach).select(pair)
    alone = ranked.join(merged, on=pair, how="anti").with_columns(
        run_count=pl.lit(0, dtype=pl.UInt32),
        best_rank=pl.lit(None, dtype=pl.UInt32),
        rrf=pl.lit(0.0),
        runs=pl.lit([], dtype=pl.List(pl.Int32)),
        ranks=pl.lit([], dtype=pl.List(pl.Int32)),
    )
    return pl.concat([beyond, alone.select(beyond.columns)]).sort(pair)


def chosen_in_frame(
    ordered: pl.DataFrame,
    beyond: pl.DataFrame,
    choice: Choice,
    *,
    with_reserve: bool = False,
    kept: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """The pooled frame where the audit draws from beyond the pool too; kept: of an extension, what was."""
    if isinstance(choice.budget, Mapping):
        raise ValueError("A budget by query goes with no reach.")
    more = [name for name in ordered.columns if name not in (*beyond.columns, "position")]
    pooled = choose_from_frame(
        ordered.drop(more),
        beyond.select(name for name in beyond.columns if name in ordered.columns),
        Draw(choice.budget, choice.share, choice.seed),
        with_reserve=with_reserve,
        kept=kept,
    )
    pooled = pooled.with_columns(frame_reach=pl.lit(choice.reach, dtype=pl.UInt32))
    return pooled.select(present(pooled, (*POOLED, *IN_FRAME)))


def within_depth(pooled: pl.DataFrame) -> pl.DataFrame:
    return pooled.filter(~pooled["is_beyond"]) if "is_beyond" in pooled.columns else pooled


def without_reserve(pooled: pl.DataFrame) -> pl.DataFrame:
    """The pairs of a pooled frame without those that only may come to be drawn."""
    if "is_beyond" not in pooled.columns:
        return pooled
    return pooled.filter(~pooled["is_beyond"] | pooled["inclusion_probability"].is_not_null())


def with_position(ordered: pl.DataFrame) -> pl.DataFrame:
    """Number the pairs of each query from 1, in the order in which they stand."""
    starts = query_starts(ordered)
    lengths = np.diff(np.append(starts, ordered.height))
    position = np.arange(1, ordered.height + 1) - np.repeat(starts, lengths)
    return ordered.with_columns(pl.Series("position", position.astype(np.uint32)))
