"""Reports in an overview of a collection: the newest answer, what changed, and a line for each run
over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.comparisons.answer import Answer
from evaluation.comparisons.wording import recall_read_first, signed, what_recall_is_of
from evaluation.reports.summaries import (
    GRADES,
    Change,
    ReportSummary,
    RunSummary,
    best_of,
    change_of,
    is_estimated,
)
from evaluation.scoring.estimate_figures import COMPLETE
from evaluation.scoring.wording import decimal, interval
from pooling.formats.wording import counted

# Lines of runs, and reports that a line goes through.
MOST_RUNS, MOST_POINTS = 8, 12
# Of the picture of a run over reports, in units of its own.
WIDTH, HEIGHT, EDGE = 100, 24, 3


@dataclass(frozen=True)
class Spark:
    """A run's recall over reports as the points of a polyline, its last point, and the same in words."""

    points: str
    last: tuple[str, str]
    words: str


@dataclass(frozen=True)
class RunLine:
    """A run of the newest report in words; change: since the report before that counts alike; is_new: no
    report before has the run."""

    run: str
    recall: str
    interval: str
    judged: str
    change: Change | None
    changed: str
    is_new: bool
    spark: Spark | None


@dataclass(frozen=True)
class Results:
    """The newest report: its answer, the recall that is read first (a number or a span) and what it is of,
    the best run, the runs from the best on, what their recall is (`estimated`, `found so far`; nothing where
    labels are complete), and how many more there are."""

    report: ReportSummary
    answer: Answer
    recall: str
    of: str
    grade: str
    best: RunLine
    lines: list[RunLine]
    kind: str
    more: int


def results_of(history: Sequence[ReportSummary]) -> Results | None:
    """Results of the newest of these reports (newest first); None where there is none with an answer."""
    if not history:
        return None
    newest, earlier = history[0], history[1:]
    best, answer = best_of(newest), newest.answer
    if best is None or answer is None:
        return None
    runs = newest.summary["runs"]
    estimated, is_complete = is_estimated(newest.summary), answer.basis == COMPLETE
    number: Literal["estimate", "mean"] = "estimate" if estimated else "mean"
    ranked = sorted(runs, key=lambda run: (-(runs[run][number] or 0.0), run != best, run))
    alike = [one for one in reversed(history) if one.summary["counting"] == newest.summary["counting"]]
    leading = ranked[:MOST_RUNS]
    series = {run: _series(run, alike, estimated=estimated) for run in leading}
    ends = _ends([mean for values in series.values() for mean in values])
    lines = [
        _line(run, newest, earlier, _spark(run, series[run], ends, newest), estimated=estimated)
        for run in leading
    ]
    return Results(
        report=newest,
        answer=answer,
        recall=recall_read_first(answer),
        of=what_recall_is_of(answer),
        grade=GRADES[answer.rival.grade] if answer.rival else "",
        best=next((one for one in lines if one.run == best), None)
        or _line(best, newest, earlier, None, estimated=estimated),
        lines=lines,
        kind="estimated" if estimated else "" if is_complete else "found so far",
        more=len(ranked) - len(leading),
    )


def _line(
    run: str, report: ReportSummary, earlier: Sequence[ReportSummary], spark: Spark | None, *, estimated: bool
) -> RunLine:
    figure: RunSummary = report.summary["runs"][run]
    change = change_of(run, report, earlier)
    return RunLine(
        run=run,
        recall=decimal(figure["estimate"] if estimated else figure["mean"]),
        interval=interval({"low": figure["low"], "high": figure["high"]}).strip(),
        judged="–" if figure["judged"] is None else f"{100 * figure['judged']:.0f} %",
        change=change,
        changed="" if change is None else signed(change.difference),
        is_new=not any(run in one.summary["runs"] for one in earlier),
        spark=spark,
    )


def _series(run: str, alike: Sequence[ReportSummary], *, estimated: bool) -> list[float]:
    """A run's recall in these reports, oldest first, of the last ones that have it: its estimates, or of what
    was found."""
    points = [one.summary["runs"][run] for one in alike if run in one.summary["runs"]][-MOST_POINTS:]
    values = [one["estimate"] if estimated else one["mean"] for one in points]
    return [value for value in values if value is not None]


def _ends(means: Sequence[float]) -> tuple[float, float]:
    """The scale that all lines share, so that they can be compared by eye; at least 0.05 high."""
    low, high = min(means, default=0.0), max(means, default=1.0)
    room = max(0.05 - (high - low), 0.0) / 2
    return low - room, high + room


def _spark(
    run: str, means: Sequence[float], ends: tuple[float, float], report: ReportSummary
) -> Spark | None:
    if len(means) < 2:
        return None
    low, high = ends
    step = (WIDTH - 2 * EDGE) / (len(means) - 1)
    places = [
        (
            f"{EDGE + place * step:.1f}",
            f"{HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (mean - low) / (high - low):.1f}",
        )
        for place, mean in enumerate(means)
    ]
    words = (
        f"Recall@{report.summary['k']} of {run} in {counted(len(means), 'report')}, oldest first: "
        f"{', '.join(map(decimal, means))}"
    )
    return Spark(" ".join(f"{x},{y}" for x, y in places), places[-1], words)
