"""The documents without a label that can still move a difference of two runs, and how far they move it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from evaluation.measures import Floats, Integers
from evaluation.scoring.coverage import negative_keys, unjudged_in_pool
from evaluation.scoring.duplicates import GroupedRun
from evaluation.scoring.results import Evaluation
from pooling.heavy import Booleans, np, npt, pd, pl
from pooling.inputs.reading import pool_frame, run_frame
from pooling.ranking.ranking import order_run

_PAIR = ["query", "document_id"]
# The share of documents that turns an order is found to this step.
_TURNING_STEP = 1e-6
Point = tuple[float, float]
Numbers: TypeAlias = Integers | Floats


@dataclass(frozen=True)
class Unsettled:
    """tops: run -> its unjudged documents (query, document_id, position). pool: those of the pool, with the
    place from which on they belong to it: 0 for a pool that was given, else the best of the runs'."""

    tops: Mapping[str, pl.DataFrame]
    pool: pl.DataFrame
    _at: dict[int, _AtK] = field(default_factory=dict, compare=False)

    def up_to(self, k: int) -> pl.DataFrame:
        """query, document_id of the pool at k: what was given, and every run's first k."""
        parts = [part.filter(pl.col("position") <= k) for part in (self.pool, *self.tops.values())]
        return pl.concat([part.select(_PAIR) for part in parts]).unique()

    def at(self, k: int, queries: int) -> _AtK:
        """Kept for each k: every pair of runs asks for it."""
        if k not in self._at:
            self._at[k] = _AtK.of(self, k, queries)
        return self._at[k]


@dataclass(frozen=True)
class _AtK:
    """Unjudged pairs as numbers: `query` of each, `is_pooled`, and run -> the numbers of its first k."""

    queries: int
    query: Integers
    is_pooled: npt.NDArray[np.bool_]
    tops: Mapping[str, Integers]

    @classmethod
    def of(cls, opened: Unsettled, k: int, queries: int) -> _AtK:
        parts = {name: top.filter(pl.col("position") <= k) for name, top in opened.tops.items()}
        pooled = opened.pool.filter(pl.col("position") <= k)
        rows = pl.concat([part.select(_PAIR) for part in (pooled, *parts.values())])
        numbered = rows.with_columns(number=pl.struct(_PAIR).rank("dense") - 1)
        query = np.zeros(int(numbered["number"].max() or 0) + 1, dtype=np.int64)  # type: ignore[arg-type]
        numbers = numbered["number"].to_numpy()
        query[numbers] = numbered["query"].to_numpy()
        ends = np.cumsum([pooled.height, *(part.height for part in parts.values())])
        first, *others = np.split(numbers, ends[:-1])
        is_pooled = np.zeros(len(query), dtype=np.bool_)
        is_pooled[first] = True
        return cls(queries, query, is_pooled, dict(zip(parts, others, strict=True)))

    def counts(self, first: str, second: str) -> tuple[Integers, Integers, Integers, Integers]:
        """By query: pairs of the first run alone, of the second alone, of both, and of the pool's rest."""
        mine, other = self.tops[first], self.tops[second]
        is_mine = np.zeros(len(self.query), dtype=np.bool_)
        is_mine[mine] = True
        shared = other[is_mine[other]]
        is_mine[other] = True
        rest = np.flatnonzero(self.is_pooled & ~is_mine)
        in_both = self._by_query(shared)
        return self._by_query(mine) - in_both, self._by_query(other) - in_both, in_both, self._by_query(rest)

    def _by_query(self, numbers: Integers) -> Integers:
        return np.bincount(self.query[numbers], minlength=self.queries)


