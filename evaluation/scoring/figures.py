"""The plain values of an evaluation: what JSON and stored reports hold, under these keys.

Loads nothing heavy. None is what is undefined. A key that is only sometimes there is `NotRequired`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NotRequired, TypedDict, cast

from evaluation.measures import mlflow_name
from evaluation.measures.intervals import IntervalSettings
from pooling.heavy import Floats, pl


class Span(TypedDict):
    """An interval; what has one has more keys."""

    low: float | None
    high: float | None


class MeanSpan(Span):
    """A mean with its interval over queries."""

    mean: float | None


class MeanCount(TypedDict):
    """A mean, and over how many queries."""

    mean: float | None
    queries: int


class HeadlineEstimate(Span):
    """The estimate that people read first. average: `macro` where the mean over queries is defined, else
    `micro`; covers: the uncertainties that the interval is about, always both; queries: how many of the pool
    it rests on, and how many the pool has."""

    value: float | None
    average: str
    covers: str
    queries: NotRequired[list[int]]


class TieMeans(TypedDict):
    """The mean when equal scores stand in the worst, an average and the best order."""

    min: float | None
    expected: float | None
    max: float | None


class Figure(TypedDict):
    """A run's mean of one measure: `runs[name]["recall@10"]`.

    queries: in the mean. micro, bounds (least and largest), ties: of recall; ties only where equal scores can
    change it. estimate: of recall, where a pool with an audit is known. mean_of_retrieved: of judged.
    characters: mean length of the first K chunks, of measures over excerpts. line: the convention line, where
    a result is handed out.
    """

    mean: float | None
    low: float | None
    high: float | None
    queries: int
    micro: NotRequired[float | None]
    bounds: NotRequired[list[float | None]]
    ties: NotRequired[TieMeans]
    mean_of_retrieved: NotRequired[float | None]
    estimate: NotRequired[HeadlineEstimate | None]
    characters: NotRequired[float | None]
    line: NotRequired[str]


def mean_as_read(figure: MeanCount) -> float | None:
    """The mean on pages and in sentences: of judged the share of what was retrieved, since
    the empty places of a short list lack no label; of every other measure the mean itself."""
    return cast(Figure, figure).get("mean_of_retrieved", figure["mean"])  # other figures lack the key


def as_read(figure: Figure) -> Figure:
    """The figure with `mean_as_read`; without its interval where that is of another mean."""
    mean = mean_as_read(figure)
    return figure if mean == figure["mean"] else {**figure, "mean": mean, "low": None, "high": None}


# `measure@k`, or `measure` over the whole run, -> its figure.
RunFigures = Mapping[str, Figure]


def values_frame(
    query_ids: Sequence[str] | pl.Series, columns: Iterable[tuple[str, str, int | None, Floats]]
) -> pl.DataFrame:
    """Of runs, measures and K with (Q,) values: run, query_id, measure, k, value (null: NaN)."""
    return pl.concat(
        pl.DataFrame({"query_id": query_ids, "value": values}).select(
            pl.lit(run).alias("run"),
            "query_id",
            pl.lit(measure).alias("measure"),
            pl.lit(k, dtype=pl.Int64).alias("k"),
            pl.col("value").fill_nan(None),
        )
        for run, measure, k, values in columns
    )


#: Characters that no name of a metric may have.
NOT_OF_MLFLOW = re.compile(r"[^\w\-. :/]", re.ASCII)


def mlflow_runs(runs: Iterable[str], others: re.Pattern[str] = NOT_OF_MLFLOW) -> dict[str, str]:
    """Run -> a name that MLflow takes. Those of two runs differ, by a number if need be.

    others: the characters that become an underscore. MLflow takes a colon, but on Windows.

    >>> mlflow_runs(["a|b", "a,b", "..", "team/.c"])
    {'a|b': 'a_b', 'a,b': 'a_b_2', '..': 'run', 'team/.c': 'team/.c'}
    """
    names: dict[str, str] = {}
    for run in runs:
        plain = others.sub("_", run)
        plain = plain if plain.strip(" ./") else "run"
        numbered = (plain if number == 1 else f"{plain}_{number}" for number in count(1))
        names[run] = next(name for name in numbered if name not in names.values())
    return names


def mlflow_metrics(
    runs: Mapping[str, Mapping[str, MeanSpan]],
    names: Mapping[str, str] | None = None,
    *,
    separator: str = "/",
) -> dict[str, float]:
    """Input of `mlflow.log_metrics`: `recall_at_10`, with the ends of its interval as `recall_at_10_low` and
    `_high`. Of several runs each name begins with the run: `bm25/recall_at_10`. What is undefined is left
    out.

    names: of `mlflow_runs`."""
    names = names or mlflow_runs(runs)
    metrics: dict[str, float | None] = {}
    for run, figures in runs.items():
        prefix = f"{names[run]}{separator}" if len(runs) > 1 else ""
        for key, figure in figures.items():
            measure, _, k = key.partition("@")  # a key, whatever it is a measure of
            name = prefix + mlflow_name(measure, int(k) if k else None)
            metrics |= {name: figure["mean"], f"{name}_low": figure["low"], f"{name}_high": figure["high"]}
    return {name: value for name, value in metrics.items() if value is not None}


class SummaryRow(TypedDict):
    """One row of the summary: a run, a measure and a K (None: over the whole run)."""

    run: str
    measure: str
    k: int | None
    mean: float | None
    low: float | None
    high: float | None
    micro: float | None
    lower_bound: float | None
    upper_bound: float | None
    tie_min: float | None
    tie_expected: float | None
    tie_max: float | None
    queries: int
    characters: NotRequired[float | None]


class StratumRow(SummaryRow):
    """A summary over the queries with one tag."""

    tag: str


class PlainConventions(TypedDict):
    """The fields of `Conventions`."""

    min_relevance: int
    zero_relevant: str
    missing: str
    ties: str
    scores: str
    negative: NotRequired[str]
    drop_query_document: NotRequired[bool]


class WeightedHow(TypedDict):
    """Weights of means. target: `traffic`, `queries`, or `none` where each drawn query counts once and speaks
    for itself alone. words: for the convention line. effective: queries of equal weight that would be
    worth as much. speaks_for: the share of the log's traffic that the queries with a value stand for, or of
    the distinct queries that could be drawn. unlabelled: drawn queries without labels. strangers: labelled
    queries outside the draw, in no mean."""

    target: str
    window: str
    age_days: int | None
    words: str
    drawn: int
    effective: float
    speaks_for: float
    dropped: int
    unlabelled: int
    strangers: int


class DuplicatesHow(TypedDict):
    """Near-identical documents: what counts of them (`documents`, `groups`, `deduplicated`), the file that
    names them, its groups and their documents, and the convention in words."""

    count: str
    file: str
    groups: int
    documents: int
    words: str


class MeasuredHow(TypedDict):
    """Intervals and bounds: the pool in words; how chunks became documents, if they did; what counts of
    near-identical documents, if they are named; by whose declaration the labels are complete, if they are;
    and how means were taken back to a log."""

    interval: IntervalSettings
    pool: str
    complete: NotRequired[str]
    chunks: NotRequired[Mapping[str, Any]]
    duplicates: NotRequired[DuplicatesHow]
    weights: NotRequired[WeightedHow]


class EvaluatedHow(PlainConventions, MeasuredHow):
    """All that the numbers of an evaluation depend on apart from qrels and runs."""

    k: list[int]
    measures: list[str]


class QueryCounts(TypedDict):
    """Numbers of queries with labels and in the means, and which not; `missing` and `unknown` by run."""

    labelled: int
    scored: int
    without_relevant: int
    missing: dict[str, int]
    unknown: dict[str, int]
    without_relevant_ids: Sequence[str]
    missing_ids: dict[str, Sequence[str]]


class StratumCounts(TypedDict):
    """Numbers of queries with a tag, of the labelled ones."""

    labelled: int
    scored: int
    without_relevant: int


class StratumResult(TypedDict):
    """The queries with one tag, and the figures over them by run."""

    queries: StratumCounts
    runs: Mapping[str, RunFigures]


class ThresholdResult(TypedDict):
    """The least mean, the runs that are below it, and what the means rest on: `labels` at hand, or `complete`
    ones; nothing in a comparison with an exact run."""

    at_least: float
    below: list[str]
    basis: NotRequired[str]


class SpanCounts(TypedDict):
    """Queries with excerpts, their excerpts, and the characters of these, each counted once."""

    queries: int
    excerpts: int
    characters: int


class SpansMeasuredHow(TypedDict):
    """All that figures over excerpts depend on apart from excerpts, map and runs, which are named."""

    spans: str
    chunk_map: str
    missing: str
    ties: str
    scores: str
    interval: IntervalSettings


class SpanResult(TypedDict):
    """Key `spans` of `evaluate --spans --format json`, next to the figures of each run."""

    conventions: SpansMeasuredHow
    counts: SpanCounts


class SpanFigures(SpanResult):
    """The same with the figures: run -> measure at K."""

    runs: dict[str, dict[str, Figure]]


class Extras(TypedDict, total=False):
    """Results on thresholds, the minimum of queries, tags and excerpts, where they were asked for."""

    thresholds: dict[str, ThresholdResult]
    minimum_queries: int
    warnings: list[str]
    strata: dict[str, StratumResult]
    spans: SpanResult


class EvaluationResult(Extras):
    """The object of `evaluate --format json`, without the parts that are asked for separately."""

    conventions: EvaluatedHow
    queries: QueryCounts
    runs: dict[str, dict[str, Figure]]
