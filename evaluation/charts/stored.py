"""The pictures of a report: drawn from its files, kept next to them where they are of the usual choice."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypedDict

from evaluation.charts import drawing as charts
from evaluation.charts.kinds import KINDS, ChartChoice, ChartKind, default_choice
from evaluation.charts.tables import Figures
from evaluation.models import Report
from evaluation.report_store.files import LOOK, beside, run_names, scan_per_query, scan_relevant
from pooling.formats.cells import table_text
from pooling.heavy import alt
from pooling.interface.charting import in_look
from pooling.interface.downloads import Download
from pooling.storage.pictures import kept_svg

# What Vega-Lite draws, in its own schema.
Specification = dict[str, Any]


def figures_of(report: Report) -> Figures:
    return Figures(
        report.result,
        run_names(report),
        scan_per_query(report),
        scan_relevant(report),
        report.result.get("facts"),
    )


def usual_choice(report: Report, measure: str = "recall", k: int | None = None) -> ChartChoice:
    return default_choice(figures_of(report), measure, k)


def kinds_of(report: Report) -> dict[str, ChartKind]:
    figures = figures_of(report)
    return {name: kind for name, kind in KINDS.items() if kind.is_there(figures)}


def chart_of(
    report: Report, kind: ChartKind, choice: ChartChoice, variant: str = "light", *, live: bool = False
) -> alt.LayerChart:
    """A picture as a specification; `variant` is one of `pooling.interface.charting.VARIANTS`."""
    figures = figures_of(report)
    look: dict[str, Any] = {"dark": variant.startswith("dark"), "narrow": variant.endswith("narrow")}
    if live:
        look["live"] = True
    return kind.draw(kind.table(figures, choice), figures, choice, **look)


def chart_svg(report: Report, kind: ChartKind, choice: ChartChoice, variant: str) -> bytes:
    """A picture as SVG; one of the usual choice is drawn once and then kept next to the report's data."""
    light = variant.replace("dark", "light")
    if choice != usual_choice(report, choice.measure, choice.k):
        return in_look(charts.to_svg(chart_of(report, kind, choice, light)), variant)
    at = choice.measure if kind.is_live else f"{choice.measure}-{choice.k}"
    stem = beside(report, f"{kind.name}-{at}-{LOOK}")
    return kept_svg(stem, variant, lambda is_narrow: chart_of(report, kind, choice, light))


def live_chart(report: Report, kind: ChartKind, choice: ChartChoice, variant: str) -> Specification:
    """A picture as the specification that a page draws and that answers to the pointer."""
    specification: Specification = chart_of(report, kind, choice, variant, live=True).to_dict()
    return specification


def _svg(report: Report, kind: ChartKind, choice: ChartChoice) -> bytes:
    return chart_svg(report, kind, choice, "light")


def _png(report: Report, kind: ChartKind, choice: ChartChoice) -> bytes:
    return charts.to_png(chart_of(report, kind, choice), scale=3)


def _pdf(report: Report, kind: ChartKind, choice: ChartChoice) -> bytes:
    return charts.to_pdf(chart_of(report, kind, choice))


def chart_csv(report: Report, kind: ChartKind, choice: ChartChoice) -> bytes:
    table = kind.table(figures_of(report), choice)
    rows = table.astype(object).where(table.notna(), None).itertuples(index=False, name=None)
    return table_text(list(table.columns), rows).encode()


class ChartData(TypedDict):
    """A picture as its table, in words and numbers; undefined is null."""

    name: str
    title: str
    measure: str
    k: int
    chosen: list[str]
    a: str
    b: str
    reading: str
    summary: Annotated[str, "What it shows, in a sentence."]
    columns: list[str]
    rows: list[list[object]]


def chart_data(report: Report, kind: ChartKind, choice: ChartChoice) -> ChartData:
    table = kind.table(figures_of(report), choice)
    rows = [
        [None if value != value else value for value in row]  # NaN is nothing that JSON knows
        for row in table.astype(object).itertuples(index=False, name=None)
    ]
    return {
        "name": kind.name,
        "title": kind.title(choice),
        "measure": choice.measure,
        "k": choice.k,
        "chosen": list(choice.chosen),
        "a": choice.first,
        "b": choice.second,
        "reading": kind.reading,
        "summary": kind.summary(table, choice),
        "columns": list(table.columns),
        "rows": rows,
    }


def _json(report: Report, kind: ChartKind, choice: ChartChoice) -> bytes:
    content = json.dumps(chart_data(report, kind, choice), ensure_ascii=False, allow_nan=False)
    return f"{content}\n".encode()


CHART_FILES = {
    "svg": Download(".svg", "image/svg+xml", _svg),
    "png": Download(".png", "image/png", _png),
    "pdf": Download(".pdf", "application/pdf", _pdf),
    "csv": Download(".csv", "text/csv", chart_csv),
    "json": Download(".json", "application/json", _json),
}
