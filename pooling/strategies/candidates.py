"""The pooled documents of one query as arrays: who found what at which rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pooling.heavy import Booleans, Floats, Integers, np, pl
from pooling.ranking.ranking import query_starts


@dataclass(frozen=True)
class Candidates:
    """One query's pool. Documents are numbered in RRF order (ties: id falling), so the lower number wins
    a tie.

    A *find* is one document in one run's list; `document`, `run` and `rank` are parallel over the finds, by
    document first, then best rank first (ties: by run), so that equal ranks make equal sums to the last bit.
    `runs` counts all runs of the pool, those without a find for this query included. `score_sum` is the sum
    of min–max-normalised scores by document, where the pool carries scores.
    """

    query_id: str
    documents: list[str]
    runs: int
    depth: int
    document: Integers
    run: Integers
    rank: Integers
    rrf: Floats
    score_sum: Floats | None = None

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def number(self) -> dict[str, int]:
        return {document: number for number, document in enumerate(self.documents)}

    @cached_property
    def run_count(self) -> Integers:
        return np.bincount(self.document, minlength=len(self))

    @cached_property
    def best_rank(self) -> Integers:
        best = np.full(len(self), np.iinfo(np.int64).max)
        np.minimum.at(best, self.document, self.rank)
        return best

    @cached_property
    def starts(self) -> Integers:
        """The first find of each document; one more at the end."""
        return np.append(0, np.cumsum(self.run_count))

    def finders(self, number: int) -> Integers:
        return self.run[self.starts[number] : self.starts[number + 1]]

    @cached_property
    def by_run(self) -> Integers:
        """Row numbers of the finds sorted by run, then rank."""
        return np.lexsort((self.rank, self.run))

    @cached_property
    def lists(self) -> Integers:
        """Documents in the order of `by_run`: the lists of all runs, one after the other."""
        return self.document[self.by_run]

    @cached_property
    def list_starts(self) -> Integers:
        """The first place of each run's list in `lists`; one more at the end."""
        return np.append(0, np.cumsum(np.bincount(self.run, minlength=self.runs)))

    @cached_property
    def list_position(self) -> Integers:
        """1-based place of each find in the run's list, gaps left out."""
        position = np.empty(len(self.run), dtype=np.int64)
        place = np.arange(len(self.run)) - self.list_starts[self.run[self.by_run]] + 1
        position[self.by_run] = place
        return position

    def total(self, weights: Floats) -> Floats:
        return np.asarray(np.bincount(self.document, weights=weights, minlength=len(self)), dtype=np.float64)


class Cursors:
    """The first open document in each run's list of a query; found again where a document opens again."""

    def __init__(self, one: Candidates) -> None:
        self.one = one
        self.places = one.list_starts[:-1].copy()
        self.closed = np.zeros(len(one), dtype=bool)

    def first_open(self, is_open: Booleans) -> Integers:
        """By run, the number of the first open document; `len(candidates)` where the list is at its end."""
        if (is_open & self.closed).any():
            self.places = self.looked_up(is_open)
        self.closed = ~is_open
        lists, ends = self.one.lists, self.one.list_starts[1:]
        while True:
            left = self.places < ends
            documents = np.where(left, lists[np.minimum(self.places, len(lists) - 1)], 0)
            stuck = left & self.closed[documents]
            if not stuck.any():
                return np.where(left, documents, len(self.one))
            self.places[stuck] += 1

    def looked_up(self, is_open: Booleans) -> Integers:
        rows = np.append(np.flatnonzero(is_open[self.one.lists]), len(self.one.lists))
        first = rows[np.searchsorted(rows, self.one.list_starts[:-1])]
        return np.asarray(np.minimum(first, self.one.list_starts[1:]))


def candidates_of(
    merged: pl.DataFrame, *, runs: int | None = None, depth: int | None = None
) -> dict[str, Candidates]:
    """Candidates by query id from merged pairs; `runs` and `depth` default to what the frame holds."""
    ordered = merged.sort("query_id", "rrf", "document_id", descending=[False, True, True])
    if runs is None:
        runs = 1 + int(ordered["runs"].explode().max() or 0)  # type: ignore[arg-type]
    if depth is None:
        depth = int(ordered["ranks"].explode().max() or 1)  # type: ignore[arg-type]
    return {one.query_id: one for one in by_query(ordered, runs, depth)}


def candidates_of_query(
    query_id: str, finds: Sequence[tuple[str, float, Sequence[Sequence[int]]]], *, runs: int, depth: int
) -> Candidates:
    """finds: (document id, rrf, [(run, rank) …]) of each document, in any order."""
    ordered = sorted(finds, key=lambda find: (find[1], find[0]), reverse=True)
    counts = [len(places) for _, _, places in ordered]
    best_first = (sorted(places, key=lambda find: (find[1], find[0])) for _, _, places in ordered)
    pairs = np.array([find for places in best_first for find in places], np.int64).reshape(-1, 2)
    return Candidates(
        query_id=query_id,
        documents=[document for document, _, _ in ordered],
        runs=runs,
        depth=depth,
        document=np.repeat(np.arange(len(ordered)), counts),
        run=pairs[:, 0],
        rank=pairs[:, 1],
        rrf=np.array([rrf for _, rrf, _ in ordered], dtype=np.float64),
    )


def by_query(ordered: pl.DataFrame, runs: int, depth: int) -> Iterator[Candidates]:
    starts = query_starts(ordered)
    counts = ordered["run_count"].to_numpy().astype(np.int64)
    finds = np.append(0, np.cumsum(counts))
    run = ordered["runs"].explode().to_numpy().astype(np.int64)
    rank = ordered["ranks"].explode().to_numpy().astype(np.int64)
    rrf = ordered["rrf"].to_numpy()
    score_sum = ordered["score_sum"].to_numpy() if "score_sum" in ordered.columns else None
    for first, last in zip(starts, np.append(starts, ordered.height)[1:], strict=True):
        rows, some = slice(first, last), slice(finds[first], finds[last])
        yield Candidates(
            query_id=ordered["query_id"][int(first)],
            documents=ordered["document_id"][int(first) : int(last)].to_list(),
            runs=runs,
            depth=depth,
            document=np.repeat(np.arange(last - first), counts[rows]),
            run=run[some],
            rank=rank[some],
            rrf=rrf[rows],
            score_sum=None if score_sum is None else score_sum[rows],
        )
