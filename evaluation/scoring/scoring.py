"""Runs × qrels: where each labelled document stands in a run, and what that counts to at each K. The hot
path.

Everything a measure needs follows from two arrays per run: the position of every labelled pair, and the depth
of every query. Candidates are found by 64-bit keys, then the ids themselves are compared, so that no number
depends on a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from evaluation.measures import Integers, TopCounts
from evaluation.scoring.conventions import Conventions
from pooling.formats.bytes.ids import Ids, Index, Words, first_rows, pair_keys, ranges, same_ids
from pooling.formats.parts import PlainRows
from pooling.heavy import Numbers, np, npt, pl
from pooling.ranking.ranking import in_order, order_run, query_starts


@dataclass(frozen=True)
class Labels:
    """The labelled pairs of a qrels, grouped by query, with one number per query in bytewise order of its id.

    queries: (Q,) ids. query: (n,) number of each pair's query, rising. documents, keys: (n,) ids, and keys of
    the pairs. relevance: (n,) as in the qrels; relevant from `min_relevance` on; negative is pooled, not
    judged.
    """

    queries: Ids
    query: Integers
    documents: Ids
    keys: Words
    relevance: npt.NDArray[np.int32]
    min_relevance: int

    @property
    def query_count(self) -> int:
        return len(self.queries)

    @cached_property
    def query_ids(self) -> pl.Series:
        """(Q,) the ids of the queries as a String column."""
        return self.queries.series()

    @cached_property
    def document_ids(self) -> pl.Series:
        """(n,) the ids of the documents as a String column."""
        return self.documents.series()

    @cached_property
    def query_index(self) -> Index:
        """Finds queries by the keys of their ids."""
        return Index(self.queries.keys)

    @cached_property
    def relevant(self) -> npt.NDArray[np.bool_]:
        """(n,) whether the pair has a relevant label."""
        return self.relevance >= self.min_relevance

    @cached_property
    def judged(self) -> npt.NDArray[np.bool_]:
        """(n,) whether the pair has a label."""
        return self.relevance >= 0

    @cached_property
    def relevant_count(self) -> Integers:
        """(Q,) relevant documents per query."""
        return np.bincount(self.query[self.relevant], minlength=self.query_count)

    @cached_property
    def first(self) -> Integers:
        """(Q + 1,) where each query's pairs begin."""
        return np.searchsorted(self.query, np.arange(self.query_count + 1))

    def prepare(self) -> None:
        """Compute now what several threads will read."""
        _ = self.keys, self.query_index, self.relevant, self.judged

    @cached_property
    def has_relevant(self) -> npt.NDArray[np.bool_]:
        """(Q,) whether the query has a relevant label."""
        return self.relevant_count > 0


def label_pairs(qrels: pl.DataFrame | PlainRows, min_relevance: int = 1) -> Labels:
    """Number the queries of qrels: a frame query_id, document_id, relevance, or what a file's bytes told."""
    if isinstance(qrels, PlainRows):
        relevance = qrels.values.astype(np.int32)
        pairs = _Pairs(qrels.documents, qrels.keys, relevance)
        return _in_order(qrels.queries, qrels.depth, pairs, min_relevance)
    start = query_starts(qrels)
    heads, documents = Ids.of(qrels["query_id"].gather(start)), Ids.of(qrels["document_id"])
    count = np.diff(start, append=qrels.height)
    keys, relevance = pair_keys(heads, count, documents), qrels["relevance"].to_numpy()
    return _in_order(heads, count, _Pairs(documents, keys, relevance), min_relevance)


class _Pairs(NamedTuple):
    """(n,) the labelled pairs as they come: document, key and label of each."""

    documents: Ids
    keys: Words
    relevance: npt.NDArray[np.int32]


def _in_order(heads: Ids, count: Integers, pairs: _Pairs, min_relevance: int) -> Labels:
    """heads: the queries in the order of the rows, each with this many of them; one can come again."""
    order = heads.rank()
    rows = ranges((np.cumsum(count) - count)[order], count[order])
    heads, count = heads[order], count[order]
    first = first_rows(heads)
    number = np.repeat(np.arange(len(first)), np.diff(first, append=len(heads)))
    return Labels(
        heads[first],
        np.repeat(number, count),
        pairs.documents.take(rows),
        pairs.keys[rows],
        pairs.relevance[rows],
        min_relevance,
    )


