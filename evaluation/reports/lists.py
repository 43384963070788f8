"""The table of reports, with the numbers of each: the best run, its recall and what changed."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.comparisons.wording import signed
from evaluation.models import Report
from evaluation.report_store.files import run_names
from evaluation.reports.summaries import (
    GRADES,
    Change,
    ReportSummary,
    RunSummary,
    best_of,
    change_of,
    report_summaries,
)
from evaluation.scoring.estimate_figures import ESTIMATE
from evaluation.scoring.wording import interval
from pooling.models import Collection
from pooling.tables.columns import BulkAction, Column, Empty
from pooling.tables.table import Table

# What a recall is of, by the basis of an answer.
RESTS_ON = {
    "estimate": "all, estimated",
    "span": "what was found; the audit waits",
    "labels": "what was found",
    "complete": "all",
}


@dataclass(frozen=True)
class ReportRow:
    """A report with its best run and what changed since the report before that counts alike."""

    report: Report
    entry: ReportSummary
    run: str | None
    change: Change | None

    @property
    def pk(self) -> int:
        """The report's key."""
        return self.report.pk

    @property
    def figure(self) -> RunSummary | None:
        """Recall, interval and coverage of the best run."""
        return None if self.run is None else self.entry.summary["runs"][self.run]

    @property
    def recall(self) -> float | None:
        """The recall of the best run that is read first."""
        answer = self.entry.summary["answer"]
        if self.figure is None or answer is None:
            return None
        return self.figure["estimate"] if answer["basis"] == ESTIMATE else self.figure["mean"]

    @property
    def rests_on(self) -> str:
        answer = self.entry.summary["answer"]
        return "" if answer is None else RESTS_ON[answer["basis"]]

    @property
    def span(self) -> str | None:
        """The interval of that recall, as text."""
        if self.figure is None or self.figure["low"] is None:
            return None
        return interval({"low": self.figure["low"], "high": self.figure["high"]}).strip()

    @property
    def changed(self) -> str:
        """The best run's change since the report before, with its sign."""
        return "" if self.change is None else signed(self.change.difference)

    @property
    def verdict(self) -> str | None:
        answer = self.entry.summary["answer"]
        return GRADES[answer["rival"]["grade"]] if answer and answer["rival"] else None


def report_rows(collection: Collection) -> list[ReportRow]:
    """The reports of a collection, newest first; one query where all have a summary."""
    reports = list(collection.reports.listed().select_related("release", "created_by").defer("result"))
    entries = report_summaries(reports)
    rows = []
    for place, (report, one) in enumerate(zip(reports, entries, strict=True)):
        run = best_of(one)
        change = None if run is None else change_of(run, one, entries[place + 1 :])
        rows.append(ReportRow(report, one, run, change))
    return rows


def _page(row: ReportRow) -> str:
    return row.report.get_absolute_url()


REPORTS = Table(
    "reports",
    "report",
    columns=(
        Column("name", "Report", "report.name", natural=True, link=_page),
        Column("best", "Best run", "run", natural=True, style="id"),
        Column("recall", "Recall", "recall", number=True),
        Column("of", "Of", "rests_on", style="quiet"),
        Column("interval", "Interval", "span", style="quiet"),
        Column("k", "at K", "entry.summary.k", number=True),
        Column(
            "change",
            "Change",
            lambda row: row.change.difference if row.change else None,
            number=True,
            template="evaluation/_change_cell.html",
        ),
        Column("verdict", "Verdict", style="small"),
        Column(
            "coverage",
            "Judged",
            lambda row: row.figure and row.figure["judged"],
            number=True,
            template="evaluation/_share_cell.html",
        ),
        Column("release", "Qrels release", "report.release.name", natural=True, style="quiet", hidden=True),
        Column("runs", "Runs", lambda row: len(run_names(row.report)), number=True, hidden=True),
        Column("created", "Created", "report.created_at", style="quiet", to_the_minute=True),
        Column("by", "Created by", "report.created_by.username", hidden=True),
    ),
    search=("name", "best", "release"),
    search_hint="Report, run or release",
    actions=(BulkAction("trend", "Compare over time", "report_trend", admin_only=False),),
    choose="report",
    empty=Empty("No reports yet.", "Measure the runs", "report_new"),
    caption="Each report measures runs on one qrels release. Reports never change.",
)
