"""One measure by groups of queries, with what a mean hides. No Django here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from evaluation.failures.query_groups import Group, Grouping
from evaluation.measures import Floats, Integers
from evaluation.measures.intervals import (
    FEWEST_QUERIES,
    LARGEST_RESAMPLED,
    IntervalSettings,
    Resampling,
    interval_settings,
    mean_intervals,
)
from evaluation.measures.significance import plain
from pooling.formats.parts import in_threads
from pooling.heavy import np, npt, pd

PERCENTILES = (10, 25, 50, 75, 90)
THRESHOLD = 0.5
# Below this many queries a percentile would pretend.
SMALL = 5
# A value that was computed in another order may miss a threshold by its last digit.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Values:
    """One measure at one K: (Q, R) `table`, a row per query and a column per run, NaN where a query does not
    count; (Q,) `weights`, NaN where nothing is known."""

    measure: str
    k: int | None
    query_ids: tuple[str, ...]
    runs: tuple[str, ...]
    table: Floats
    weights: Floats


@dataclass(frozen=True)
class WeightedMean:
    """Σwx / Σw over the n queries that count and have a weight."""

    n: int
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class GroupFigures:
    """One run on one group: over the n queries that count. What is undefined is None; a small group (n < 5)
    has no percentiles, one of fewer than ten queries no interval. share_zero, share_reaching: of the queries
    with the value 0, and with one of at least the threshold."""

    n: int
    mean: float | None
    low: float | None
    high: float | None
    percentiles: Mapping[int, float | None]
    share_zero: float | None
    share_reaching: float | None
    weighted: WeightedMean | None

    @property
    def is_small(self) -> bool:
        """Too few queries for percentiles."""
        return self.n < SMALL


class WeightedResult(TypedDict):
    """Σwx / Σw over the n queries that count and have a weight."""

    n: int
    mean: float
    low: float | None
    high: float | None


class GroupResult(TypedDict):
    """One run on one group; undefined is null."""

    n: Annotated[int, "Queries that count."]
    small: Annotated[bool, "n < 5: no percentiles; below 10 no interval."]
    mean: Annotated[float | None, "Every query counts once."]
    low: Annotated[float | None, "Interval over queries."]
    high: float | None
    percentiles: dict[str, float | None]
    share_zero: float | None
    share_reaching: Annotated[float | None, "With at least the threshold."]
    weighted: Annotated[WeightedResult | None, "Queries count as often as they are asked."]


class BrokenGroupResult(TypedDict):
    """A group of queries with the figures of each run, by its name."""

    group: str | None
    kind: Annotated[str, Literal["all", "group", "none"], "All queries, a group, or those in none."]
    queries: int
    runs: dict[str, GroupResult]


class BreakdownResult(TypedDict):
    """A measure by groups of queries, all queries first."""

    by: str
    title: str
    overlapping: Annotated[bool, "A query may be in several groups."]
    measure: str
    k: int | None
    threshold: float
    interval: Annotated[IntervalSettings, dict[str, Any], "level, method, samples, seed."]
    weighted: Annotated[bool, "Whether any query has a weight."]
    without_weight_ids: list[str]
    groups: list[BrokenGroupResult]


class BreakdownRow(TypedDict):
    """One run on one group, flat: `p10` and so on are percentiles; queries: those that count."""

    by: str
    group: str | None
    kind: str
    run: str
    measure: str
    k: int | None
    group_queries: int
    queries: int
    small: bool
    mean: float | None
    low: float | None
    high: float | None
    p10: float | None
    p25: float | None
    p50: float | None
    p75: float | None
    p90: float | None
    share_zero: float | None
    threshold: float
    share_reaching: float | None
    weighted_n: int | None
    weighted_mean: float | None
    weighted_low: float | None
    weighted_high: float | None


@dataclass(frozen=True)
class BrokenGroup:
    group: Group
    runs: Mapping[str, GroupFigures]

    @property
    def mean(self) -> float | None:
        """The mean over its runs, by which groups are ordered."""
        means = [figures.mean for figures in self.runs.values() if figures.mean is not None]
        return sum(means) / len(means) if means else None

    @property
    def n(self) -> int:
        """The most queries that count for a run."""
        return max((figures.n for figures in self.runs.values()), default=0)


@dataclass(frozen=True)
class Breakdown:
    """A measure by groups of queries.

    interval: how the intervals were made. groups: all queries first. without_weight: the queries that have
    none, where others have one. waits: the intervals of its groups are still to be drawn.
    """

    grouping: Grouping
    measure: str
    k: int | None
    threshold: float
    interval: IntervalSettings
    groups: tuple[BrokenGroup, ...]
    without_weight: tuple[str, ...]
    is_weighted: bool
    waits: bool = False

    def to_dict(self) -> BreakdownResult:
        """Plain values; undefined is None."""
        return {
            "by": self.grouping.by,
            "title": self.grouping.title,
            "overlapping": self.grouping.overlapping,
            "measure": self.measure,
            "k": self.k,
            "threshold": self.threshold,
            "interval": self.interval,
            "weighted": self.is_weighted,
            "without_weight_ids": list(self.without_weight),
            "groups": [
                {
                    "group": one.group.name,
                    "kind": one.group.kind,
                    "queries": len(one.group.query_ids),
                    "runs": {run: _plain_figures(figures) for run, figures in one.runs.items()},
                }
                for one in self.groups
            ],
        }

    def rows(self) -> list[BreakdownRow]:
        """One flat row per group and run."""
        return [
            self._row(one.group, run, figures) for one in self.groups for run, figures in one.runs.items()
        ]

    def _row(self, group: Group, run: str, figures: GroupFigures) -> BreakdownRow:
        weighted, at = figures.weighted, figures.percentiles
        return {
            "by": self.grouping.by,
            "group": group.name,
            "kind": group.kind,
            "run": run,
            "measure": self.measure,
            "k": self.k,
            "group_queries": len(group.query_ids),
            "queries": figures.n,
            "small": figures.is_small,
            "mean": figures.mean,
            "low": figures.low,
            "high": figures.high,
            "p10": at[10],
            "p25": at[25],
            "p50": at[50],
            "p75": at[75],
            "p90": at[90],
            "share_zero": figures.share_zero,
            "threshold": self.threshold,
            "share_reaching": figures.share_reaching,
            "weighted_n": weighted.n if weighted else None,
            "weighted_mean": weighted.mean if weighted else None,
            "weighted_low": weighted.low if weighted else None,
            "weighted_high": weighted.high if weighted else None,
        }

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.rows()).astype({"k": "Int64"})


def break_down(
    values: Values,
    grouping: Grouping,
    resampling: Resampling,
    *,
    threshold: float = THRESHOLD,
    limits: Floats | None = None,
    waits: bool = False,
) -> Breakdown:
    """The figures of each group as if its queries were all there are.

    limits: what `limits_of` gave for the same values, grouping and settings, where that was kept. waits: they
    are from `undrawn_limits` instead.
    """
    rows = rows_by_group(values, grouping)
    if limits is None:
        limits = limits_of(values, grouping, resampling)
    weighted = ~np.isnan(values.weights)
    groups = tuple(
        BrokenGroup(group, _figures(values, of_group, ends, threshold))
        for group, of_group, ends in zip(grouping.groups, rows, limits, strict=True)
    )
    missing = np.flatnonzero(~weighted) if weighted.any() else ()
    return Breakdown(
        grouping=grouping,
        measure=values.measure,
        k=values.k,
        threshold=threshold,
        interval=interval_settings(len(values.query_ids), *resampling),
        groups=groups,
        without_weight=tuple(values.query_ids[int(number)] for number in missing),
        is_weighted=bool(weighted.any()),
        waits=waits,
    )


def limits_of(
    values: Values, grouping: Grouping, resampling: Resampling, *, whole: Floats | None = None
) -> Floats:
    """(G, R, 4) low and high of the mean, and of the weighted mean, of each group and run; NaN without any.

    The bootstrap over queries of the whole report, drawn again in each group: what takes the time here, in
    the measure of `draws_of`. whole: (R, 2) those of the mean over all queries, where they were drawn before
    with the same settings.
    """

    def intervals(table: Floats, weights: Floats | None = None) -> Floats:
        return np.stack(mean_intervals(table, **resampling._asdict(), weights=weights), axis=-1)

    def work(task: tuple[Integers, Floats | None]) -> Floats:
        rows, whole_limits = task
        table, weights = values.table[rows], values.weights[rows]
        has_weight = ~np.isnan(weights)
        limits = np.full((len(values.runs), 4), np.nan)
        if len(rows) < FEWEST_QUERIES:
            return limits
        if whole_limits is None and has_weight.all():  # one drawing serves both
            plain = np.ones_like(table)
            both = intervals(np.hstack((table, table)), np.hstack((plain, plain * weights[:, None])))
            return np.hstack(np.split(both, 2))
        limits[:, :2] = intervals(table) if whole_limits is None else whole_limits
        if has_weight.sum() >= FEWEST_QUERIES:
            limits[:, 2:] = intervals(table[has_weight], weights[has_weight])
        return limits

    rows = rows_by_group(values, grouping)
    first_limits = [whole, *[None] * (len(rows) - 1)]
    return np.stack(list(in_threads(work, zip(rows, first_limits, strict=True))))


def undrawn_limits(values: Values, grouping: Grouping, whole: Floats) -> Floats:
    """The part of `limits_of` that is known before anything is drawn."""
    limits = np.full((len(grouping.groups), len(values.runs), 4), np.nan)
    if len(values.query_ids) >= FEWEST_QUERIES:
        limits[0, :, :2] = whole
    return limits


def draws_of(values: Values, grouping: Grouping, samples: int) -> int:
    """Number of queries that `limits_of` draws where the limits over all queries are known."""
    weighted = ~np.isnan(values.weights)
    sizes: list[int] = []
    for number, rows in enumerate(rows_by_group(values, grouping)):
        distinct_sizes = {int(weighted[rows].sum()), len(rows) if number else 0}
        sizes += [size for size in distinct_sizes if FEWEST_QUERIES <= size <= LARGEST_RESAMPLED]
    return samples * sum(sizes)


def rows_by_group(values: Values, grouping: Grouping) -> list[Integers]:
    """The numbers of each group's queries, rising."""
    number = {query: row for row, query in enumerate(values.query_ids)}
    return [
        np.array(sorted(number[query] for query in group.query_ids if query in number), dtype=np.int64)
        for group in grouping.groups
    ]


