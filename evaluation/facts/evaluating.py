"""`evaluate_facts`: facts × runs to figures. The rules about queries are applied here, and only here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from evaluation.facts.measures import FACT_MEASURES, Counting, fact_count, recall_bounds
from evaluation.facts.results import NEED_PAIRS, FactConventions, FactEvaluation, FactFigure, QueryValues
from evaluation.facts.table import (
    FactTable,
    RunPlaces,
    fact_table,
    pooled_strangers,
    run_places,
    strangers_outside,
)
from evaluation.measures import key_of
from evaluation.measures.intervals import (
    BOOTSTRAP_SAMPLES,
    LEVEL,
    IntervalSettings,
    interval_settings,
    mean_intervals,
)
from evaluation.measures.significance import plain, plain_mean
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.inputs import cutoffs_array
from pooling.formats.facts.records import FactRecord, SupportRecord, support_frame
from pooling.heavy import Floats, Integers, np, npt, pl
from pooling.inputs.given import Runs, Source
from pooling.inputs.reading import named_runs, pool_frame, run_frame
from pooling.ranking.ranking import order_run
from pooling.ranking.shared_ids import no_query_in_common

Key = tuple[str, int | None]


def evaluate_facts(
    facts: Iterable[FactRecord],
    supports: Iterable[SupportRecord] | pl.DataFrame,
    runs: Runs,
    keys: Sequence[Key],
    *,
    conventions: FactConventions | None = None,
    order: Conventions | None = None,
    queries: Collection[str] | None = None,
    pool: Source | None = None,
    labels: pl.DataFrame | None = None,
    bootstrap_samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
    confidence: float = LEVEL,
    notes: Sequence[str] = (),
) -> FactEvaluation:
    """Which facts of each query the first K documents of each run hold.

    - `facts`, `supports`: as `pooling.formats.facts.reading` reads them; supports also one by one.
    - `runs`: as `evaluate` takes them.
    - `keys`: names of `FACT_MEASURES` with their K, None for those over the whole run.
    - `conventions`: which facts count, and out of which.
    - `order`: how a run is ordered, and what becomes of queries that it lacks (0, or left out) and of queries
      without a fact (left out and counted, or 0 with `zero_relevant="zero"`).
    - `pool`: a frame or file (query_id, document_id) of documents that could support facts; without one the
      first K of all runs. The documents of `supports` belong to it in any case.
    - `labels`: query_id, document_id, relevance: a document of relevance 0 supports nothing where nobody
      looked.
    - `notes`: what the readers of the files said, kept with the result.

    Means are over queries. The intervals cover the choice of queries, the bounds what nobody judged. Raises
    ValueError (FormatError for files) for input that has no one meaning.

    >>> facts = [FactRecord("q", "f1"), FactRecord("q", "f2")]
    >>> supports = [SupportRecord("q", one, "a", float(one == "f1")) for one in ("f1", "f2")]
    >>> result = evaluate_facts(facts, supports, {"bm25": {"q": ["a", "x"]}}, [("fact_recall", 2)])
    >>> figure = result.runs["bm25"]["fact_recall@2"]
    >>> figure["mean"], figure["bound_low"], figure["bound_high"]
    (0.5, 0.5, 1.0)
    """
    conventions, order = conventions or FactConventions(), order or Conventions()
    if not isinstance(supports, pl.DataFrame):
        supports = support_frame(supports)
    table = fact_table(facts, supports, importance=conventions.importance, queries=queries, labels=labels)
    how = HowMeasured(
        conventions, order, interval_settings(len(table.query_ids), bootstrap_samples, seed, confidence)
    )
    placed = placed_runs(table, _ordered(runs, order), keys, may_lack=queries is not None)
    return replace(evaluate_table(table, placed, keys, how, pool=pool), notes=tuple(notes))


class HowMeasured(NamedTuple):
    conventions: FactConventions
    order: Conventions
    intervals: IntervalSettings


def _ordered(runs: Runs, order: Conventions) -> Iterator[tuple[str, pl.DataFrame]]:
    for name, source in named_runs(runs).items():
        frame = run_frame(name, source, with_rank=order.ties == "rank")
        yield name, order_run(frame, ties=order.ties, scores=order.scores)


def placed_runs(
    table: FactTable,
    ordered: Iterable[tuple[str, pl.DataFrame]],
    keys: Sequence[Key],
    *,
    may_lack: bool = False,
) -> dict[str, RunPlaces]:
    """Places of the table's documents in runs, ordered by `order_run`; may_lack: all of a run's queries."""
    if not table.query_ids:
        raise ValueError("No query with facts is left to score; check the facts, and the queries chosen.")
    deepest, placed = int(_cutoffs(keys)[-1]), {}
    for name, frame in ordered:
        placed[name] = places = run_places(table, frame, deepest)
        if places.unknown and not places.depth.any() and not may_lack:
            raise no_query_in_common(name, frame["query_id"], "the facts", pl.Series(table.query_ids))
    return placed


def _cutoffs(keys: Sequence[Key]) -> Integers:
    return cutoffs_array([k for _, k in keys if k is not None] or [1])


def evaluate_table(
    table: FactTable,
    placed: Mapping[str, RunPlaces],
    keys: Sequence[Key],
    how: HowMeasured,
    *,
    pool: Source | None = None,
) -> FactEvaluation:
    """`evaluate_facts` for facts and supports as a table, and runs as `placed_runs` gives them."""
    conventions, order, made = how
    cutoffs = _cutoffs(keys)
    pooled = pooled_strangers(table, placed.values(), pool_frame(pool))
    counts = np.array([fact_count(one, conventions.counting) for one in table.queries])
    unjudged = np.array([one.fact_count > 0 and not one.is_judged.any() for one in table.queries])
    scope = _Scope(table, keys, cutoffs, conventions, counts, unjudged, order)
    worked, missing = {}, {}
    for name, places in placed.items():
        worked[name] = _worked(scope, places, strangers_outside(table, pooled, places, cutoffs))
        lacking = (places.depth == 0) & (counts > 0) & ~unjudged
        missing[name] = int(np.count_nonzero(lacking)), places.unknown
    return FactEvaluation(
        conventions,
        order,
        cutoffs.tolist(),
        tuple(keys),
        table,
        counts,
        _figures(scope, worked, made),
        {name: one.values for name, one in worked.items()},
        made,
        missing,
        placed,
        int(np.count_nonzero(unjudged)),
    )


@dataclass(frozen=True)
class _Scope:
    """What is the same for every run. counts: (Q,) the facts in each query's denominator. unjudged: (Q,) the
    queries with facts of which nobody judged a pair; they say nothing of a run."""

    table: FactTable
    keys: Sequence[Key]
    cutoffs: Integers
    conventions: FactConventions
    counts: Integers
    unjudged: npt.NDArray[np.bool_]
    order: Conventions

    @property
    def counting(self) -> Counting:
        return self.conventions.counting

    def column(self, k: int | None) -> int:
        return 0 if k is None else int(np.searchsorted(self.cutoffs, k))

    def kept(self, places: RunPlaces) -> npt.NDArray[np.bool_]:
        """(Q,) the queries in the means of a run."""
        kept = ((self.counts > 0) | (self.order.zero_relevant == "zero")) & ~self.unjudged
        return kept & (places.depth > 0) if self.order.missing == "skip" else kept


class _Worked(NamedTuple):
    """(Q, C) values by measure, NaN where a query does not count; bounds of fact recall; hits, (Q, C) facts
    held; judged, (Q, C, 3) pairs in the first K: judged, decided, all."""

    values: QueryValues
    low: Floats
    high: Floats
    hits: Floats
    judged: Floats


def _worked(scope: _Scope, places: RunPlaces, outside: Integers) -> _Worked:
    shape = (len(scope.table.query_ids), len(scope.cutoffs))
    values = {name: np.full(shape, np.nan) for name in dict.fromkeys(name for name, _ in scope.keys)}
    low, high, hits, judged = (np.full(shape, np.nan) for _ in range(4))
    decided, every = np.full(shape, np.nan), np.full(shape, np.nan)
    kept = scope.kept(places)
    for query in np.flatnonzero(kept).tolist():
        run = places.retrieved(scope.table, query, scope.cutoffs)
        for name, column in values.items():
            column[query] = FACT_MEASURES[name].function(run, scope.counting)
        low[query], high[query] = recall_bounds(run, scope.counting, outside[query])
        hits[query] = run.shares(partial=scope.counting.partial).sum(axis=1)
        judged[query], decided[query], every[query] = run.judged_pairs()
    for name, column in values.items():
        if name != "redundancy":  # which stays undefined where nothing is supported
            column[kept] = np.nan_to_num(column[kept])
    low[kept], high[kept] = np.nan_to_num(low[kept]), np.nan_to_num(high[kept])
    return _Worked(values, low, high, hits, np.stack([judged, decided, every], axis=2))


def _figures(
    scope: _Scope, worked: Mapping[str, _Worked], made: IntervalSettings
) -> dict[str, dict[str, FactFigure]]:
    # Every column meets the same resamples of the queries, so they are drawn once for all runs.
    tables = [_columns(scope, one) for one in worked.values()]
    limits = mean_intervals(
        np.concatenate(tables, axis=1), samples=made["samples"], seed=made["seed"], level=made["level"]
    )
    width = len(scope.keys)
    figures = {}
    for number, (name, one) in enumerate(worked.items()):
        low, high = (side[number * width : (number + 1) * width] for side in limits)
        figures[name] = _of_run(scope, one, tables[number], (low, high))
    return figures


def _columns(scope: _Scope, worked: _Worked) -> Floats:
    """(Q, keys) the values of a run; NaN for a measure that needs more judged pairs than there are."""
    columns = [worked.values[name][:, scope.column(k)] for name, k in scope.keys]
    table = np.stack(columns, axis=1)
    for place, (name, k) in enumerate(scope.keys):
        if name in NEED_PAIRS and k is not None:
            # A pair that nobody judged would count as no support, which moves these both ways.
            _, decided, every = np.nansum(worked.judged[:, scope.column(k)], axis=0)
            if decided < scope.conventions.least_judged * every:
                table[:, place] = np.nan
    return table


def _of_run(
    scope: _Scope, worked: _Worked, table: Floats, limits: tuple[Floats, Floats]
) -> dict[str, FactFigure]:
    figures: dict[str, FactFigure] = {}
    for place, (name, k) in enumerate(scope.keys):
        column = table[:, place]
        figure: FactFigure = {
            "mean": plain_mean(column),
            "low": plain(limits[0][place]),
            "high": plain(limits[1][place]),
            "queries": int(np.count_nonzero(~np.isnan(column))),
        }
        if k is not None:
            at = scope.column(k)
            if name == "fact_recall":
                hits, counted = worked.hits[:, at], ~np.isnan(column)
                below = int(scope.counts[counted].sum())
                figure["micro"] = float(hits[counted].sum()) / below if below else None
                figure["bound_low"] = plain_mean(worked.low[:, at])
                figure["bound_high"] = plain_mean(worked.high[:, at])
            judged, decided, every = np.nansum(worked.judged[:, at], axis=0)
            figure["judged_pairs"] = float(judged / every) if every else None
            figure["decided_pairs"] = float(decided / every) if every else None
        figures[key_of(name, k)] = figure
    return figures
