"""A report in lists, stored with it, and made again where another version stored it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal, TypedDict

from evaluation.comparisons.answer import Answer
from evaluation.comparisons.stored import answer_at
from evaluation.models import Report
from evaluation.report_store.files import run_names
from evaluation.report_store.options import UNWEIGHTED, headline_k
from evaluation.scoring.estimate_figures import COMPLETE
from evaluation.scoring.figures import mean_as_read
from pooling.models import Collection

# Counts up when what is stored changes, so that it is made again.
VERSION = 4
# Newest reports of which an overview and a list know.
MOST_REPORTS = 200


class RunSummary(TypedDict):
    """A run's mean recall by the labels at hand, what it is estimated to be where an audit tells, and the
    share of its first K that has a label. low, high: of the estimate, or of the mean where the labels are
    declared complete."""

    mean: float | None
    estimate: float | None
    low: float | None
    high: float | None
    judged: float | None


class Summary(TypedDict):
    """A report at the K nearest 10. counting: equal where two reports count alike (K, conventions, tags).

    answer: an `Answer`, what the report's page says first.
    """

    version: int
    k: int
    counting: str
    queries: int
    runs: dict[str, RunSummary]
    answer: Mapping[str, object] | None


def is_estimated(summary: Summary) -> bool:
    """Each run has an estimate, so that these are shown and not what was found."""
    return bool(summary["runs"]) and all(run["estimate"] is not None for run in summary["runs"].values())


@dataclass(frozen=True)
class ReportSummary:
    """A report for lists; its result, which can be large, is not loaded."""

    pk: int
    name: str
    created_at: datetime
    release_id: int
    summary: Summary

    @cached_property
    def answer(self) -> Answer | None:
        stored = self.summary["answer"]
        return None if stored is None else Answer.from_dict(stored)


@dataclass(frozen=True)
class Change:
    """By how much a run's recall differs from that in the report before that counts alike. by_labels: the
    labels are others, so that the run need not have changed at all."""

    difference: float
    since: ReportSummary
    by_labels: bool

    @property
    def word(self) -> str:
        """`labels` where these changed, else `up`, `down`, or `unchanged` in three decimals."""
        if self.by_labels:
            return "labels"
        if abs(self.difference) < 0.0005:
            return "unchanged"
        return "up" if self.difference > 0 else "down"


def summarised(report: Report) -> Summary:
    k, answer = headline_k(report.options), answer_at(report)
    runs: dict[str, RunSummary] = {}
    for run in run_names(report):
        figures = report.result["runs"][run]
        recall, judged = figures[f"recall@{k}"], figures[f"judged@{k}"]
        estimate = recall.get("estimate")
        is_complete = answer is not None and answer.basis == COMPLETE
        span = estimate or (recall if is_complete else None)
        runs[run] = {
            "mean": recall["mean"],
            "estimate": None if estimate is None else estimate["value"],
            "low": None if span is None else span["low"],
            "high": None if span is None else span["high"],
            "judged": mean_as_read(judged),
        }
    counting = [k, report.options["conventions"], sorted(report.options["tags"])]
    if (weights := report.options.get("weights", UNWEIGHTED)) != UNWEIGHTED:
        counting.append(weights)
    return {
        "version": VERSION,
        "k": k,
        "counting": json.dumps(counting, sort_keys=True),
        "queries": report.result["queries"]["scored"],
        "runs": runs,
        "answer": None if answer is None else answer.to_dict(),
    }


def stored_summary(report: Report) -> Summary | None:
    """The summary that is stored with a report, unless that is of another version."""
    summary: Summary = report.summary
    return summary if summary.get("version") == VERSION else None


def summary_of(report: Report) -> Summary:
    """The stored summary; made and stored again where it is of another version."""
    summary = stored_summary(report)
    if summary is None:
        summary = report.summary = summarised(report)
        Report.objects.filter(pk=report.pk).update(summary=summary)
    return summary


def report_summaries(reports: Iterable[Report]) -> list[ReportSummary]:
    return [
        ReportSummary(one.pk, one.name, one.created_at, one.release_id, summary_of(one)) for one in reports
    ]


def history_of(collection: Collection) -> list[ReportSummary]:
    """The newest reports of a collection, newest first; one query where all have a summary."""
    reports = collection.reports.listed().defer("result")[:MOST_REPORTS]
    return report_summaries(reports)


def change_of(run: str, report: ReportSummary, earlier: Sequence[ReportSummary]) -> Change | None:
    """The change of a run's recall since the newest `earlier` report (newest first) that has it and counts
    alike: of its estimates where the report tells these, else of what was found."""
    run_now = report.summary["runs"][run]
    for other in earlier:
        before = other.summary["runs"].get(run)
        if other.summary["counting"] != report.summary["counting"] or before is None:
            continue
        kind: Literal["estimate", "mean"] = "estimate" if is_estimated(report.summary) else "mean"
        now, then = run_now[kind], before[kind]
        if now is None or then is None:
            return None
        return Change(now - then, other, by_labels=other.release_id != report.release_id)
    return None


def best_of(report: ReportSummary) -> str | None:
    """The run with the highest mean; None where recall is undefined."""
    return None if report.answer is None else report.answer.run