@dataclass(frozen=True)
class DifferenceBounds:
    """(Q,) least and largest difference per query, NaN where it does not count for both runs.

    open_pairs: unjudged documents that only one of the runs has. top: least and largest mean difference where
    only what the runs have in their first k is unjudged. turning: see `turning_share`. weights: (Q,) how much
    each query counts; None: once.
    """

    lower: Floats
    upper: Floats
    open_pairs: int
    top: Point | None = None
    turning: float | None = None
    weights: Floats | None = None

    def mean(self) -> tuple[float, float] | None:
        """Of the mean over queries; None when no query counts."""
        counted = ~np.isnan(self.lower)
        if not counted.any():
            return None
        return _mean(self.lower, counted, self.weights), _mean(self.upper, counted, self.weights)

    def settled(self) -> int:
        """The queries whose sign no label can change."""
        return int(np.count_nonzero((self.lower > 0) | (self.upper < 0)))


def unsettled(evaluation: Evaluation, names: Sequence[str], *, depth: int | None = None) -> Unsettled:
    """Read the runs again and keep what has no label, down to `depth`, or else to the deepest K.

    The pool at K is that of the evaluation: the one that it was given, or else the union of all its runs'
    first K; next to it the pairs with a negative label.
    """
    given = pool_frame(evaluation.pool)
    labels = _labels_frame(evaluation)
    judged = labels.filter("judged").select(_PAIR)
    deepest = int(evaluation.cutoffs[-1]) if depth is None else depth
    read = evaluation.runs if given is None else names
    tops = {name: _unjudged_top(evaluation, name, judged, deepest) for name in read}
    at_once = pl.lit(0, dtype=pl.Int64).alias("position")
    parts = [labels.filter(~pl.col("judged")).select(*_PAIR, at_once)]
    if given is None:
        parts += [top.select(*_PAIR, pl.col("position").cast(pl.Int64)) for top in tops.values()]
    else:
        pooled = _numbered(evaluation, given).select(_PAIR).join(judged, on=_PAIR, how="anti")
        parts.append(pooled.select(*_PAIR, at_once))
    pool = pl.concat(parts).group_by(_PAIR).agg(pl.col("position").min())
    return Unsettled({name: tops[name] for name in names}, pool)


def unsettled_kept(evaluation: Evaluation, names: Sequence[str]) -> Unsettled | None:
    """From what the evaluation still holds, so that no run is read again: down to the K nearest 10, and with
    the keys of pairs for their document ids. None where it holds nothing."""
    unjudged = {name: run.unjudged for name, run in evaluation.runs.items() if run.unjudged is not None}
    if len(unjudged) < len(evaluation.runs):
        return None
    given = pool_frame(evaluation.pool)
    parts = [negative_keys(evaluation.labels)]
    if given is None:
        parts += unjudged.values()
    else:
        at_once = pl.lit(0, dtype=pl.UInt32).alias("position")
        parts.append(unjudged_in_pool(given, evaluation.labels).with_columns(at_once))
    pool = pl.concat(parts).group_by("query", "key").agg(pl.col("position").min())
    return Unsettled({name: _by_key(unjudged[name]) for name in names}, _by_key(pool))


def _by_key(pairs: pl.DataFrame) -> pl.DataFrame:
    numbers = pl.col("query", "position").cast(pl.Int64)
    return pairs.with_columns(numbers).rename({"key": "document_id"})


def _labels_frame(evaluation: Evaluation) -> pl.DataFrame:
    labels = evaluation.labels
    return pl.DataFrame(
        {"query": labels.query, "document_id": labels.document_ids, "judged": labels.judged},
        schema_overrides={"query": pl.Int64},
    )


