"""The newest report on the overview: its runs in the order of the number that stands there."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from evaluation.comparisons.answer import Answer, Found
from evaluation.reports.summaries import ReportSummary, Summary
from soundings.pages.home import results_of

WHEN = datetime(2026, 6, 1, tzinfo=UTC)
ANSWER = Answer(
    k=10,
    run="bm25",
    basis="estimate",
    recall=0.31,
    low=0.2,
    high=0.4,
    average="macro",
    found=Found(recall=0.7, relevant=9),
    queries=3,
    judged=None,
    sentence="bm25 is best.",
)


def report(runs: dict[str, tuple[float, float | None]]) -> ReportSummary:
    """Of runs with their recall of what was found, and its estimate."""
    figures: Any = {
        name: {"mean": mean, "estimate": estimate, "low": None, "high": None, "judged": None}
        for name, (mean, estimate) in runs.items()
    }
    kept = {"version": 1, "k": 10, "counting": "", "queries": 3, "runs": figures}
    return ReportSummary(1, "r", WHEN, 1, cast("Summary", {**kept, "answer": ANSWER.to_dict()}))


def test_runs_are_in_the_order_of_the_number_that_is_shown_and_new_ones_are_named() -> None:
    before = report({"bm25": (0.5, None), "dense": (0.6, None)})
    newest = report({"bm25": (0.7, 0.31), "dense": (0.6, 0.32), "fuse": (0.5, 0.2)})
    results = results_of([newest, before])
    assert results is not None
    assert [(line.run, line.recall, line.is_new) for line in results.lines] == [
        ("dense", "0.320", False),
        ("bm25", "0.310", False),
        ("fuse", "0.200", True),
    ]
    assert results.best.run == "bm25", "the one of the answer"
