"""Where the labelled documents of a run stand: what the measures that are not counts are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from pooling.heavy import Booleans, Floats, Integers, np, npt


@dataclass(frozen=True)
class Grades:
    """The labels of a qrels, one row per pair, the same for every run.

    query: (n,) number of the pair's query, rising. relevance: (n,) as in the qrels, negative where the pair
    was pooled and not judged. relevant: (n,) whether the label counts as relevant. whole: (Q,) the queries
    whose labels are complete, None where none are.
    """

    query: Integers
    relevance: npt.NDArray[Any]
    relevant: Booleans
    query_count: int
    whole: Booleans | None = None

    @cached_property
    def nonrelevant_count(self) -> Integers:
        """(Q,) documents per query that were judged and are not relevant. Under complete labels these are all
        others, of which only those that some run retrieved are listed: at least as many as are relevant."""
        not_relevant = (self.relevance >= 0) & ~self.relevant
        listed, relevant = (
            np.bincount(self.query[rows], minlength=self.query_count)
            for rows in (not_relevant, self.relevant)
        )
        return listed if self.whole is None else np.where(self.whole, np.maximum(listed, relevant), listed)

    @cached_property
    def ideal(self) -> tuple[Integers, Integers, Floats]:
        """The best order of every query's gains: query, position (1-based) and gain of each."""
        gains = np.flatnonzero(self.relevance > 0)
        gain = self.relevance[gains].astype(np.int64)
        most = int(gain.max(initial=0))
        # One number to sort by, and where all labels of a query are alike it is sorted already.
        order = gains[np.argsort(self.query[gains] * (most + 1) + (most - gain), kind="stable")]
        query = self.query[order]
        return (
            query,
            counted_above(np.ones(len(query), dtype=np.bool_), query) + 1,
            self.relevance[order].astype(np.float64),
        )


@dataclass(frozen=True)
class RankedLabels:
    """The labelled pairs that a run retrieved, in its order, a query's rows together.

    query, position (1-based), relevance, relevant: (m,). grades: all labels, retrieved or not.
    """

    grades: Grades
    query: Integers
    position: Integers
    relevance: npt.NDArray[Any]
    relevant: Booleans

    def above(self, counted: Booleans) -> Integers:
        """(m,) how many of the `counted` rows of the same query stand above each row."""
        return counted_above(counted, self.query)

    def sums_up_to(self, cutoffs: Integers, rows: Booleans, values: Floats) -> Floats:
        """(Q, C) the sum of `values`, one for each of the chosen rows, over positions up to each cutoff."""
        count = self.grades.query_count
        return sums_up_to(self.position[rows], self.query[rows], values, cutoffs, query_count=count)


def rank_labels(grades: Grades, position: Integers) -> RankedLabels:
    """Put the pairs in the run's order; position: (n,) 1-based, 0 for a pair that was not retrieved."""
    retrieved = np.flatnonzero(position > 0)
    query, place = grades.query[retrieved], position[retrieved]
    order = np.argsort(query * (int(place.max(initial=0)) + 1) + place)
    rows = retrieved[order]
    return RankedLabels(
        grades, grades.query[rows], position[rows], grades.relevance[rows], grades.relevant[rows]
    )


def counted_above(counted: Booleans, query: Integers) -> Integers:
    """(m,) how many `counted` rows of the same query come before each row; a query's rows are together."""
    before: Integers = np.cumsum(counted) - counted
    first = np.flatnonzero(np.diff(query, prepend=-1))
    lengths = np.diff(np.append(first, len(query)))
    result: Integers = before - np.repeat(before[first], lengths)
    return result


def sums_up_to(
    position: Integers, query: Integers, values: Floats, cutoffs: Integers, *, query_count: int
) -> Floats:
    """(Q, C) the sum of each query's `values` at positions up to each cutoff; cutoffs rise."""
    bucket = np.searchsorted(cutoffs, position)
    within = bucket < len(cutoffs)
    cells = query[within] * len(cutoffs) + bucket[within]
    sums = np.bincount(cells, weights=values[within], minlength=query_count * len(cutoffs))
    return np.cumsum(sums.reshape(query_count, len(cutoffs)), axis=1)


@cache
def nothing_ranked() -> RankedLabels:
    none = np.zeros(0, dtype=np.int64)
    return RankedLabels(Grades(none, none, none.astype(np.bool_), 0), none, none, none, none.astype(np.bool_))