def query_numbers(queries: Ids, labels: Labels) -> Integers:
    """(n,) number of each query among those of the labels, -1 where it is not one of them."""
    rows, numbers = same_ids(queries, labels.query_index, labels.queries)
    all_numbers = np.full(len(queries), -1, dtype=np.int64)
    all_numbers[rows] = numbers
    return all_numbers


@dataclass(frozen=True)
class OrderedRun:
    """A run in its order, seen from the queries of a qrels.

    documents, keys, score: one row per retrieved document, a query's rows together. query: (q,) number of
    each of the run's queries, -1 when the qrels has no label for it; start, depth: (q,) its first row and its
    rows.
    """

    documents: Ids
    keys: Words
    score: npt.NDArray[np.floating[Any]]
    query: Integers
    start: Integers
    depth: Integers


def arrange_run(run: pl.DataFrame | PlainRows, labels: Labels, conventions: Conventions) -> OrderedRun:
    """Put a run in its order (the one order of `pooling.ranking.ranking`) and number its queries."""
    if isinstance(run, PlainRows):
        score = _precise(run.values, conventions)
        if in_order(score, run.start, conventions.ties, run.compare_with_next):
            query = query_numbers(run.queries, labels)
            return OrderedRun(run.documents, run.keys, score, query, run.start, run.depth)
        run = run.frame()
    ordered = order_run(run, ties=conventions.ties, scores=conventions.scores)
    start = (ordered["position"] == 1).arg_true().to_numpy().astype(np.int64)
    depth = np.diff(start, append=len(ordered))
    queries, documents = Ids.of(ordered["query_id"].gather(start)), Ids.of(ordered["document_id"])
    keys, score = pair_keys(queries, depth, documents), _precise(ordered["score"].to_numpy(), conventions)
    return OrderedRun(documents, keys, score, query_numbers(queries, labels), start, depth)


def _precise(score: npt.NDArray[np.float64], conventions: Conventions) -> npt.NDArray[np.floating[Any]]:
    return score.astype(np.float32) if conventions.scores == "float32" else score


@dataclass(frozen=True)
class Places:
    """Labelled pairs in a run: (m,) number of the pair, 1-based position, and row."""

    pair: Integers
    position: Integers
    row: Integers


def find_pairs(run: OrderedRun, labels: Labels) -> Places:
    """Every labelled pair that the run retrieved, at whatever depth."""
    chosen = _pairs_of(labels, run.query[run.query >= 0])
    row, at = Index(labels.keys[chosen]).find(run.keys)
    pair = chosen[at]
    head = np.searchsorted(run.start, row, side="right") - 1
    same = run.documents[row].compare(labels.documents[pair]) == 0
    same &= run.query[head] == labels.query[pair]
    return Places(pair[same], (row - run.start[head] + 1)[same], row[same])


def _pairs_of(labels: Labels, query: Integers) -> Integers:
    """The numbers of the pairs of these queries."""
    first = labels.first[query]
    return ranges(first, labels.first[query + 1] - first)


def count_up_to(values: Integers, query: Integers, cutoffs: Integers, query_count: int) -> Integers:
    """(Q, C) how many of a query's positions `values` (1-based) are at most each cutoff; cutoffs rise."""
    within = values <= cutoffs[-1]
    bucket = np.searchsorted(cutoffs, values[within])
    cells = query[within] * len(cutoffs) + bucket
    counts = np.bincount(cells, minlength=query_count * len(cutoffs))
    return np.cumsum(counts.reshape(query_count, len(cutoffs)), axis=1)


@dataclass(frozen=True)
class TieHits:
    """(Q, C) hits at each cutoff when tied documents stand in the worst, an average and the best order."""

    least: npt.NDArray[np.float64]
    expected: npt.NDArray[np.float64]
    most: npt.NDArray[np.float64]


@dataclass(frozen=True)
class ScoredRun:
    """One run against the labels: (Q, C) counts, where each labelled pair stands, and the effect of ties.

    position: (n,) 1-based position of each labelled pair, 0 when it was not retrieved. ties: None where no
    tie at a cutoff could change a count. unknown: number of the run's queries without any label (they are
    ignored).
    """

    counts: TopCounts
    position: Integers
    ties: TieHits | None
    unknown: int

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """(Q,) whether the run does not answer the query at all."""
        absent: npt.NDArray[np.bool_] = self.counts.depth == 0
        return absent