def _numbered(evaluation: Evaluation, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of queries with labels, with the query's number as `query`."""
    queries = pl.DataFrame({"query_id": evaluation.labels.query_ids}).with_row_index("query")
    return frame.join(queries.cast({"query": pl.Int64}), on="query_id")


def _unjudged_top(evaluation: Evaluation, name: str, judged: pl.DataFrame, depth: int) -> pl.DataFrame:
    conventions = evaluation.order_of_sources
    if name not in evaluation.sources:
        raise ValueError(f"Run {name} cannot be read again, so its unjudged documents are not known.")
    source = evaluation.sources[name]
    frame = run_frame(name, source, with_rank=conventions.ties == "rank")
    top = order_run(frame, ties=conventions.ties, scores=conventions.scores, depth=depth)
    if isinstance(source, GroupedRun) and source.groups.later is not None:
        top = top.filter(~pl.col("document_id").is_in(source.groups.later.implode()))
    return _numbered(evaluation, top).join(judged, on=_PAIR, how="anti").select(*_PAIR, "position")


def difference_bounds(
    evaluation: Evaluation, opened: Unsettled, pair: tuple[str, str], *, measure: str, k: int
) -> DifferenceBounds:
    """Bounds of a pair's difference, the first run less the second, in recall or precision at k, over all
    labels the unjudged documents can get.

    With r relevant in each run's first k, R relevant labelled, x unjudged documents only in the first run's
    k, b in both and w in the rest of the pool, the largest difference has all x relevant: n = r_1 - r_2 + x.
    Recall divides it by R + x, and where n is negative by R + x + b + w, which brings it nearest to 0.
    Precision divides by k. The least is the same with the runs exchanged. Conditional on the pool, and on the
    queries that count now. The pool is that of k, and both runs' first k.

    `top` and the share that turns the order are of both runs' first k alone: what only the pool has is in
    neither, so that it adds to no run's hits, and its number is that of the pool. A larger pool widens the
    bounds and leaves these two.
    """
    first, second = pair
    mine, other, shared, rest = opened.at(k, evaluation.labels.query_count).counts(first, second)
    column = int(np.flatnonzero(evaluation.cutoffs == k)[0])
    hits = [evaluation.runs[name].counted.counts.hits[:, column] for name in (first, second)]
    relevant, ahead = evaluation.labels.relevant_count, hits[0] - hits[1]
    counted, weights = counted_for_both(evaluation, pair), evaluation.weights

    def limits(share: float, further: Integers = shared) -> tuple[Floats, Floats]:
        """The bounds where only this share of the unjudged documents can be relevant."""
        if measure == "precision":
            return (ahead - share * other) / k, (ahead + share * mine) / k
        mine_of, other_of, both = (np.multiply(share, many) for many in (mine, other, further))
        return recall_difference_limits(ahead, relevant, mine=mine_of, other=other_of, further=both)

    lower, upper = (np.where(counted, bound, np.nan) for bound in limits(1.0, shared + rest))
    turning = turning_share(limits, counted, weights)
    least, most = limits(1.0)
    top = (_mean(least, counted, weights), _mean(most, counted, weights)) if counted.any() else None
    return DifferenceBounds(lower, upper, int((mine + other)[counted].sum()), top, turning, weights)


def counted_for_both(evaluation: Evaluation, pair: tuple[str, str]) -> Booleans:
    """(Q,) the queries that count for both runs."""
    counted = evaluation.runs[pair[0]].scored & evaluation.runs[pair[1]].scored
    return counted if evaluation.weights is None else counted & (evaluation.weights > 0)


def _mean(values: Floats, counted: Booleans, weights: Floats | None) -> float:
    return float(np.average(values[counted], weights=None if weights is None else weights[counted]))


# Sums of the same numbers in another order differ by less.
_LEVEL = 1e-12


def turning_share(
    limits: Callable[[float], tuple[Floats, Floats]], counted: Booleans, weights: Floats | None = None
) -> float | None:
    """The share of the unjudged documents in favour of the run behind that must be relevant, and none of
    those in favour of the other, before the mean difference is 0; None where even all of them leave its sign.

    limits: share -> (Q,) least and largest difference where at most that share is relevant. In favour of the
    run behind are those only it has, and, where it has fewer relevant ones, those both have.
    """
    if not counted.any():
        return None
    as_labelled = _mean(limits(0.0)[0], counted, weights)
    behind = 0 if as_labelled > 0 else 1

    def worst(share: float) -> float:
        return _mean(limits(share)[behind], counted, weights)

    if abs(as_labelled) < _LEVEL:
        return 0.0
    if worst(1.0) * as_labelled > 0:
        return None
    return _root(worst, (0.0, as_labelled), (1.0, worst(1.0)))


def _root(function: Callable[[float], float], start: Point, end: Point) -> float:
    """The root of a continuous function between two points on different sides of 0; `scipy.optimize` takes
    longer to load than this.

    The secant through both points; one that stays twice counts half (Dowell and Jarratt, A modified regula
    falsi method for computing the root of an equation, 1971).
    """
    kept, newest = start, end
    while True:
        (kept_at, kept_value), (newest_at, newest_value) = kept, newest
        at = (kept_at * newest_value - newest_at * kept_value) / (newest_value - kept_value)
        value = function(at)
        kept = newest if value * newest_value < 0 else (kept_at, kept_value / 2)
        newest = at, value
        if value == 0 or abs(at - newest_at) < _TURNING_STEP:
            return at


def recall_difference_limits(
    ahead: Numbers, relevant: Numbers, *, mine: Numbers, other: Numbers, further: Numbers
) -> tuple[Floats, Floats]:
    """(Q,) least and largest difference of recall: see `difference_bounds`, where further is b + w."""
    lower = -_largest(other - ahead, relevant + other, further)
    return lower, _largest(ahead + mine, relevant + mine, further)


def _largest(lead: Numbers, relevant: Numbers, further: Numbers) -> Floats:
    """lead / relevant, or over `further` relevant documents as well where it is negative; 0/0 is 0."""
    below = np.where(lead >= 0, relevant, relevant + further)
    return lead / np.maximum(below, 1)


def _by_query(pairs: pl.DataFrame, count: int) -> Integers:
    return np.bincount(pairs["query"].to_numpy(), minlength=count)


def labels_to_decide(
    evaluation: Evaluation, opened: Unsettled, pair: tuple[str, str], k: int
) -> pd.DataFrame:
    """The unjudged documents in the first k of only one run: query_id, document_id, run, rank, swing.

    swing: how far the mean Recall difference moves if the document turns out relevant, all else as it is now.
    """
    first, second = pair
    tops = {name: opened.tops[name].filter(pl.col("position") <= k) for name in pair}
    counted = counted_for_both(evaluation, pair)
    weights = counted / 1.0 if evaluation.weights is None else np.where(counted, evaluation.weights, 0.0)
    each = weights / max(float(weights.sum()), 1e-300)
    column = int(np.flatnonzero(evaluation.cutoffs == k)[0])
    hits = [evaluation.runs[name].counted.counts.hits[:, column] for name in (first, second)]
    relevant, ahead = evaluation.labels.relevant_count, hits[0] - hits[1]
    parts = []
    for name, other, sign in ((first, second, 1), (second, first, -1)):
        alone = tops[name].join(tops[other], on=_PAIR, how="anti")
        query = alone["query"].to_numpy()
        after = (ahead + sign)[query] / (relevant + 1)[query]
        swing = np.abs(after - (ahead / np.maximum(relevant, 1))[query]) * each[query]
        rows = alone.with_columns(pl.Series("swing", swing), pl.lit(name).alias("run"))
        parts.append(rows.filter(pl.Series(counted[query], dtype=pl.Boolean)))
    ordered = pl.concat(parts).sort(
        "swing", "position", "query", "document_id", descending=[True, False, False, False]
    )
    ids = evaluation.labels.query_ids.gather(ordered["query"]).to_list()
    return pd.DataFrame(
        {
            "query_id": ids,
            "document_id": ordered["document_id"].to_list(),
            "run": ordered["run"].to_list(),
            "rank": ordered["position"].to_numpy(),
            "swing": ordered["swing"].to_numpy(),
        }
    )
