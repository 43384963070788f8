"""What an overview says of the reports of a collection: the newest answer, what changed, and a line for each
run over time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.comparisons.wording import signed
from evaluation.reports.summaries import GRADES, best_of, change_of
from evaluation.scoring.wording import decimal, interval
from pooling.formats.wording import counted

if TYPE_CHECKING:
    from evaluation.comparisons.answer import AnswerResult
    from evaluation.reports.summaries import Change, RunSummary, Told

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
    """A run of the newest report in words; change: since the report before that counts alike."""

    run: str
    recall: str
    interval: str
    judged: str
    change: Change | None
    changed: str
    spark: Spark | None


@dataclass(frozen=True)
class Results:
    """The newest report: its answer, the best run, the runs from the best on, and how many more there are."""

    told: Told
    answer: AnswerResult
    grade: str
    best: RunLine
    lines: list[RunLine]
    more: int


def results_of(history: Sequence[Told]) -> Results | None:
    """What the newest of these reports (newest first) tells; None where there is none with an answer."""
    if not history:
        return None
    told, earlier = history[0], history[1:]
    best, answer = best_of(told), told.summary["answer"]
    if best is None or answer is None:
        return None
    runs = told.summary["runs"]
    ranked = sorted(runs, key=lambda run: (-(runs[run]["mean"] or 0.0), run != best, run))
    alike = [one for one in reversed(history) if one.summary["counting"] == told.summary["counting"]]
    shown = ranked[:MOST_RUNS]
    series = {run: _series(run, alike) for run in shown}
    ends = _ends([mean for values in series.values() for mean in values])
    lines = [_line(run, told, earlier, _spark(run, series[run], ends, told)) for run in shown]
    rival = answer["rival"]
    return Results(
        told=told,
        answer=answer,
        grade=GRADES[rival["grade"]] if rival else "",
        best=lines[0],
        lines=lines,
        more=len(ranked) - len(shown),
    )


def _line(run: str, told: Told, earlier: Sequence[Told], spark: Spark | None) -> RunLine:
    figure: RunSummary = told.summary["runs"][run]
    change = change_of(run, told, earlier)
    return RunLine(
        run=run,
        recall=decimal(figure["mean"]),
        interval=interval({"low": figure["low"], "high": figure["high"]}).strip(),
        judged="–" if figure["judged"] is None else f"{100 * figure['judged']:.0f} %",
        change=change,
        changed="" if change is None else signed(change.difference),
        spark=spark,
    )


def _series(run: str, alike: Sequence[Told]) -> list[float]:
    """A run's means in these reports, oldest first, of the last ones that have it."""
    means = [one.summary["runs"][run]["mean"] for one in alike if run in one.summary["runs"]]
    return [mean for mean in means if mean is not None][-MOST_POINTS:]


def _ends(means: Sequence[float]) -> tuple[float, float]:
    """The scale that all lines share, so that they can be compared by eye; at least 0.05 high."""
    low, high = min(means, default=0.0), max(means, default=1.0)
    room = max(0.05 - (high - low), 0.0) / 2
    return low - room, high + room


def _spark(run: str, means: Sequence[float], ends: tuple[float, float], told: Told) -> Spark | None:
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
        f"Recall@{told.summary['k']} of {run} in {counted(len(means), 'report')}, oldest first: "
        f"{', '.join(map(decimal, means))}"
    )
    return Spark(" ".join(f"{x},{y}" for x, y in places), places[-1], words)
