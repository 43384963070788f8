"""Reports in the order in which they were made: each run's figures, and where they count otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from django.db.models import QuerySet

from evaluation.comparisons.answer import estimated_frame
from evaluation.comparisons.results_table import minus
from evaluation.comparisons.wording import frame_in_words
from evaluation.measures import key_of
from evaluation.models import Report
from evaluation.report_store.files import cutoffs_of, run_names
from evaluation.report_store.options import UNWEIGHTED
from evaluation.reports.changes import Change, what_changed
from evaluation.reports.summaries import ReportSummary, history_of
from evaluation.scoring.estimate_figures import Estimates
from evaluation.scoring.figures import Figure, HeadlineEstimate, as_read
from pooling.formats.wording import counted
from pooling.heavy import pd
from pooling.models import Collection

# Reports of a page, those that are shown unless others are chosen, and runs that a picture draws.
MOST_REPORTS, USUAL, MOST_CURVES = 50, 10, 8


@dataclass(frozen=True)
class Point:
    """A run's figure in a report, and the difference of its mean from the report before that has the run;
    other_file: where the run of that name was another file there; estimate_difference: as difference, of its
    estimate."""

    figure: Figure
    difference: float | None
    other_file: bool
    estimate_difference: float | None

    @property
    def estimate(self) -> HeadlineEstimate | None:
        return self.figure.get("estimate")


class Reading(NamedTuple):
    """A number with its interval, and its difference from the report before."""

    value: float | None
    low: float | None
    high: float | None
    difference: float | None


@dataclass(frozen=True)
class Trend:
    """Reports, oldest first, at one measure and K (None over the whole run), with a point or nothing for each
    run in each. average: of the estimates, `macro` or `micro`, where all points have one of the same; None
    where the figures are of the labels at hand."""

    reports: list[Report]
    measure: str
    k: int | None
    points: dict[str, list[Point | None]]
    average: str | None = None

    @property
    def curves(self) -> list[str]:
        """The runs of the picture: the best in the newest report that has them."""
        defined = [
            run
            for run, row in self.points.items()
            if any(self.read(point).value is not None for point in row if point)
        ]
        return defined[:MOST_CURVES]

    def read(self, point: Point) -> Reading:
        """What people read of a point: its estimate where all points have one, else its mean."""
        estimate, figure = point.estimate if self.average else None, point.figure
        if estimate is None:
            return Reading(figure["mean"], figure["low"], figure["high"], point.difference)
        return Reading(estimate["value"], estimate["low"], estimate["high"], point.estimate_difference)


def reports_chosen(collection: Collection, keys: Sequence[str]) -> list[Report]:
    """The reports of these keys, or without two of them the newest ten that count as the newest does, oldest
    first; where fewer count alike, the two newest."""
    numbers = [int(key) for key in keys if key.isdecimal() and len(key) < 19][:MOST_REPORTS]
    chosen = _with_results(collection, numbers)
    return chosen if len(chosen) > 1 else _with_results(collection, _usual(history_of(collection), numbers))


def _usual(history: Sequence[ReportSummary], chosen: Sequence[int]) -> list[int]:
    for place, report in enumerate(history):
        if report.pk in chosen:
            other = history[place + 1 : place + 2] or history[max(place - 1, 0) : place]
            return [report.pk, *(one.pk for one in other)]
    alike = [report.pk for report in history if report.summary["counting"] == history[0].summary["counting"]]
    return alike[:USUAL] if len(alike) > 1 else [report.pk for report in history[:2]]


def _with_results(collection: Collection, keys: Sequence[int]) -> list[Report]:
    rows: QuerySet[Report] = collection.reports.listed().filter(pk__in=keys).select_related("release")
    return list(rows.order_by("created_at", "pk"))


def measures_of(reports: Sequence[Report]) -> list[str]:
    if not reports:
        return []
    return [name for name in reports[-1].options["measures"] if common_cutoffs(reports, name)]


def common_cutoffs(reports: Sequence[Report], measure: str) -> list[int | None]:
    """The K at which all reports have a measure; None over the whole run."""
    if any(measure not in one.options["measures"] for one in reports):
        return []
    cutoffs = [cutoffs_of(one, measure) for one in reports]
    return [k for k in cutoffs[-1] if all(k in others for others in cutoffs)]


def trend_of(reports: Sequence[Report], measure: str, k: int | None) -> Trend:
    """The figures of each run in each report; runs from the best on in the newest report that has them."""
    key = key_of(measure, k)
    points: dict[str, list[Point | None]] = {}
    for run in dict.fromkeys(run for one in reversed(reports) for run in run_names(one)):
        points[run] = _points(reports, run, key)
    every = [point for row in points.values() for point in row if point is not None]
    averages = {None if (one := point.estimate) is None else one["average"] for point in every}
    trend = Trend(list(reports), measure, k, points, averages.pop() if len(averages) == 1 else None)

    def newest(run: str) -> float:
        values = (trend.read(point).value for point in reversed(points[run]) if point is not None)
        return next(filter(None, values), 0.0)

    ranked = sorted(points, key=lambda run: (points[run][-1] is None, -newest(run), run))
    return replace(trend, points={run: points[run] for run in ranked})


def _points(reports: Sequence[Report], run: str, key: str) -> list[Point | None]:
    row: list[Point | None] = []
    before: tuple[float | None, float | None, str] | None = None
    for report in reports:
        figure = report.result["runs"].get(run, {}).get(key)
        if figure is None:
            row.append(None)
            continue
        figure = as_read(figure)
        file = next(one["sha256"] for one in report.options["runs"] if one["name"] == run)
        headline = figure.get("estimate")
        estimate = None if headline is None else headline["value"]
        last, last_estimate, last_file = before or (None, None, file)
        row.append(
            Point(figure, minus(figure["mean"], last), file != last_file, minus(estimate, last_estimate))
        )
        before = figure["mean"], estimate, file
    return row


def cautions(reports: Sequence[Report], *, with_estimates: bool = False) -> list[str]:
    """A sentence for each way in which reports do not count alike; with_estimates: those are read."""
    kinds: list[tuple[str, Callable[[Report], Any]]] = [
        ("what counts as relevant", lambda one: one.options["conventions"]["min_relevance"]),
        (
            "other conventions",
            lambda one: sorted(
                (name, str(value))
                for name, value in one.options["conventions"].items()
                if name != "min_relevance"
            ),
        ),
        ("how drawn queries count", lambda one: one.options.get("weights", UNWEIGHTED)),
        ("the tags of the queries", lambda one: one.options.get("tags") or []),
        ("the rule of the release", lambda one: one.release.rule),
    ]
    if with_estimates:
        kinds.append(("what their audits were drawn from", _frame_of_audit))
    sentences = [
        f"The reports differ in {what}: their figures are not of the same thing."
        for what, of in kinds
        if any(of(one) != of(reports[0]) for one in reports)
    ]
    scored = [one.result["queries"]["scored"] for one in reports]
    if len(set(scored)) > 1:
        sentences.append(
            f"The means are over {min(scored):,} to {counted(max(scored), 'query')}: part of a change may be "
            "the queries that are in some of them only."
        )
    return sentences


def _frame_of_audit(report: Report) -> object:
    """What recall is of by the audit, in words; by that of a pool without a frame, how deep the pool is."""
    estimates: Estimates = report.result["estimates"]
    frame, pool = estimated_frame(estimates), estimates["pool"]
    return frame_in_words(frame) if frame or pool is None else pool["depth"]


def changes_between(reports: Sequence[Report]) -> list[tuple[Report, list[Change]]]:
    return [(after, what_changed(before, after)) for before, after in pairwise(reports)]


def trend_frame(trend: Trend) -> pd.DataFrame:
    """The drawn runs as rows: run, report, mean, low, high."""
    rows = [
        (run, _label(place, report), *trend.read(point)[:3])
        for run in trend.curves
        for place, (report, point) in enumerate(zip(trend.reports, trend.points[run], strict=True), 1)
        if point is not None and trend.read(point).value is not None
    ]
    order = {_label(place, report): place for place, report in enumerate(trend.reports, 1)}
    frame = pd.DataFrame(rows, columns=["run", "report", "mean", "low", "high"])
    frame = frame.astype({"mean": float, "low": float, "high": float})
    return frame.sort_values("report", key=lambda labels: labels.map(order), kind="stable")


def _label(place: int, report: Report) -> str:
    """The report on the axis; numbered, because two reports may have the same name."""
    return f"{place}. {report.release.name}"
