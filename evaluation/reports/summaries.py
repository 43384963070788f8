"""What lists, overview and home page say of a report, stored with it: nothing of the result is read there.

Reports from before summaries get theirs when a list first shows them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from evaluation.comparisons.stored import answer_at
from evaluation.models import Report
from evaluation.report_store.files import run_names, usual_cutoff

if TYPE_CHECKING:
    from datetime import datetime

    from evaluation.comparisons.answer import AnswerResult
    from pooling.models import Collection

# Counts up when what is stored changes, so that it is made again.
VERSION = 1
GRADES = {
    "clearly_better": "clearly better",
    "probably_better": "probably better",
    "no_difference": "no difference that matters",
    "cannot_tell_labels": "cannot be told yet: labels",
    "cannot_tell_queries": "cannot be told yet: queries",
}
# Newest reports of which an overview and a list know.
MOST_REPORTS = 200


class RunSummary(TypedDict):
    """A run's mean recall with its interval, and the share of its first K that has a label."""

    mean: float | None
    low: float | None
    high: float | None
    judged: float | None


class Summary(TypedDict):
    """A report at the K nearest 10. counting: equal where two reports count alike (K, conventions, tags).

    answer: what the report's page says first.
    """

    version: int
    k: int
    counting: str
    queries: int
    runs: dict[str, RunSummary]
    answer: AnswerResult | None


@dataclass(frozen=True)
class Told:
    """What lists need of a report; its result, which can be large, is not loaded."""

    pk: int
    name: str
    created_at: datetime
    release_id: int
    summary: Summary


@dataclass(frozen=True)
class Change:
    """By how much a run's mean differs from that in the report before that counts alike."""

    difference: float
    since: Told

    @property
    def word(self) -> str:
        """`up`, `down`, or `unchanged` where three decimals show no difference."""
        if abs(self.difference) < 0.0005:
            return "unchanged"
        return "up" if self.difference > 0 else "down"


def summarised(report: Report) -> Summary:
    """The summary of a report whose result and files are there."""
    k = usual_cutoff(report.options["k"])
    runs: dict[str, RunSummary] = {}
    for run in run_names(report):
        figures = report.result["runs"][run]
        recall, judged = figures[f"recall@{k}"], figures[f"judged@{k}"]
        runs[run] = {
            "mean": recall["mean"],
            "low": recall["low"],
            "high": recall["high"],
            "judged": judged["mean"],
        }
    answer = answer_at(report)
    counting = [k, report.options["conventions"], sorted(report.options.get("tags") or [])]
    return {
        "version": VERSION,
        "k": k,
        "counting": json.dumps(counting, sort_keys=True),
        "queries": report.result["queries"]["scored"],
        "runs": runs,
        "answer": None if answer is None else answer.to_dict(),
    }


def stored_summary(report: Report) -> Summary | None:
    """The summary that is stored with a report, unless it has none or an older one."""
    found: Summary = report.summary
    return found if found.get("version") == VERSION else None


def summary_of(report: Report) -> Summary:
    """The stored summary; made and stored where there is none."""
    known = stored_summary(report)
    if known is None:
        known = report.summary = summarised(report)
        Report.objects.filter(pk=report.pk).update(summary=known)
    return known


def told_of(reports: Iterable[Report]) -> list[Told]:
    """The reports with their summaries."""
    return [Told(one.pk, one.name, one.created_at, one.release_id, summary_of(one)) for one in reports]


def history_of(collection: Collection) -> list[Told]:
    """The newest reports of a collection, newest first; one query where all have a summary."""
    reports = collection.reports.listed().defer("result")[:MOST_REPORTS]
    return told_of(reports)


def change_of(run: str, told: Told, earlier: Sequence[Told]) -> Change | None:
    """The change of a run's mean since the newest `earlier` report (newest first) that has it and counts
    alike."""
    now = told.summary["runs"][run]["mean"]
    for other in earlier:
        before = other.summary["runs"].get(run)
        if other.summary["counting"] != told.summary["counting"] or before is None:
            continue
        if now is None or before["mean"] is None:
            return None
        return Change(now - before["mean"], other)
    return None


def best_of(told: Told) -> str | None:
    """The run with the highest mean; None where recall is undefined."""
    answer = told.summary["answer"]
    return None if answer is None else answer["run"]
