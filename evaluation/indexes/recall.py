"""Recall of approximate runs against an exact one: how much of its first K they have in their own first K.

There are no labels: the truth is the exact run's list, another one for each K. A pair is found at K when both
runs have it within their first K, so one number per pair, the worse of its two places, serves every K.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NotRequired, TypedDict

from evaluation.measures import Floats, Integers, key_of, split_name
from evaluation.measures.intervals import (
    BOOTSTRAP_SAMPLES,
    LEVEL,
    IntervalSettings,
    interval_settings,
    mean_intervals,
)
from evaluation.measures.significance import plain
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.figures import TieMeans
from evaluation.scoring.inputs import collapsed_sources, cutoffs_array, map_run, only_queries
from evaluation.scoring.scoring import Labels, arrange_run, count_up_to, find_pairs, label_pairs
from pooling.formats.parts import PlainRows
from pooling.heavy import np, npt, pl
from pooling.inputs.given import Runs, RunSource
from pooling.inputs.reading import named_runs, run_frame
from pooling.ranking.chunks import Chunks
from pooling.ranking.ranking import compared_scores, order_run
from pooling.ranking.shared_ids import COLLAPSE, Side, no_query_in_common, sentence_on

DEFAULT_CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
PERCENTILES = (1, 5, 50)


@dataclass(frozen=True)
class ExactTop:
    """The head of the exact run: its first documents, and those that share the score of the last of them.

    pairs: those documents as if they were labels, (n,) by query and place. place: (n,) 1-based. first, last:
    (n,) the places of the documents of equal score. depth: (Q,) documents of each query in the whole run.
    """

    name: str
    pairs: Labels
    place: Integers
    first: Integers
    last: Integers
    depth: Integers

    def wanted(self, cutoffs: Integers) -> Integers:
        """(Q, C) documents that a run can find at each cutoff."""
        return np.minimum(self.depth[:, None], cutoffs)


class AgainstFigure(TypedDict):
    """Recall of one run at one K: its mean, and the tail over queries (percentile -> value).

    ties: where the order of exact documents of equal score could change the mean. line: the convention line,
    where a result is handed out.
    """

    mean: float | None
    low: float | None
    high: float | None
    queries: int
    micro: float | None
    min: float | None
    percentiles: dict[str, float | None]
    ties: NotRequired[TieMeans]
    line: NotRequired[str]


class AgainstSettings(TypedDict):
    interval: IntervalSettings
    chunks: NotRequired[Mapping[str, Any]]


@dataclass(frozen=True)
class RunAgainstExact:
    """One run against the exact one: (Q, C) recall by query and cutoff, NaN where the query does not count.

    least, expected, most: (Q, C) recall over all orders of the exact run's documents that tie across K.
    depth: (Q,) documents of the run. unknown: its queries that the exact run does not have.
    """

    name: str
    values: Floats
    least: Floats
    expected: Floats
    most: Floats
    hits: Integers
    counted: npt.NDArray[np.bool_]
    depth: Integers
    unknown: int
    figures: Mapping[str, AgainstFigure]


@dataclass(frozen=True)
class AgainstExact:
    """Approximate runs against the exact one. Made by `recall_against`.

    cutoffs: (C,). exact: its head. settings: how the intervals were made, and of the chunks. thresholds:
    {"recall@10": 0.95}. notes: what the readers of files noticed.
    """

    conventions: Conventions
    cutoffs: Integers
    exact: ExactTop
    runs: Mapping[str, RunAgainstExact]
    settings: AgainstSettings
    thresholds: Mapping[str, float]
    notes: tuple[str, ...]

    @property
    def confidence(self) -> float:
        return self.settings["interval"]["level"]

    @property
    def chunks(self) -> str:
        """In words; empty where there were none."""
        return str(self.settings.get("chunks", {}).get("words", ""))

    @cached_property
    def query_ids(self) -> list[str]:
        """(Q,) in bytewise order."""
        return list(self.exact.pairs.query_ids.to_list())

    def short_lists(self, run: str, k: int) -> dict[str, int]:
        """Run or exact run -> queries with fewer than k documents among those answered; empty without any."""
        depth = self.runs[run].depth
        counted = {self.exact.name: self.exact.depth < k, run: (depth > 0) & (depth < k)}
        return {name: int(short.sum()) for name, short in counted.items() if short.any()}

    def figure(self, run: str, k: int) -> AgainstFigure:
        return self.runs[run].figures[key_of("recall", k)]

    def per_query_frame(self) -> pl.DataFrame:
        """run, query_id, measure, k, value (null where the query does not count)."""
        queries, cutoffs = len(self.query_ids), len(self.cutoffs)
        parts = [
            pl.DataFrame(
                {
                    "run": [name] * (queries * cutoffs),
                    "query_id": np.repeat(np.array(self.query_ids, dtype=object), cutoffs).tolist(),
                    "measure": ["recall"] * (queries * cutoffs),
                    "k": np.tile(self.cutoffs, queries),
                    "value": run.values.ravel(),
                }
            )
            for name, run in self.runs.items()
        ]
        return pl.concat(parts).with_columns(pl.col("value").fill_nan(None))


def recall_against(
    exact: RunSource,
    runs: Runs,
    k: int | Iterable[int] = DEFAULT_CUTOFFS,
    conventions: Conventions | None = None,
    *,
    exact_name: str = "exact",
    bootstrap_samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
    confidence: float = LEVEL,
    queries: Collection[str] | None = None,
    thresholds: Mapping[str, float] | None = None,
    chunks: Chunks | None = None,
) -> AgainstExact:
    """Recall@K of each run against the exact one: |its first K ∩ the exact run's first K| / |the latter|.

    exact, runs: as in `evaluation.evaluate`. Both are put in the order of `conventions` (`ties`, `scores`);
    `missing` says whether a query that a run does not answer counts 0 or is left out. Where exact documents
    tie across K, the mean is by that order, and `ties` of a figure has the least, the expected and the
    greatest mean over all orders of the tie; the greatest is what counts a result as right when its distance
    is no worse than the K-th (Aumüller, Bernhardsson and Faithfull, ANN-Benchmarks, 2020). thresholds:
    {"recall@10": 0.95}, each measured whether its K is named or not. queries: only these.
    ValueError for runs without a query in common with the exact one.

    >>> found = recall_against({"q": {"a": 3.0, "b": 2.0}}, {"hnsw": {"q": {"a": 9.0, "x": 8.0}}}, k=2)
    >>> found.figure("hnsw", 2)["mean"]
    0.5
    """
    conventions = conventions or Conventions()
    thresholds = dict(thresholds or {})
    cutoffs = cutoffs_array([*cutoffs_array(k).tolist(), *(_recall_cutoff(name) for name in thresholds)])
    notes: list[str] = []
    sources, exact_source = named_runs(runs), exact
    if chunks is not None:
        sources = collapsed_sources(sources, chunks, conventions, notes=notes, cutoffs=cutoffs.tolist())
        of_exact = collapsed_sources(
            {exact_name: exact}, chunks, conventions, notes=notes, cutoffs=cutoffs.tolist()
        )
        exact_source = of_exact[exact_name]
    with_rank = conventions.ties == "rank"
    frame = only_queries(run_frame(exact_name, exact_source, notes, with_rank=with_rank), queries)
    if frame.is_empty():
        raise ValueError(f"No query of the exact run {exact_name} is left; check it, and the queries chosen.")
    top = exact_top(exact_name, frame, int(cutoffs[-1]), conventions)
    interval = interval_settings(top.pairs.query_count, bootstrap_samples, seed, confidence)
    finder = _Finder(top, cutoffs, conventions, queries)
    by_run = {}
    for name, source in sources.items():
        one = finder.run(name, source, notes)
        if one.unknown and not one.depth.any() and queries is None:
            ids = run_frame(name, source)["query_id"]
            raise no_query_in_common(name, ids, exact_name, top.pairs.query_ids)
        if not np.nansum(one.hits):
            documents = Side(f"documents of run {name}", run_frame(name, source)["document_id"])
            of_exact_run = Side(f"first documents of {exact_name}", top.pairs.document_ids)
            notes.append(sentence_on(documents, of_exact_run, chunks=COLLAPSE))
        by_run[name] = _with_figures(one, top, cutoffs, interval)
    settings: AgainstSettings = {"interval": interval}
    if chunks is not None:
        settings["chunks"] = chunks.to_dict()
    return AgainstExact(conventions, cutoffs, top, by_run, settings, thresholds, tuple(dict.fromkeys(notes)))


def _recall_cutoff(name: str) -> int:
    measure, k = split_name(name)
    if measure != "recall" or k is None:
        raise ValueError(f"Against a run only recall at a K is measured, not {name}; write recall@10.")
    return k


def exact_top(name: str, frame: pl.DataFrame, deepest: int, conventions: Conventions) -> ExactTop:
    """The first `deepest` documents of each query of a run frame, and what ties with the last of them."""
    ordered = order_run(frame, ties=conventions.ties, scores=conventions.scores)
    ordered = ordered.with_columns(compared_scores(ordered, conventions.scores).alias("_score"))
    place, head = pl.col("position").cast(pl.Int64), (pl.col("position") <= deepest)
    if conventions.ties == "rank":  # ranks are an order without ties
        last, first, kept = place, place, head
    else:
        group = ["query_id", "_score"]
        first, last = place.min().over(group), place.max().over(group)
        kept = first <= deepest
    depth = ordered.group_by("query_id").len().sort("query_id")["len"].to_numpy().astype(np.int64)
    top = (
        ordered.with_columns(place.alias("place"), first.alias("first"), last.alias("last"))
        .filter(kept)
        .sort("query_id", "place")
        .with_columns(pl.lit(1, dtype=pl.Int32).alias("relevance"))
    )
    pairs = label_pairs(top.select("query_id", "document_id", "relevance"))
    places, firsts, lasts = (top[name].to_numpy().astype(np.int64) for name in ("place", "first", "last"))
    return ExactTop(name, pairs, places, firsts, lasts, depth)


@dataclass(frozen=True)
class _Part:
    """Of some whole queries of a run: (q,) the exact run's queries and their depth, (m,) pairs and places."""

    query: Integers
    depth: Integers
    pair: Integers
    position: Integers
    unknown: int


