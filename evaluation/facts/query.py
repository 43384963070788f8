"""Which facts of one query the first K documents hold: pure functions over small arrays.

A query has F facts and D documents that somebody judged or pooled for one of them. `weights` (D, F) says
what each document is to each fact: 1 supports, 0.5 partly, 0 no, NaN not judged. A run is seen as `places`
(D,), the 1-based place of each of these documents, infinite where it was not retrieved, and `strangers`, the
places of retrieved documents that nobody judged for any fact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pooling.heavy import Booleans, Floats, Integers, np, npt

# How much a fact counts less each time it comes again.
ALPHA = 0.5


@dataclass(frozen=True)
class QueryFacts:
    """What is known of a query's facts before any run. weights: (D, F), documents by falling id, bytewise.
    irrelevant: (D,) documents that are not relevant, so that they support nothing where nobody looked."""

    weights: Floats
    irrelevant: Booleans | None = None

    @cached_property
    def supports(self) -> Booleans:
        """(D, F) whether the document supports the fact, wholly."""
        return (self.judged_weights >= 1).reshape(self.weights.shape)

    @cached_property
    def judged_weights(self) -> Floats:
        """(D, F) the weights, 0 where nobody judged."""
        return np.nan_to_num(self.weights)

    @cached_property
    def is_open(self) -> Booleans:
        """(D, F) whether the pair could still turn out either way."""
        is_open: Booleans = ~self.is_judged
        return is_open if self.irrelevant is None else is_open & ~self.irrelevant[:, None]

    @cached_property
    def is_judged(self) -> Booleans:
        """(D, F) whether somebody looked at the pair."""
        return ~np.isnan(self.weights)

    @cached_property
    def judged_counts(self) -> Integers:
        """(2, D) facts for which somebody looked at the document, and those for which it is decided."""
        counts: Integers = np.array(
            [np.count_nonzero(self.is_judged, axis=1), np.count_nonzero(~self.is_open, axis=1)]
        )
        return counts

    @cached_property
    def support_counts(self) -> Integers:
        """(D,) how many facts each document supports."""
        counts: Integers = np.count_nonzero(self.supports, axis=1)
        return counts

    @property
    def fact_count(self) -> int:
        return int(self.weights.shape[1])

    def findable(self, *, partial: bool) -> Booleans:
        """(F,) whether some judged document supports the fact, or with `partial` a part of it."""
        least = 0.5 if partial else 1.0
        is_findable: Booleans = np.count_nonzero(self.judged_weights >= least, axis=0) > 0
        return is_findable

    @cached_property
    def _ideal(self) -> dict[int, Floats]:
        return {}

    def ideal_gains(self, depth: int) -> Floats:
        """(n,) the gains of the best order of the documents, at most `depth`, which no run changes; Σ over
        facts of (1 - alpha)^(times it came before).

        Greedy; of equal gains the larger id first, as ndeval does. Clarke and others, Novelty and diversity
        in information retrieval evaluation (2008).
        """
        if depth in self._ideal:
            return self._ideal[depth]
        matrix = self.supports[self.supports.any(axis=1)].astype(np.float64)
        worth, gains = np.ones(self.fact_count), []
        left = np.ones(len(matrix), dtype=np.bool_)
        for _ in range(min(depth, len(matrix))):
            each = np.where(left, matrix @ worth, -1.0)
            best = int(np.argmax(each))
            gains.append(each[best])
            left[best] = False
            worth *= np.where(matrix[best] > 0, 1 - ALPHA, 1.0)
        self._ideal[depth] = np.array(gains, dtype=np.float64)
        return self._ideal[depth]


@dataclass(frozen=True)
class Retrieved:
    """A run's places over the documents of a query: see the module. cutoffs: (C,), rising."""

    facts: QueryFacts
    places: Floats
    strangers: Floats
    cutoffs: Integers

    @cached_property
    def order(self) -> Integers:
        """(n,) the rows of the retrieved documents, from the top."""
        rows = np.flatnonzero(np.isfinite(self.places))
        ordered: Integers = rows[np.argsort(self.places[rows], kind="stable")]
        return ordered

    @cached_property
    def whole_shares(self) -> Floats:
        """(C, F) whether a document in the first K supports each fact, 1 or 0."""
        return self._within(1.0).astype(np.float64)

    def _within(self, least: float) -> Booleans:
        """(C, F) whether a document in the first K has at least this weight."""
        there = self.facts.judged_weights >= least
        first = np.min(np.where(there, self.places[:, None], np.inf), axis=0, initial=np.inf)
        is_within: Booleans = first <= self.cutoffs[:, None]
        return is_within

    def shares(self, *, partial: bool) -> Floats:
        """(C, F) what the first K hold of each fact: 1, 0.5 (with `partial`), 0."""
        if not partial:
            return self.whole_shares
        best: Floats = np.maximum(self.whole_shares, 0.5 * self._within(0.5))
        return best

    @cached_property
    def first_open(self) -> Floats:
        """(F,) the place of the first retrieved document that nobody judged for the fact."""
        among = np.min(np.where(self.facts.is_open, self.places[:, None], np.inf), axis=0, initial=np.inf)
        first: Floats = np.minimum(among, np.min(self.strangers, initial=np.inf))
        return first

    def open_outside(self, strangers_outside: Integers) -> Booleans:
        """(C, F) whether a document of the pool outside the first K is not judged for the fact.

        strangers_outside: (C,) documents of the pool outside the first K that nobody judged for any fact.
        """
        last = np.max(np.where(self.facts.is_open, self.places[:, None], -np.inf), axis=0, initial=-np.inf)
        is_open: Booleans = (last > self.cutoffs[:, None]) | (strangers_outside > 0)[:, None]
        return is_open

    def gains(self) -> Floats:
        """(n,) the gain of each retrieved document of `order`: see `QueryFacts.ideal_gains`."""
        matrix = self.facts.supports[self.order].astype(np.float64)
        before = np.cumsum(matrix, axis=0) - matrix
        result: Floats = (matrix * (1 - ALPHA) ** before).sum(axis=1)
        return result

    def supported(self) -> Integers:
        """(n,) how many facts each retrieved document of `order` supports."""
        return self.facts.support_counts[self.order]

    def up_to(self, values: npt.NDArray[np.number]) -> Floats:
        """(C,) the sum of `values`, one for each document of `order`, up to each K."""
        sums = np.concatenate(([0.0], np.cumsum(values)))
        result: Floats = sums[self.ends]
        return result

    @cached_property
    def ends(self) -> Integers:
        """(C,) how many documents of `order` are in the first K."""
        ends: Integers = np.searchsorted(self.places[self.order], self.cutoffs, side="right")
        return ends

    def judged_pairs(self) -> tuple[Floats, Floats, Floats]:
        """(C,) each: pairs of a fact and a document in the first K that somebody judged, those that are
        decided, by relevance too, and all."""
        judged, decided = (self.up_to(counts[self.order]) for counts in self.facts.judged_counts)
        strange = np.searchsorted(np.sort(self.strangers), self.cutoffs, side="right")
        documents = self.up_to(np.ones(len(self.order))) + strange
        return judged, decided, documents * self.facts.fact_count
