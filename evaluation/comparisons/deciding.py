"""The fewest labels that decide which of two runs has the higher Recall@K, whatever else is found.

The sign of the mean difference is decided when the bounds of `unsettled.py` exclude 0. A label moves the
bound that stands against the run in the lead only where it speaks against the worst case: a document that
only the trailing run has must turn out not relevant, one that only the leader has must turn out relevant. So
the documents are taken greedily by what they are expected to move that bound, given the share that has been
relevant so far, until the expected bound excludes 0. Labels do not follow expectations, so that the set is
chosen again from what is known once it is judged, until the sign is decided or no document is left that only
one of the two has.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.measures import Floats
from evaluation.measures.significance import queries_needed
from evaluation.scoring.results import Evaluation
from evaluation.scoring.unsettled import Unsettled, counted_for_both, recall_difference_limits
from pooling.heavy import np, pl

#: No queue is smaller, if there are this many.
LEAST = 10
#: Labels of others that count for the first guess of the share of relevant ones.
PRIOR = 10
#: Of the share in both first K: what nobody has judged yet and one run alone has stands further down.
FURTHER_DOWN = 0.5


@dataclass(frozen=True)
class Standing:
    """Two runs at K over Q queries that count.

    ahead: (Q,) relevant documents in the first run's K minus those in the other's. relevant: (Q,) labelled
    relevant. further: (Q,) unjudged documents of the pool that both runs have in their K, or neither. alone:
    those that one has: query (0 … Q-1), document_id, is_first, rank. weights: (Q,) how much each query counts
    in the mean; None: once.
    """

    query_ids: list[str]
    ahead: Floats
    relevant: Floats
    further: Floats
    alone: pl.DataFrame
    weights: Floats | None = None

    def each(self) -> Floats:
        """(Q,) how much each query counts."""
        return np.ones(len(self.query_ids)) if self.weights is None else self.weights

    def queries_needed(self) -> int | None:
        """Number of queries to see the difference as labelled, where these are too few; else None."""
        counts = self.relevant > 0
        each = self.ahead[counts] / self.relevant[counts]
        if len(each) < 2 or not each.mean():
            return None
        spread, size = float(each.std(ddof=1)), abs(float(each.mean()))
        needed = queries_needed(spread, size, measured=len(each))
        return needed if needed > len(each) else None

    def bounds(self) -> tuple[float, float] | None:
        """Least and largest mean difference over all labels of unjudged documents; None without a query."""
        if not self.query_ids:
            return None
        mine, other = (self._alone(is_first) for is_first in (True, False))
        lower, upper = recall_difference_limits(
            self.ahead, self.relevant, mine=mine, other=other, further=self.further
        )
        return (
            float(np.average(lower, weights=self.weights)),
            float(np.average(upper, weights=self.weights)),
        )

    @property
    def decided(self) -> int:
        """1 where the first run is better whatever comes, -1 where the other is, else 0."""
        bounds = self.bounds()
        if bounds is None:
            return 0
        return int(bounds[0] > 1e-12) - int(bounds[1] < -1e-12)

    def _alone(self, is_first: bool) -> Floats:
        rows = self.alone.filter(pl.col("is_first") == is_first)
        return np.bincount(rows["query"].to_numpy(), minlength=len(self.query_ids)).astype(np.float64)


def deciding_set(standing: Standing, chance: float) -> pl.DataFrame:
    """The documents of `alone` to judge next, in the order in which they are expected to decide.

    chance: the share of them that is expected to be relevant. At least `LEAST`, or all there are; all, where
    not even they are expected to decide. Nothing where the sign is decided.
    """
    bounds = standing.bounds()
    if bounds is None or standing.decided:
        return standing.alone.head(0)
    walk, wanted = _walk_of(standing, bounds, chance)
    rows: list[int] = []
    gained = 0.0
    for row, gain in walk.rows():
        if gained > wanted and len(rows) >= LEAST:
            break
        rows.append(row)
        gained += gain
    return standing.alone[rows]


def can_decide(standing: Standing, chance: float) -> bool:
    """True where all documents of `alone` together are expected to decide what is open."""
    bounds = standing.bounds()
    if bounds is None:
        return False
    walk, wanted = _walk_of(standing, bounds, chance)
    return sum(gain for _, gain in walk.rows()) > wanted


def _walk_of(standing: Standing, bounds: tuple[float, float], chance: float) -> tuple[_Walk, float]:
    """The walk in favour of the run in the lead, and what it must gain in the sum over queries."""
    for_first = sum(bounds) >= 0
    wanted = -(bounds[0] if for_first else -bounds[1]) * float(standing.each().sum())
    return _Walk(standing, min(max(chance, 0.01), 0.99), for_first), wanted


def expected_share(hits: float, judged: float, own_hits: int, own_judged: int) -> float:
    """The share of relevant ones among unjudged documents that one of two runs has: by half of what both
    runs' first K had, and more and more by what such documents turned out to be.

    In simulated comparisons on real and made-up runs it was .10 to .81 of the former, .45 in the median."""
    first = FURTHER_DOWN * (hits + 1) / (judged + 2)
    return (own_hits + PRIOR * first) / (own_judged + PRIOR)


def labels_expected(evaluation: Evaluation, opened: Unsettled, pair: tuple[str, str], k: int) -> int:
    """Number of labels expected to decide a pair of an evaluation, as the set that a queue of them has."""
    tops = {name: opened.tops[name].filter(pl.col("position") <= k) for name in pair}
    runs = [evaluation.runs[name] for name in pair]
    column = int(np.flatnonzero(evaluation.cutoffs == k)[0])
    hits, judged = (
        [getattr(run.counted.counts, what)[:, column] for run in runs] for what in ("hits", "judged")
    )
    counted = counted_for_both(evaluation, pair)
    number = np.cumsum(counted) - 1
    keys = ["query", "document_id"]
    parts = [
        tops[name].join(tops[other], on=keys, how="anti").select(*keys, "position", is_first=pl.lit(first))
        for name, other, first in ((*pair, True), (*pair[::-1], False))
    ]
    alone = pl.concat(parts)
    alone = alone.filter(pl.Series(counted[alone["query"].to_numpy()], dtype=pl.Boolean))
    pooled = opened.pool.filter(pl.col("position") <= k)
    left = pl.concat([part.select(keys) for part in (pooled, *tops.values())]).unique()
    further = left.join(alone, on=keys, how="anti")["query"].to_numpy()
    many = np.bincount(further, minlength=evaluation.labels.query_count)
    standing = Standing(
        evaluation.labels.query_ids.filter(pl.Series(counted)).to_list(),
        (hits[0] - hits[1])[counted].astype(np.float64),
        evaluation.labels.relevant_count[counted].astype(np.float64),
        many[counted].astype(np.float64),
        alone.select(
            pl.Series("query", number[alone["query"].to_numpy()]),
            "document_id",
            "is_first",
            pl.col("position").alias("rank"),
        ).sort("query", "rank", "document_id"),
        None if evaluation.weights is None else evaluation.weights[counted],
    )
    hit_count, judged_count = (float(sum(part[counted].sum() for part in parts)) for parts in (hits, judged))
    return deciding_set(standing, expected_share(hit_count, judged_count, 0, 0)).height


class _Walk:
    """Documents in order of what they are expected to move the bound against the leader."""

    def __init__(self, standing: Standing, chance: float, for_first: bool) -> None:
        sign = 1.0 if for_first else -1.0
        self.chance = chance
        self.ahead = (standing.ahead * sign).tolist()
        self.relevant = standing.relevant.tolist()
        self.further = standing.further.tolist()
        self.weights = standing.each().tolist()
        self.of_other: list[float] = [0.0] * len(self.ahead)
        # (query, whether the leader has them) -> rows, the last to be taken first.
        self.left: dict[tuple[int, bool], list[int]] = defaultdict(list)
        rows = standing.alone.with_row_index("row").sort("rank", descending=True)
        for row, query, is_first in rows.select("row", "query", "is_first").iter_rows():
            leads = is_first == for_first
            self.left[query, leads].append(row)
            self.of_other[query] += not leads

    def rows(self) -> Iterator[tuple[int, float]]:
        """Row of `alone` and expected gain in the sum over queries, the largest gain first."""
        heap = [(-self.gain(*key), *key) for key in sorted(self.left)]
        heapq.heapify(heap)
        while heap:
            negative, query, leads = heapq.heappop(heap)
            gain = self.gain(query, leads)
            if -negative != gain:  # another document of the query was taken since
                heapq.heappush(heap, (-gain, query, leads))
                continue
            yield self.left[query, leads].pop(), gain
            self.take(query, leads)
            if self.left[query, leads]:
                heapq.heappush(heap, (-self.gain(query, leads), query, leads))

    def gain(self, query: int, leads: bool) -> float:
        ahead, relevant, other = self.ahead[query], self.relevant[query], self.of_other[query]
        before = self.bound(query, ahead, relevant, other)
        if leads:
            gain = self.chance * (self.bound(query, ahead + 1, relevant + 1, other) - before)
        else:
            gain = (1 - self.chance) * (self.bound(query, ahead, relevant, max(other - 1, 0.0)) - before)
        return float(self.weights[query] * gain)

    def take(self, query: int, leads: bool) -> None:
        if leads:
            self.ahead[query] += self.chance
            self.relevant[query] += self.chance
        else:
            self.of_other[query] = max(self.of_other[query] - (1 - self.chance), 0.0)

    def bound(self, query: int, ahead: float, relevant: float, other: float) -> float:
        """The least difference of a query for the leader: all that only the other has is relevant."""
        behind, total = other - ahead, relevant + other
        return -behind / max(total if behind >= 0 else total + self.further[query], 1.0)