@dataclass(frozen=True)
class _Finder:
    top: ExactTop
    cutoffs: Integers
    conventions: Conventions
    queries: Collection[str] | None

    def run(self, name: str, source: RunSource, notes: list[str]) -> RunAgainstExact:
        """One run, still without the figures of its means."""
        top, conventions = self.top, self.conventions
        top.pairs.prepare()
        parts = map_run(name, source, self._part, notes, with_rank=conventions.ties == "rank")
        depth = np.zeros(top.pairs.query_count, dtype=np.int64)
        position = np.zeros(len(top.place), dtype=np.int64)
        for part in parts:
            depth[part.query] = part.depth
            position[part.pair] = part.position
        counted = depth > 0 if conventions.missing == "skip" else np.ones(len(depth), dtype=bool)
        hits, least, expected, most = hits_at(top, position, self.cutoffs)
        wanted = top.wanted(self.cutoffs)

        def recall(counts: npt.NDArray[Any]) -> Floats:
            values: Floats = counts / wanted
            values[~counted] = np.nan
            return values

        of_hits, of_least, of_expected, of_most = (recall(counts) for counts in (hits, least, expected, most))
        unknown = sum(part.unknown for part in parts)
        return RunAgainstExact(
            name, of_hits, of_least, of_expected, of_most, hits, counted, depth, unknown, {}
        )

    def _part(self, rows: pl.DataFrame | PlainRows) -> _Part:
        run = arrange_run(only_queries(rows, self.queries), self.top.pairs, self.conventions)
        places, is_counted = find_pairs(run, self.top.pairs), run.query >= 0
        unknown = int(np.count_nonzero(~is_counted))
        return _Part(run.query[is_counted], run.depth[is_counted], places.pair, places.position, unknown)


