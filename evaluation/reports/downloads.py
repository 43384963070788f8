"""A report as files to take away: tables, the curve, one HTML file, a bundle, and all values by query."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from typing import IO

from django.http import FileResponse, Http404
from django.utils.text import slugify

from evaluation.charts.stored import CHART_FORMATS, kinds_of, usual_choice
from evaluation.models import Report
from evaluation.report_store.files import scan_per_query
from evaluation.report_store.settings import settings_of
from evaluation.reports.export import bundle_of, html_file, table_of
from pooling.formats.cells import guarded_frame

Maker = Callable[[Report, str], IO[bytes]]


def _table(form: str) -> Maker:
    return lambda report, measure: io.BytesIO(table_of(report, form))


def _curve(form: str) -> Maker:
    def make(report: Report, measure: str) -> IO[bytes]:
        made = CHART_FORMATS[form][1](report, kinds_of(report)["curve"], usual_choice(report, measure))
        return io.BytesIO(made)

    return make


def _per_query(report: Report, measure: str) -> IO[bytes]:
    # On disk and not in memory: many runs and queries make millions of rows.
    file = tempfile.NamedTemporaryFile(suffix=".csv")  # noqa: SIM115  the response closes it
    guarded_frame(scan_per_query(report)).sink_csv(file.name)
    return file


def _settings(report: Report, measure: str) -> IO[bytes]:
    return io.BytesIO(settings_of(report).to_toml().encode())


# Name in the address -> file suffix, media type, maker.
FORMATS: dict[str, tuple[str, str, Maker]] = {
    "csv": (".csv", "text/csv", _table("csv")),
    "json": (".json", "application/json", _table("json")),
    "markdown": (".md", "text/markdown", _table("markdown")),
    "latex": (".tex", "application/x-tex", _table("latex")),
    "svg": (".svg", "image/svg+xml", _curve("svg")),
    "png": (".png", "image/png", _curve("png")),
    "pdf": (".pdf", "application/pdf", _curve("pdf")),
    "html": (".html", "text/html", lambda report, measure: html_file(report)),
    "bundle": (".zip", "application/zip", lambda report, measure: bundle_of(report)),
    "settings": (".toml", "application/toml", _settings),
    "per-query": ("-by-query.csv", "text/csv", _per_query),
}


def download(report: Report, format: str, measure: str) -> FileResponse:
    """The report in one of FORMATS; `measure` says of what a picture is."""
    if format not in FORMATS:
        raise Http404(f"There is no format “{format}”; choose one of {', '.join(FORMATS)}.")
    suffix, media_type, make = FORMATS[format]
    name = f"{slugify(report.name) or f'report-{report.pk}'}{suffix}"
    return FileResponse(make(report, measure), as_attachment=True, filename=name, content_type=media_type)
