"""The list of latency reports."""

from __future__ import annotations

from evaluation.models import LatencyReport
from pooling.tables.columns import Column
from pooling.tables.table import Table


def _page(report: LatencyReport) -> str:
    return report.get_absolute_url()


def _settings(report: LatencyReport) -> int:
    return len(report.options.get("runs", ()))


def _answer(report: LatencyReport) -> str:
    if report.options.get("target") is None:
        return "no target"
    return report.result.get("latency", {}).get("target", {}).get("cheapest") or "none reaches the target"


LATENCY_REPORTS = Table(
    "latency-reports",
    "latency report",
    columns=(
        Column("name", "Report", natural=True, link=_page, style="id"),
        Column("answer", "Answer", _answer),
        Column("exact", "Exact run", "exact.name", natural=True),
        Column("settings", "Settings", _settings, number=True),
        Column("k", "K", "options.k", number=True),
        Column("created", "Created", "created_at", to_the_minute=True, style="quiet"),
        Column("by", "Created by", "created_by.username", style="quiet"),
    ),
    sort="-created",
    search=("name", "answer", "exact", "by"),
    search_hint="Name, run or person",
    choose="latency_reports",
    caption="Each report compares approximate runs with an exact one. Reports never change.",
)