def hits_at(top: ExactTop, position: Integers, cutoffs: Integers) -> tuple[Integers, Floats, Floats, Floats]:
    """(Q, C) pairs within both first K: by the exact run's order, and least, expected and most over its ties.

    position: (n,) place of each exact pair in the run, 0 where it has none. Of g exact documents of one
    score m are within K and r are in the run's first K: the hits among them lie between max(0, m - (g - r))
    and min(m, r), with m · r / g as their expectation.
    """
    query, count = top.pairs.query, top.pairs.query_count
    both = np.maximum(top.place, position)
    retrieved = position > 0
    hits = count_up_to(both[retrieved], query[retrieved], cutoffs, count)
    least, expected, most = (hits.astype(np.float64) for _ in range(3))
    starts = top.pairs.first[:-1]
    for column, k in enumerate(cutoffs.tolist()):
        # The row at K of the queries in which the tie there goes on beyond it.
        rows = np.flatnonzero((top.place == k) & (top.last > k))
        if not len(rows):
            continue
        of = query[rows]
        above = np.concatenate(([0], np.cumsum(retrieved & (position <= k))))
        begin, end = starts[of] + top.first[rows] - 1, starts[of] + top.last[rows]
        certain, tied = above[begin] - above[starts[of]], above[end] - above[begin]
        places, size = k - top.first[rows] + 1, end - begin
        least[of, column] = certain + np.maximum(0, places - (size - tied))
        expected[of, column] = certain + places * tied / size
        most[of, column] = certain + np.minimum(places, tied)
    return hits, least, expected, most


def _with_figures(
    run: RunAgainstExact, top: ExactTop, cutoffs: Integers, interval: IntervalSettings
) -> RunAgainstExact:
    samples, seed, level = interval["samples"], interval["seed"], interval["level"]
    low, high = mean_intervals(run.values, samples=samples, seed=seed, level=level)
    counted, wanted = run.counted, top.wanted(cutoffs)
    figures: dict[str, AgainstFigure] = {}
    for column, k in enumerate(cutoffs.tolist()):
        values = run.values[counted, column]
        sums = wanted[counted, column].sum()
        figure: AgainstFigure = {
            "mean": plain(values.mean() if len(values) else np.nan),
            "low": plain(low[column]),
            "high": plain(high[column]),
            "queries": len(values),
            "micro": plain(run.hits[counted, column].sum() / sums if sums else np.nan),
            "min": plain(values.min() if len(values) else np.nan),
            "percentiles": {str(p): plain(percentile(values, p)) for p in PERCENTILES},
        }
        if bool((run.least[counted, column] < run.most[counted, column]).any()):
            least, expected, most = (
                float(side[counted, column].mean()) for side in (run.least, run.expected, run.most)
            )
            figure["ties"] = {"min": least, "expected": expected, "max": most}
        figures[key_of("recall", k)] = figure
    return replace(run, figures=figures)


def percentile(values: Floats, percent: float) -> float:
    """The least value that at least `percent` % of the values do not exceed; NaN without a value.

    >>> percentile(np.array([0.2, 0.4, 0.6, 0.8]), 50)
    0.4
    """
    if not len(values):
        return float("nan")
    return float(np.percentile(values, percent, method="inverted_cdf"))
