from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from typing import Any

from django.urls import reverse

from evaluation.indexes.chart import latency_chart_size, recall_and_latency
from evaluation.indexes.latency import LatencyRow, LatencyTable
from evaluation.indexes.tables import AgainstResult, latency_as_csv, latency_cells
from evaluation.models import LatencyReport
from evaluation.rendering.formats import render_tables
from evaluation.scoring.wording import decimal, interval, share_in_words
from pooling.formats.cells import table_text
from pooling.interface.charting import VARIANTS, to_png
from pooling.interface.downloads import Download
from pooling.storage.pictures import kept_svg

# Counts up when the picture changes, so that those of older versions are drawn again.
LOOK = 1


def stored_table(report: LatencyReport) -> LatencyTable:
    """The stored table; parameters in the order of the file, which the database does not keep."""
    result: AgainstResult = report.result
    latency, names = result["latency"], report.options["parameters"]
    rows: list[LatencyRow] = [
        {**row, "parameters": {name: row["parameters"][name] for name in names}} for row in latency["rows"]
    ]
    return LatencyTable(latency["k"], result["conventions"]["interval"]["level"], rows, latency.get("target"))


def latency_context(report: LatencyReport) -> dict[str, Any]:
    table = stored_table(report)
    first = next(iter(report.result["runs"].values()))
    queries = report.result["queries"]
    return {
        "summary": table.sentence(),
        "rows": [
            {
                **row,
                "value": decimal(row["mean"]),
                "interval": interval(row).strip(),
                "tail": [decimal(row["min"]), *(decimal(row["percentiles"][p]) for p in ("1", "5"))],
                "cells": list(row["parameters"].values()),
                "is_answer": table.target is not None and row["run"] == table.target["cheapest"],
            }
            for row in table.rows
        ],
        "k": table.k,
        "parameters": report.options["parameters"],
        "target": report.options["target"],
        "level": share_in_words(table.confidence),
        "line": next(iter(first.values()))["line"].partition(" · ")[2],
        "tied": any("ties" in figure for run in report.result["runs"].values() for figure in run.values()),
        "unanswered": {run: count for run, count in queries["missing"].items() if count},
        "front": table.front,
        "picture": _picture(report, table),
    }


def _picture(report: LatencyReport, table: LatencyTable) -> dict[str, Any]:
    key = latency_key(report)
    return {
        "addresses": {
            variant.replace("-", "_"): f"{reverse('latency_chart', args=[report.pk, variant])}?v={key}"
            for variant in VARIANTS
        },
        "wide": latency_chart_size(),
        "narrow": latency_chart_size(narrow=True),
        "alt": f"Recall@{table.k} of {len(table.rows)} settings over their latency; on the Pareto front are "
        f"{', '.join(table.front)}. The table below has the figures.",
        "reading": "Up and to the left is better. The line joins the Pareto front: no other setting is "
        "better in one and no worse in the other. "
        f"Bars: {share_in_words(table.confidence)} interval over queries.",
    }


def latency_key(report: LatencyReport) -> str:
    """Differs between any two pictures: what makes an address safe to cache for ever."""
    content = json.dumps([LOOK, report.result["latency"]], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def latency_svg(report: LatencyReport, variant: str) -> bytes:
    """Recall against latency as SVG; `variant` is one of `pooling.interface.charting.VARIANTS`."""
    stem = f"latency/{latency_key(report)}"
    return kept_svg(
        stem, variant, lambda is_narrow: recall_and_latency(stored_table(report), narrow=is_narrow)
    )


def latency_json(report: LatencyReport) -> bytes:
    """The object that `evaluate --against --format json` prints."""
    return (json.dumps(report.result, ensure_ascii=False, indent=2) + "\n").encode()


def latency_text(form: str) -> Callable[[LatencyReport], bytes]:
    def make(report: LatencyReport) -> bytes:
        return render_tables([latency_cells(stored_table(report))], form).encode()

    return make


def settings_csv(report: LatencyReport) -> bytes:
    header, *rows = csv.reader(io.StringIO(report.options["settings"], newline=""))
    return table_text(header, rows).encode()


FILES: dict[str, Download[[LatencyReport]]] = {
    "csv": Download(".csv", "text/csv", lambda report: latency_as_csv(stored_table(report)).encode()),
    "json": Download(".json", "application/json", latency_json),
    "markdown": Download(".md", "text/markdown", latency_text("markdown")),
    "latex": Download(".tex", "application/x-tex", latency_text("latex")),
    "svg": Download(".svg", "image/svg+xml", lambda report: latency_svg(report, "light")),
    "png": Download(".png", "image/png", lambda report: to_png(recall_and_latency(stored_table(report)))),
    "settings": Download("-settings.csv", "text/csv", settings_csv),
}
