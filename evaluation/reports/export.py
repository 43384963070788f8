"""A report away from the site: the HTML file, tables with their provenance, and a bundle of all."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from typing import IO

from evaluation.charts.html_report import HtmlReport, render_html
from evaluation.charts.kinds import ChartChoice, ChartKind, first_curve
from evaluation.charts.pdf_report import render_pdf
from evaluation.charts.stored import CHART_FILES, chart_csv, chart_svg, figures_of, kinds_of, usual_choice
from evaluation.comparisons.stored import answer_at
from evaluation.comparisons.wording import answer_in_words
from evaluation.estimates.score_audit_page import by_scores_cells
from evaluation.models import Report
from evaluation.rendering.cells import Cells
from evaluation.rendering.estimate_tables import estimate_tables
from evaluation.rendering.formats import mlflow_text, with_notes
from evaluation.report_store.completing import complete_queries
from evaluation.report_store.files import TABLES, file_stem, read_table, scan_per_query
from evaluation.report_store.options import UNWEIGHTED
from evaluation.report_store.provenance import Provenance, command_of
from evaluation.report_store.settings import conventions_in_words, settings_of
from evaluation.reports.coverage import report_warnings
from evaluation.scoring.estimate_figures import COMPLETE, Estimates
from evaluation.scoring.figures import RunFigures
from evaluation.scoring.wording import rests_on
from labeling.qrels.releases import release_file_name
from pooling.formats.cells import guarded_frame
from pooling.interface.downloads import Download

MADE = "%Y-%m-%d %H:%M UTC"


def provenance_of(report: Report) -> Provenance:
    """Checksums, seed and versions of a report, and the command that makes its figures again from files."""
    options, release = report.options, report.options["release"]
    labels, runs = release_file_name(report.release, "trec"), [run["name"] for run in options["runs"]]
    pools = ", ".join(options["pools"])
    complete = 0 < report.result["queries"]["labelled"] <= len(complete_queries(report.release))
    by = f" by {report.created_by.get_username()}" if report.created_by else ""
    return Provenance(
        labels=(release["name"], release["sha256"]),
        runs=[(run["name"], run["sha256"]) for run in options["runs"]],
        software=options["software"],
        interval=report.result["conventions"]["interval"],
        pool=f"{pools}, and the run's first K" if pools else "the runs' first K",
        command=command_of(
            settings_of(report),
            labels,
            [f"{run}.run" for run in runs],
            complete=complete,
            weights=options.get("weights", UNWEIGHTED),
        ),
        metadata={run["name"]: run["ir_metadata"] for run in options["runs"] if "ir_metadata" in run},
        made=f"{report.created_at.strftime(MADE)}{by}" if report.created_at else "",
    )


def html_of(report: Report) -> bytes:
    return render_html(content_of(report)).encode()


def pdf_of(report: Report) -> bytes:
    return render_pdf(content_of(report))


def content_of(report: Report, *, for_members: bool = True) -> HtmlReport:
    """Contents of a report away from the site, without addresses and texts of documents; ids, for members."""

    def draw(kind: ChartKind, choice: ChartChoice) -> bytes:
        return chart_svg(report, kind, choice, "light")

    thresholds = [
        f"{key} ≥ {threshold['at_least']:g} is not met by {', '.join(threshold['below'])}, "
        f"{rests_on(complete=threshold.get('basis') == COMPLETE)}."
        for key, threshold in report.result.get("thresholds", {}).items()
        if threshold["below"]
    ]
    answer = answer_at(report)
    return HtmlReport(
        title=report.name,
        summary=f"{report.collection.name}. {conventions_in_words(report)}",
        figures=figures_of(report),
        provenance=provenance_of(report),
        notes=[
            *report_warnings(report, for_members=for_members),
            *report.result.get("warnings", []),
            *thresholds,
        ],
        draw=draw,
        measures=report.options["measures"],
        sentences=() if answer is None else answer_in_words(answer),
        worth=_worth(report.result["runs"], report.result["estimates"]),
    )


def _worth(figures: Mapping[str, RunFigures], estimates: Estimates) -> list[Cells]:
    by_scores = estimates.get("audit_by_scores")
    return [*estimate_tables(figures, estimates), *([by_scores_cells(by_scores)] if by_scores else [])]


def table_of(report: Report, form: str) -> bytes:
    """The report as text in one of TABLES, with where it comes from; CSV has no place for that."""
    content, provenance = read_table(report, form), provenance_of(report)
    if form == "json":
        record = {**json.loads(content), "provenance": provenance.to_dict()}
        return f"{json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False)}\n".encode()
    return content if form == "csv" else with_notes(content.decode(), form, provenance.lines()).encode()


def bundle_of(report: Report) -> IO[bytes]:
    """Tables, pictures, data, HTML, settings and provenance as a zip; queries' values are another file."""
    out = tempfile.TemporaryFile()  # noqa: SIM115  the response closes it
    folder = file_stem(report)
    choice = usual_choice(report)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
        for form, name in TABLES.items():
            bundle.writestr(f"{folder}/{name}", table_of(report, form))
        bundle.writestr(f"{folder}/report.html", html_of(report))
        bundle.writestr(f"{folder}/settings.toml", settings_of(report).to_toml())
        bundle.writestr(f"{folder}/provenance.json", _json(provenance_of(report)))
        for kind in kinds_of(report).values():
            bundle.writestr(f"{folder}/{kind.name}.svg", chart_svg(report, kind, choice, "light"))
            bundle.writestr(f"{folder}/{kind.name}.csv", chart_csv(report, kind, choice))
    out.seek(0)
    return out


def _json(provenance: Provenance) -> str:
    return json.dumps(provenance.to_dict(), ensure_ascii=False, indent=2) + "\n"


Maker = Callable[[Report, str], bytes | IO[bytes]]


def _table(form: str) -> Maker:
    return lambda report, measure: table_of(report, form)


def _curve(form: str) -> Maker:
    def make(report: Report, measure: str) -> bytes | IO[bytes]:
        kind = first_curve(figures_of(report), measure)
        return CHART_FILES[form].make(report, kind, usual_choice(report, measure))

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