@dataclass(frozen=True)
class RunPart:
    """Some queries of a run: enough to forget the rows themselves.

    query, depth: (q,) the queries with labels and their documents. places: the labelled pairs retrieved.
    ties: one row per query and cutoff at which tied documents could change the hits.
    """

    query: Integers
    depth: Integers
    places: Places
    ties: Straddles | None
    unknown: int


@dataclass(frozen=True)
class Straddles:
    """(t,) query, column of the cutoff, and the least, expected and largest hits over all orders of a tie."""

    query: Integers
    column: Integers
    least: Integers
    expected: npt.NDArray[np.float64]
    most: Integers


def score_part(run: OrderedRun, labels: Labels, cutoffs: Integers, conventions: Conventions) -> RunPart:
    """Find the labelled pairs in a run or in some whole queries of one; cutoffs rise."""
    places = find_pairs(run, labels)
    is_labelled = run.query >= 0
    ties = None
    if conventions.ties != "rank":  # the order by rank has no ties: the file says which document stands where
        ties = tie_straddles(run, np.sort(places.row[labels.relevant[places.pair]]), cutoffs)
    return RunPart(
        run.query[is_labelled], run.depth[is_labelled], places, ties, int(np.count_nonzero(~is_labelled))
    )


def join_parts(parts: Sequence[RunPart], labels: Labels, cutoffs: Integers) -> ScoredRun:
    """Add up the parts of one run; no query may be in two of them."""
    depth = np.zeros(labels.query_count, dtype=np.int64)
    position = np.zeros(len(labels.query), dtype=np.int64)
    for part in parts:
        depth[part.query] = part.depth
        position[part.places.pair] = part.places.position
    hit, seen = labels.relevant & (position > 0), labels.judged & (position > 0)
    counts = TopCounts(
        cutoffs=cutoffs,
        hits=count_up_to(position[hit], labels.query[hit], cutoffs, labels.query_count),
        judged=count_up_to(position[seen], labels.query[seen], cutoffs, labels.query_count),
        retrieved=np.minimum(depth[:, None], cutoffs),
        relevant=labels.relevant_count,
        depth=depth,
    )
    ties = _tie_hits([part.ties for part in parts if part.ties is not None], counts)
    return ScoredRun(counts, position, ties, sum(part.unknown for part in parts))


def _tie_hits(straddles: Sequence[Straddles], counts: TopCounts) -> TieHits | None:
    if not straddles:
        return None
    least, expected, most = (counts.hits.astype(np.float64) for _ in range(3))
    for tie in straddles:
        least[tie.query, tie.column] = tie.least
        expected[tie.query, tie.column] = tie.expected
        most[tie.query, tie.column] = tie.most
    return TieHits(least, expected, most)


def tie_straddles(run: OrderedRun, hit_rows: Integers, cutoffs: Integers) -> Straddles | None:
    """The ties across a cutoff that could change the hits there; None without one. hit_rows rise.

    With g documents of that score, r of them relevant and m places left for them, hits lie between
    max(0, m - (g - r)) and min(m, r) above those that are certain, and m · r / g is their expectation.
    """
    score, start = run.score, run.start
    at = start[:, None] + cutoffs - 1
    inside = (cutoffs < run.depth[:, None]) & (run.query >= 0)[:, None]
    at[~inside] = 0
    straddled = inside & (score[at] == score[np.where(inside, at + 1, 0)])
    if not straddled.any():
        return None
    line, column = np.nonzero(straddled)
    row = at[line, column]
    first, end = _tie_group(score, row, start[line], start[line] + run.depth[line])
    certain = np.searchsorted(hit_rows, first) - np.searchsorted(hit_rows, start[line])
    relevant = np.searchsorted(hit_rows, end) - np.searchsorted(hit_rows, first)
    places, size = row + 1 - first, end - first
    least, most = np.maximum(0, places - (size - relevant)), np.minimum(places, relevant)
    matters = least < most
    if not matters.any():
        return None
    values = (run.query[line], column, certain + least, certain + places * relevant / size, certain + most)
    return Straddles(*(value[matters] for value in values))


def _tie_group(score: Numbers, row: Integers, start: Integers, end: Integers) -> tuple[Integers, Integers]:
    """First row and end row of the equal scores around `row`, within its query's rows [start, end)."""
    change = np.flatnonzero(score[1:] != score[:-1]) + 1
    edges = np.concatenate(([0], change, [len(score)]))
    group = np.searchsorted(edges, row, side="right") - 1
    return np.maximum(edges[group], start), np.minimum(edges[group + 1], end)
