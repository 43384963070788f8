"""The ranker's ceiling: how much of what is relevant stage 1 hands on, and what the ranker loses of that.

Stage 1 is a run cut at K1; the ranker orders what stage 1 hands on, and shows K of it. Of a query's R
relevant documents one part is *missed* by stage 1, one is handed on and *lost* by the ranker, and one is
*found*. The ceiling is what the best order of the same K1 documents would find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypedDict

from evaluation.measures import Floats, Grades, Integers, key_of
from evaluation.measures.ranked import sums_up_to
from evaluation.scoring.inputs import cutoffs_array
from evaluation.scoring.results import Evaluation
from evaluation.scoring.unsettled import Unsettled, unsettled
from evaluation.scoring.wording import usual_cutoff
from pooling.heavy import np, npt, pl
from pooling.inputs.given import Runs, RunSource
from pooling.inputs.reading import named_runs, run_frame
from pooling.ranking.ranking import order_run

DEFAULT_K1 = (10, 20, 50, 100)
_PAIR = ["query", "document_id"]


class RecallCeiling(TypedDict):
    """Means of recall over queries; found + lost + missed = 1.

    best: what K places can hold of all that is relevant. low, high: the ceiling whatever the labels of the
    unjudged documents turn out to be, of the pool at K and of what stage 1 hands on. Where it hands on K,
    these are the bounds of its recall.
    """

    ceiling: float
    found: float
    lost: float
    missed: float
    best: float
    low: float
    high: float


class GainCeiling(TypedDict):
    """Means of nDCG over queries; found + lost + missed = 1."""

    ceiling: float
    found: float
    lost: float
    missed: float


@dataclass(frozen=True)
class CeilingAt:
    """One ranker at one K1 and K."""

    recall: RecallCeiling
    ndcg: GainCeiling


@dataclass(frozen=True)
class CeilingOfRun:
    """One ranker over the first K1 documents of stage 1, by K.

    elsewhere: documents in the ranker's first K, the largest K, that stage 1 did not hand on; they are left
    out of its order.
    """

    by_k: Mapping[int, CeilingAt]
    elsewhere: int


@dataclass(frozen=True)
class Ceilings:
    """stage1: the name of the run. queries: in the means. runs: ranker -> K1 -> its figures. is_weighted: the
    means are taken back to the log that the queries were drawn from."""

    stage1: str
    queries: int
    runs: Mapping[str, Mapping[int, CeilingOfRun]]
    is_weighted: bool = False

    def to_dict(self) -> dict[str, dict[str, dict[str, RecallCeiling | GainCeiling | int]]]:
        """{ranker: {"100": {"recall@10": {...}, "ndcg@10": {...}, ..., "elsewhere": 0}}}; under `recall` and
        `ndcg` those of the K nearest 10 once more."""
        return {
            ranker: {str(k1): _plain(one) for k1, one in by_k1.items()} for ranker, by_k1 in self.runs.items()
        }


def _plain(one: CeilingOfRun) -> dict[str, RecallCeiling | GainCeiling | int]:
    usual = one.by_k[usual_cutoff(list(one.by_k))]
    plain: dict[str, RecallCeiling | GainCeiling | int] = {"recall": usual.recall, "ndcg": usual.ndcg}
    for k, at in one.by_k.items():
        plain |= {key_of("recall", k): at.recall, key_of("ndcg", k): at.ndcg}
    return {**plain, "elsewhere": one.elsewhere}


def ceilings(evaluation: Evaluation, stage1: Runs, k1: Sequence[int] = DEFAULT_K1) -> Ceilings:
    """Each run's use of the first K1 documents of `stage1`, at each K of the evaluation.

    Documents that a ranker lacks follow in stage 1's order. The means are over the evaluation's queries with
    a relevant label, weighted as its own; a query that stage 1 lacks counts 0, or is left out where the
    conventions skip it.
    Raises ValueError (FormatError for a file) as `evaluate` does.

    >>> from evaluation import evaluate
    >>> labels = {"q": {"a": 1, "b": 1, "c": 1, "x": 0}}
    >>> ranker = {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    >>> found = ceilings(evaluate(labels, {"ranker": ranker}, k=2), {"bm25": {"q": ["a", "b", "x"]}}, [3])
    >>> at = found.runs["ranker"][3].by_k[2].recall
    >>> [round(at[part], 3) for part in ("ceiling", "found", "lost", "missed")]
    [0.667, 0.333, 0.333, 0.333]
    """
    wanted = cutoffs_array(k1).tolist()
    named = named_runs(stage1, use="Stage 1")
    if len(named) != 1:
        raise ValueError(f"Stage 1 is one run; {len(named)} were given.")
    ((name, source),) = named.items()
    handed = _ordered(evaluation, name, source, depth=wanted[-1]).rename({"position": "place"})
    stage = _Stage(evaluation, handed)
    if not stage.counted.any():
        raise ValueError(f"No query with a relevant label is left to measure the ceiling of {name} on.")
    runs = {run: _of_run(stage, run, wanted) for run in evaluation.runs}
    return Ceilings(name, int(stage.counted.sum()), runs, evaluation.weights is not None)


def _ordered(
    evaluation: Evaluation, name: str, source: RunSource, *, depth: int | None = None
) -> pl.DataFrame:
    """query (number), document_id and position of a run's rows, of the queries with labels."""
    conventions = evaluation.conventions
    frame = run_frame(name, source, with_rank=conventions.ties == "rank")
    ordered = order_run(frame, ties=conventions.ties, scores=conventions.scores, depth=depth)
    ids = evaluation.labels.query_ids
    numbers = pl.DataFrame({"query_id": ids, "query": np.arange(len(ids))})
    return ordered.join(numbers, on="query_id").select(*_PAIR, pl.col("position").cast(pl.Int64))


@dataclass(frozen=True)
class _Stage:
    """The same for every ranker. handed: (query, document_id, place) of stage 1's documents."""

    evaluation: Evaluation
    handed: pl.DataFrame
    _outside: dict[tuple[int, int], Integers] = field(default_factory=dict, compare=False)

    @property
    def cutoffs(self) -> Integers:
        return self.evaluation.cutoffs

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """(Q,) the queries in the means."""
        labels = self.evaluation.labels
        counted = self.evaluation.in_mean & labels.has_relevant
        if self.evaluation.conventions.missing == "skip":
            answered = np.bincount(self.handed["query"].to_numpy(), minlength=labels.query_count) > 0
            counted &= answered
        weights = self.evaluation.weights
        return counted if weights is None else counted & (weights > 0)

    def mean(self, values: Floats) -> float:
        """Of (Q,) values, over the queries that count."""
        weights, counted = self.evaluation.weights, self.counted
        return float(np.average(values[counted], weights=None if weights is None else weights[counted]))

    @cached_property
    def labels(self) -> pl.DataFrame:
        """query, document_id, relevance (0 or more), is_relevant of what was judged."""
        labels = self.evaluation.labels
        frame = pl.DataFrame(
            {
                "query": labels.query,
                "document_id": labels.document_ids,
                "relevance": labels.relevance,
                "is_relevant": labels.relevant,
            }
        )
        return frame.filter(pl.Series(labels.judged))

    @cached_property
    def opened(self) -> Unsettled:
        return unsettled(self.evaluation, list(self.evaluation.runs))

    def outside(self, k1: int, k: int) -> Integers:
        """(Q,) unlabelled documents of the pool at k that stage 1 lacks; kept, as every ranker asks."""
        if (k1, k) not in self._outside:
            handed = self.handed.filter(pl.col("place") <= k1)
            left = self.opened.up_to(k).join(handed, on=_PAIR, how="anti")
            self._outside[k1, k] = np.bincount(left["query"].to_numpy(), minlength=self.count)
        return self._outside[k1, k]

    @cached_property
    def best_gain(self) -> Floats:
        """(Q, C) the DCG of the best K of all labels."""
        labels = self.evaluation.labels
        return self.best(labels.query, labels.relevance, labels.relevant)

    def best(
        self, query: Integers, relevance: npt.NDArray[np.int32], relevant: npt.NDArray[np.bool_]
    ) -> Floats:
        """(Q, C) the DCG of the best K of some labelled pairs, whose queries rise."""
        queries, position, gain = Grades(query, relevance, relevant, self.count).ideal
        return self.discounted(queries, position, gain)

    def discounted(self, query: Integers, position: Integers, gain: Floats) -> Floats:
        """(Q, C) Σ gain / log2(position + 1) up to each K."""
        return sums_up_to(position, query, gain / np.log2(position + 1), self.cutoffs, query_count=self.count)

    @property
    def count(self) -> int:
        return self.evaluation.labels.query_count


def _of_run(stage: _Stage, name: str, wanted: Sequence[int]) -> dict[int, CeilingOfRun]:
    """One ranker at every K1."""
    deepest = int(stage.cutoffs[-1])
    ranked = _ordered(stage.evaluation, name, stage.evaluation.sources[name])
    by_depth = {}
    for k1 in wanted:
        handed = stage.handed.filter(pl.col("place") <= k1)
        order = handed.join(ranked, on=_PAIR, how="left").sort("query", "position", "place", nulls_last=True)
        order = order.with_columns(pl.int_range(1, pl.len() + 1).over("query").alias("position"))
        top = ranked.filter(pl.col("position") <= deepest)
        elsewhere = top.join(handed, on=_PAIR, how="anti").height
        by_depth[k1] = CeilingOfRun(_at_each_k(stage, order, k1), elsewhere)
    return by_depth


def _at_each_k(stage: _Stage, order: pl.DataFrame, k1: int) -> dict[int, CeilingAt]:
    """order: the k1 documents that stage 1 handed on, in the ranker's order."""
    labels = order.join(stage.labels, on=_PAIR, how="left", maintain_order="left")
    unjudged = labels.filter(pl.col("relevance").is_null())["query"].to_numpy()
    labelled = labels.filter(pl.col("relevance").is_not_null())
    query, position = labelled["query"].to_numpy(), labelled["position"].to_numpy()
    relevance, relevant = labelled["relevance"].to_numpy(), labelled["is_relevant"].to_numpy()
    ones = np.ones(int(relevant.sum()))
    hits = sums_up_to(position[relevant], query[relevant], ones, stage.cutoffs, query_count=stage.count)
    gained = stage.discounted(query, position, relevance.astype(np.float64))
    reachable = stage.best(query, relevance, relevant)
    handed = np.bincount(query[relevant], minlength=stage.count)
    inside = np.bincount(unjudged, minlength=stage.count)
    by_cutoff = {}
    for column, k in enumerate(stage.cutoffs.tolist()):
        counts = _Counts(stage.evaluation.labels.relevant_count, handed, inside, stage.outside(k1, k))
        recall = _recall(stage, counts, hits[:, column], k)
        best = np.maximum(stage.best_gain[:, column], np.finfo(float).tiny)
        mean, ceiling = (stage.mean(values[:, column] / best) for values in (gained, reachable))
        gain: GainCeiling = {"ceiling": ceiling, "found": mean, "lost": ceiling - mean, "missed": 1 - ceiling}
        by_cutoff[k] = CeilingAt(recall, gain)
    return by_cutoff


@dataclass(frozen=True)
class _Counts:
    """(Q,) documents per query: relevant in all, relevant and handed on, unjudged in and outside of that."""

    relevant: Integers
    handed: Integers
    inside: Integers
    outside: Integers


def _recall(stage: _Stage, counts: _Counts, hits: Floats, k: int) -> RecallCeiling:
    relevant = np.maximum(counts.relevant, 1)
    low, high = ceiling_bounds(
        k, counts.relevant, counts.handed, inside=counts.inside, outside=counts.outside
    )
    mean = stage.mean
    return {
        "ceiling": mean(np.minimum(k, counts.handed) / relevant),
        "found": mean(hits / relevant),
        "lost": mean((counts.handed - hits) / relevant),
        "missed": mean(1 - counts.handed / relevant),
        "best": mean(np.minimum(k, counts.relevant) / relevant),
        "low": mean(low),
        "high": mean(high),
    }


def ceiling_bounds(
    k: int, relevant: Integers, handed: Integers, *, inside: Integers, outside: Integers
) -> tuple[Floats, Floats]:
    """(Q,) least and largest ceiling of recall over all labels of the unjudged documents.

    relevant: labelled relevant, 1 or more; handed: those of them among stage 1's first K1. inside, outside:
    unjudged documents there and elsewhere in the pool. With j and o of these relevant the ceiling is
    min(K, handed + j) / (relevant + j + o): it falls with o, and rises with j until K places are full.

    >>> low, high = ceiling_bounds(
    ...     2, np.array([2]), np.array([1]), inside=np.array([3]), outside=np.array([1])
    ... )
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.333], [0.667])
    """

    def ceiling(j: Integers, o: Integers | int) -> Floats:
        ratio: Floats = np.minimum(k, handed + j) / np.maximum(relevant + j + o, 1)
        return ratio

    none = np.zeros_like(inside)
    low = np.minimum(ceiling(none, outside), ceiling(inside, outside))
    high = ceiling(np.minimum(np.maximum(k - handed, 0), inside), 0)
    return low, high
