"""What was judged at all, and what the documents without a label can do to recall."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluation.measures import Floats, Integers, TopCounts, share
from evaluation.scoring import Labels, OrderedRun, Places, ScoredRun, query_numbers
from pooling.formats.ids import Ids, pair_keys

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Unjudged:
    """The documents of one run without a label: (Q, C) in its first K, and in the rest of the pool."""

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
    """The pairs of a pool frame (query_id, document_id) without a label, of the queries of the labels: the
    query's number and the pair's key."""
    import polars as pl

    rows = np.flatnonzero(labels.judged)
    judged = {"query": labels.query[rows], "document_id": labels.document_ids.gather(rows)}
    query = query_numbers(Ids.of(pool["query_id"]), labels)
    pairs = pl.DataFrame({"query": query, "document_id": pool["document_id"]}).filter(pl.col("query") >= 0)
    found = pairs.unique().join(pl.DataFrame(judged), on=["query", "document_id"], how="anti").sort("query")
    numbers = found["query"].to_numpy()
    count = np.bincount(numbers, minlength=labels.query_count)
    return _key_frame(numbers, pair_keys(labels.queries, count, Ids.of(found["document_id"])))


def unjudged_keys(run: OrderedRun, places: Places, labels: Labels, deepest: int) -> pl.DataFrame:
    """The documents without a label in the first `deepest` of every query: its number and the pair's key."""
    position = np.arange(len(run.documents)) - np.repeat(run.start, run.depth) + 1
    query = np.repeat(run.query, run.depth)
    chosen = (position <= deepest) & (query >= 0)
    chosen[places.row[labels.judged[places.pair]]] = False
    return _key_frame(query[chosen], run.keys[chosen])


def unjudged_in_all(labels: Labels, keys: Iterable[pl.DataFrame]) -> Integers:
    """(Q,) unjudged documents in the union of the runs' first max(K), a pool and the negative labels.

    keys: `unjudged_keys` of every run and perhaps `unjudged_in_pool`. Keys stand for documents here: two of
    one query's n documents share one with a chance of about n² / 2⁶⁵, and would shift a bound by one
    document.
    """
    import polars as pl

    rows = np.flatnonzero(~labels.judged)
    negative = _key_frame(labels.query[rows], labels.keys[rows])
    pairs = pl.concat([*keys, negative]).unique()
    return np.bincount(pairs["query"].to_numpy(), minlength=labels.query_count)


def unjudged_in_one(labels: Labels, scored: ScoredRun) -> Integers:
    """The same for a single run: nothing can be in two lists, so that counting is enough."""
    rows = np.flatnonzero(~labels.judged)
    position = scored.position[rows]
    beyond = rows[(position == 0) | (position > scored.counts.cutoffs[-1])]
    more = np.bincount(labels.query[beyond], minlength=labels.query_count)
    unjudged: Integers = scored.counts.retrieved[:, -1] - scored.counts.judged[:, -1] + more
    return unjudged


def _key_frame(query: Integers, keys: npt.NDArray[np.uint64]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame({"query": query.astype(np.uint32), "key": keys})


def unjudged_in_union(scored: ScoredRun, unjudged: Integers) -> Unjudged:
    """Unjudged documents when the pool is the union of the runs: `unjudged` is (Q,) those of the pool."""
    in_top = scored.counts.retrieved - scored.counts.judged
    return Unjudged(in_top, unjudged[:, None] - in_top)


def ids_where(query_ids: pl.Series, chosen: npt.NDArray[np.bool_]) -> Sequence[str]:
    """The query ids at which a (Q,) mask holds."""
    return query_ids.gather(np.flatnonzero(chosen)).to_list()