def ordered_groups(groups: Sequence[BrokenGroup], order: str) -> list[BrokenGroup]:
    """All queries first, then `worst` (lowest mean, small groups last), `largest`, or as they come."""
    first = [one for one in groups if one.group.kind == "all"]
    others = [one for one in groups if one.group.kind != "all"]
    if order == "worst":
        others.sort(key=lambda one: (one.n < SMALL, one.mean is None, one.mean or 0.0))
    elif order == "largest":
        others.sort(key=lambda one: -len(one.group.query_ids))
    return [*first, *others]


def _figures(values: Values, rows: Integers, limits: Floats, threshold: float) -> dict[str, GroupFigures]:
    weights = values.weights[rows]
    return {
        run: _of_run(values.table[rows, column], weights, limits[column], threshold)
        for column, run in enumerate(values.runs)
    }


def _of_run(values: Floats, weights: Floats, limits: Floats, threshold: float) -> GroupFigures:
    counts = ~np.isnan(values)
    counted = values[counts]
    n, small = len(counted), len(counted) < SMALL
    if not n:
        return GroupFigures(0, None, None, None, dict.fromkeys(PERCENTILES), None, None, None)
    at = [None] * len(PERCENTILES) if small else np.percentile(counted, PERCENTILES).tolist()
    return GroupFigures(
        n=n,
        mean=float(counted.mean()),
        low=plain(limits[0]),
        high=plain(limits[1]),
        percentiles=dict(zip(PERCENTILES, at, strict=True)),
        share_zero=float((counted == 0).mean()),
        share_reaching=float((counted >= threshold - _EQUAL).mean()),
        weighted=_weighted(values, weights, limits[2:]),
    )


def _weighted(values: Floats, weights: Floats, limits: Floats) -> WeightedMean | None:
    counted: npt.NDArray[np.bool_] = ~np.isnan(values) & ~np.isnan(weights)
    n = int(counted.sum())
    if not n:
        return None
    mean = float((weights[counted] * values[counted]).sum() / weights[counted].sum())
    return WeightedMean(n, mean, plain(limits[0]), plain(limits[1]))


def _plain_figures(figures: GroupFigures) -> GroupResult:
    weighted = figures.weighted
    return {
        "n": figures.n,
        "small": figures.is_small,
        "mean": figures.mean,
        "low": figures.low,
        "high": figures.high,
        "percentiles": {str(at): value for at, value in figures.percentiles.items()},
        "share_zero": figures.share_zero,
        "share_reaching": figures.share_reaching,
        "weighted": None
        if weighted is None
        else {"n": weighted.n, "mean": weighted.mean, "low": weighted.low, "high": weighted.high},
    }
