"""Coverage of runs by labels, and what the documents without a label can do to recall."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from evaluation.measures import Floats, Integers, TopCounts, share
from evaluation.scoring.scoring import Labels, OrderedRun, Places, ScoredRun, count_up_to, query_numbers
from pooling.formats.bytes.ids import Ids, pair_keys
from pooling.heavy import np, npt, pl

_PAIRS_AT_ONCE = 250_000

# Below this share of labelled documents a recall says more about the labels than about the run.
LOW_COVERAGE = 0.8


@dataclass(frozen=True)
class Unjudged:
    """The documents of one run without a label: (Q, C) in its first K, and in the rest of the pool.

    The pool at K is the union of the runs' first K and, where one was given, of the pool behind the labels;
    next to it the pairs with a negative label. So giving a pool never narrows a bound.
    """

    in_top: Integers
    elsewhere: Integers


def recall_bounds(counts: TopCounts, unjudged: Unjudged) -> tuple[Floats, Floats]:
    """The least and the largest Recall@K over all labels the pool's unjudged documents could get.

    With r relevant in the first K, R relevant labelled, u unjudged in the first K and U unjudged in the rest
    of the pool: lower = r / (R + U), upper = (r + u) / (R + u). Two (Q, C) arrays, NaN where a denominator is
    0. Conditional on the pool: relevant documents outside it are not covered.

    One relevant of two found, one unjudged in the top and one outside: between 1/3 and 2/3.

    >>> import numpy as np
    >>> one = np.array([[1]])
    >>> counts = TopCounts(one[0], one, one, one, np.array([2]), np.array([1]))
    >>> [float(bound[0, 0].round(3)) for bound in recall_bounds(counts, Unjudged(one, one))]
    [0.333, 0.667]
    """
    relevant = counts.relevant[:, None]
    lower = share(counts.hits, relevant + unjudged.elsewhere)
    upper = share(counts.hits + unjudged.in_top, relevant + unjudged.in_top)
    return lower, upper


def unjudged_in_pool(pool: pl.DataFrame, labels: Labels) -> pl.DataFrame:
    """Pairs of a pool frame (query_id, document_id) without a label: query number and key of the pair."""
    rows = np.flatnonzero(labels.judged)
    judged = {"query": labels.query[rows], "document_id": labels.document_ids.gather(rows)}
    query = query_numbers(Ids.of(pool["query_id"]), labels)
    pairs = pl.DataFrame({"query": query, "document_id": pool["document_id"]}).filter(pl.col("query") >= 0)
    unjudged = (
        pairs.unique().join(pl.DataFrame(judged), on=["query", "document_id"], how="anti").sort("query")
    )
    numbers = unjudged["query"].to_numpy()
    count = np.bincount(numbers, minlength=labels.query_count)
    return _key_frame(numbers, pair_keys(labels.queries, count, Ids.of(unjudged["document_id"])))


def unjudged_keys(
    run: OrderedRun, places: Places, labels: Labels, deepest: int, *, later: pl.Series | None = None
) -> pl.DataFrame:
    """The documents without a label in the first `deepest` of every query: its number, the pair's key, and
    its place. later: ids of documents that cannot be relevant."""
    position = np.arange(len(run.documents)) - np.repeat(run.start, run.depth) + 1
    query = np.repeat(run.query, run.depth)
    chosen = (position <= deepest) & (query >= 0)
    chosen[places.row[labels.judged[places.pair]]] = False
    if later is not None:
        rows = np.flatnonzero(chosen)
        chosen[rows[run.documents.take(rows).series().is_in(later.implode()).to_numpy()]] = False
    return _key_frame(query[chosen], run.keys[chosen], position[chosen])


def unjudged_by_union(
    labels: Labels,
    runs: Mapping[str, ScoredRun],
    keys: Mapping[str, Sequence[pl.DataFrame]],
    *,
    pool: pl.DataFrame | None = None,
    counts_keys: bool = False,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Unjudged]:
    """Of each run. keys: the `unjudged_keys` of its parts. pool: `unjudged_in_pool` of one that was given.
    counts_keys: not all that is unjudged has a key, so that those in the first K are counted by them.
    progress: called with the share that is done.

    Keys stand for documents here: two of one query's n documents share one with a chance of about n² / 2⁶⁵,
    and would shift a bound by one document.
    """
    if not runs:
        return {}
    count, cutoffs = labels.query_count, next(iter(runs.values())).counts.cutoffs
    front = [negative_keys(labels)]
    if pool is not None:
        front.append(pool.with_columns(position=pl.lit(0, dtype=pl.UInt32)))
    frames = [_by_query(frame) for frame in (*chain.from_iterable(keys.values()), *front)]
    queries = [frame["query"].to_numpy() for frame in frames]
    # A table of the pairs of a few queries stays in a processor's cache: a third of the time of one of all.
    step = max(1, count * _PAIRS_AT_ONCE // max(sum(map(len, frames)), 1))
    union = np.empty((count, len(cutoffs)), dtype=np.int64)
    for start in range(0, count, step):
        progress(start / count)
        end = min(start + step, count)
        bounds = [np.searchsorted(query, (start, end)).tolist() for query in queries]
        pairs = pl.concat([frame[first:last] for frame, (first, last) in zip(frames, bounds, strict=True)])
        best = pairs.group_by("query", "key").agg(pl.col("position").min())
        here = best.with_columns(pl.col("query") - start)
        union[start:end] = _by_cutoff(here, end - start, cutoffs)
    by_run = {}
    for name, run in runs.items():
        in_top = run.counts.retrieved - run.counts.judged
        if counts_keys:
            in_top = sum((_by_cutoff(part, count, cutoffs) for part in keys[name]), np.zeros_like(in_top))
        by_run[name] = Unjudged(in_top, union - in_top)
    return by_run


def unjudged_in_one(labels: Labels, scored: ScoredRun) -> Unjudged:
    """For a single run without a pool: nothing can be in two lists, so that counting is enough."""
    rows = np.flatnonzero(~labels.judged)
    position, query = scored.position[rows], labels.query[rows]
    counts = scored.counts
    beyond = [
        np.bincount(query[(position == 0) | (position > k)], minlength=labels.query_count)
        for k in counts.cutoffs
    ]
    return Unjudged(counts.retrieved - counts.judged, np.stack(beyond, axis=1))


def negative_keys(labels: Labels) -> pl.DataFrame:
    """The pairs with a negative label, in front of every cutoff."""
    rows = np.flatnonzero(~labels.judged)
    return _key_frame(labels.query[rows], labels.keys[rows], np.zeros(len(rows)))


def _by_query(pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs with those of a query together, the queries in their order; mostly they are already."""
    query = pairs["query"].to_numpy()
    return pairs if (query[1:] >= query[:-1]).all() else pairs.sort("query")


def _by_cutoff(pairs: pl.DataFrame, count: int, cutoffs: Integers) -> Integers:
    """(count, C) how many of the pairs (query, position) stand within each cutoff."""
    position, query = (pairs[name].cast(int).to_numpy() for name in ("position", "query"))
    return count_up_to(position, query, cutoffs, count)


def _key_frame(
    query: Integers, keys: npt.NDArray[np.uint64], position: npt.NDArray[Any] | None = None
) -> pl.DataFrame:
    places = {} if position is None else {"position": position.astype(np.uint32)}
    return pl.DataFrame({"query": query.astype(np.uint32), "key": keys, **places})


def ids_where(queries: Ids, chosen: npt.NDArray[np.bool_]) -> Sequence[str]:
    """The ids at which a (Q,) mask holds; no others are read."""
    return queries.take(np.flatnonzero(chosen)).series().to_list()
