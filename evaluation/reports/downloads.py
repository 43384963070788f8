from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import IO

from evaluation.charts.stored import CHART_FILES, kinds_of, usual_choice
from evaluation.models import Report
from evaluation.rendering.formats import mlflow_text
from evaluation.report_store.files import scan_per_query
from evaluation.report_store.settings import settings_of
from evaluation.reports.export import bundle_of, html_of, pdf_of, table_of
from pooling.formats.cells import guarded_frame
from pooling.interface.downloads import Download

Maker = Callable[[Report, str], bytes | IO[bytes]]


def _table(form: str) -> Maker:
    return lambda report, measure: table_of(report, form)


def _curve(form: str) -> Maker:
    def make(report: Report, measure: str) -> bytes | IO[bytes]:
        return CHART_FILES[form].make(report, kinds_of(report)["curve"], usual_choice(report, measure))

    return make


def _per_query(report: Report, measure: str) -> IO[bytes]:
    # On disk and not in memory: many runs and queries make millions of rows.
    file = tempfile.NamedTemporaryFile(suffix=".csv")  # noqa: SIM115  the response closes it
    guarded_frame(scan_per_query(report)).sink_csv(file.name)
    return file


def _settings(report: Report, measure: str) -> bytes:
    return settings_of(report).to_toml().encode()


def _metrics(report: Report, measure: str) -> bytes:
    return mlflow_text(report.result["runs"]).encode()


# What makes each is given a report, and the measure that a picture is of.
FILES: dict[str, Download[[Report, str]]] = {
    "csv": Download(".csv", "text/csv", _table("csv")),
    "json": Download(".json", "application/json", _table("json")),
    "markdown": Download(".md", "text/markdown", _table("markdown")),
    "latex": Download(".tex", "application/x-tex", _table("latex")),
    "mlflow": Download("-mlflow.json", "application/json", _metrics),
    "svg": Download(".svg", "image/svg+xml", _curve("svg")),
    "png": Download(".png", "image/png", _curve("png")),
    "pdf": Download(".pdf", "application/pdf", _curve("pdf")),
    "html": Download(".html", "text/html", lambda report, measure: html_of(report)),
    "report-pdf": Download("-report.pdf", "application/pdf", lambda report, measure: pdf_of(report)),
    "bundle": Download(".zip", "application/zip", lambda report, measure: bundle_of(report)),
    "settings": Download(".toml", "application/toml", _settings),
    "per-query": Download("-by-query.csv", "text/csv", _per_query),
}
