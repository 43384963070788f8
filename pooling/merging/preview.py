"""A pool of some runs before it is built: its size at each depth, overlap, finds, places.

The tops of all runs of a collection are numbered once (`number_tops`): every pair of query and document gets
a number, so that each question about some of the runs to some depth is a count over whole numbers. The counts
are those of `pooling.merging.summary.diagnose` for the pool that would be built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pooling.heavy import Booleans, Floats, Integers, NDArray, np, pl, sparse
from pooling.ranking.ranking import RRF_K, order_run

ROW = ("pair", "run", "rank")
PAIR = ("query_id", "document_id")


@dataclass(frozen=True)
class NumberedTops:
    """The first documents of some runs, with a number in place of every pair.

    rows: pair, run (an index), rank, sorted by rank. query: (P,) the number of each pair's query among
    `query_ids`, which are sorted bytewise; pairs are numbered query by query.
    """

    rows: pl.DataFrame
    query: Integers
    query_ids: Sequence[str]

    def chosen(self, runs: Sequence[int], depth: int) -> Tops:
        rows = self.rows.head(int(self.rows["rank"].search_sorted(depth, side="right")))
        if len(runs) < int(self.rows["run"].max() or 0) + 1:  # type: ignore[arg-type]
            rows = rows.filter(pl.col("run").is_in(list(runs)))
        pair, run, rank = (rows[name].to_numpy() for name in ROW)
        return Tops(pair, run, rank, self.query, len(self.query_ids))


def number_tops(
    runs: Mapping[str, pl.DataFrame], query_ids: Sequence[str], *, depth: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(rows, pairs) of the tops of `runs` for some queries: see `NumberedTops`.

    rows: pair, run, rank, sorted by rank. pairs: query_id, document_id in the order of their numbers, which
    is bytewise. Runs are ordered as everywhere (`pooling/ranking/ranking.py`).
    """
    queries = pl.DataFrame({"query_id": list(query_ids)}, schema={"query_id": pl.String})
    tops = [
        order_run(frame, depth=depth)
        .join(queries, on="query_id", how="semi")
        .select(*PAIR, run=pl.lit(index, dtype=pl.UInt16), rank="position")
        for index, frame in enumerate(runs.values())
    ]
    top_rows = pl.concat(tops)
    pairs = top_rows.select(PAIR).unique().sort(PAIR)
    numbered = pairs.with_row_index("pair").with_columns(pl.col("pair").cast(pl.Int64))
    rows = top_rows.join(numbered, on=PAIR, how="left").select(ROW).sort("rank", "pair", "run")
    return rows, pairs


@dataclass(frozen=True)
class Tops:
    """The chosen rows as arrays (M,), by rank; `query` (P,) says of which query a pair is."""

    pair: Integers
    run: NDArray[np.uint16]
    rank: NDArray[np.uint32]
    query: Integers
    queries: int

    def to_depth(self, depth: int) -> Tops:
        end = int(np.searchsorted(self.rank, depth, side="right"))
        return Tops(self.pair[:end], self.run[:end], self.rank[:end], self.query, self.queries)

    def to_depths(self, depth: int, own: Mapping[int, int]) -> Tops:
        """The rows down to a depth, or to that of `own` for the runs (indexes) that it names."""
        if not own:
            return self.to_depth(depth)
        limit = np.full(max(int(self.run.max(initial=0)), *own) + 1, depth, dtype=np.int64)
        limit[list(own)] = list(own.values())
        return self._rows(self.rank <= limit[self.run])

    def _rows(self, is_kept: Booleans) -> Tops:
        return Tops(self.pair[is_kept], self.run[is_kept], self.rank[is_kept], self.query, self.queries)

    def run_counts(self) -> Integers:
        """(P,) how many runs found each pair; the pool is where that is above 0."""
        return np.bincount(self.pair, minlength=len(self.query))

    def size_by_depth(self, depth: int, own: Mapping[int, int] | None = None) -> Integers:
        """(depth,) pairs of the pool at depth 1, 2, …; runs with their own depth go to that throughout."""
        best = np.zeros(len(self.query), dtype=np.int64)
        if own:
            is_own = np.isin(self.run, list(own))
            common, fixed = self._rows(~is_own), self._rows(is_own).to_depths(0, own)
            best[common.pair[::-1]] = common.rank[::-1]
            best[fixed.pair] = 1
        else:
            best[self.pair[::-1]] = self.rank[::-1]  # rows stand by rank, so that the best is written last
        counts = np.bincount(best, minlength=depth + 1)
        return np.cumsum(counts[1 : depth + 1])

    def query_sizes(self) -> Integers:
        """(Q,) the pairs of each query's pool."""
        return np.bincount(self.query[self.run_counts() > 0], minlength=self.queries)

    def overlap(self, runs: Sequence[int]) -> Floats:
        """(R, R) the share of run i's rows that run j has too."""
        ones = np.ones(len(self.pair), dtype=np.int32)
        # A row for each pair: rows are short, and quick to put in order.
        membership = sparse.csr_matrix((ones, (self.pair, self.place_of(runs))), (len(self.query), len(runs)))
        shared = (membership.T @ membership).toarray().astype(np.float64)
        shares: Floats = shared / np.maximum(shared.diagonal(), 1)[:, None]
        return shares

    def alone(self, runs: Sequence[int], among: Booleans | None = None) -> Integers:
        """(R,) the pairs that each run alone found; with `among` (P,), those of them alone."""
        lone = self.run_counts() == 1
        rows = (lone if among is None else lone & among)[self.pair]
        return np.bincount(self.place_of(runs)[rows], minlength=len(runs))

    def by_run(self, runs: Sequence[int]) -> Integers:
        """(R,) the pairs that each run found."""
        return np.bincount(self.place_of(runs), minlength=len(runs))

    def place_of(self, runs: Sequence[int]) -> Integers:
        """(M,) the place of each row's run among `runs`."""
        place = np.zeros(max(runs, default=0) + 1, dtype=np.int64)
        place[list(runs)] = np.arange(len(runs))
        return place[self.run]

    def fused_places(self) -> Floats:
        """(P,) where a pair stands in the RRF order of its query, as a share in (0, 1); nan outside the pool.

        The middle of its place: of four pairs the first stands at 1/8. Equal sums stand in any order.
        """
        score = np.bincount(self.pair, weights=1.0 / (RRF_K + self.rank), minlength=len(self.query))
        pooled = np.flatnonzero(score)
        query = self.query[pooled]
        # One number to sort by: the query, and within it the sum, largest first.
        order = np.argsort(query + 0.5 * (1.0 - score[pooled] / score.max(initial=1e-9)), kind="stable")
        sizes = np.bincount(query, minlength=self.queries)
        starts = np.cumsum(sizes) - sizes
        places = np.full(len(self.query), np.nan)
        # Pairs are numbered query by query, so that a query's stretch stays where it is.
        places[pooled[order]] = (np.arange(len(pooled)) - starts[query] + 0.5) / sizes[query]
        return places
