"""A result as the HTML report of `evaluate --html`, whatever its runs and labels came from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.charts.html_file import checksum, figures_of, summary_of
from evaluation.charts.html_report import HtmlReport, render_html
from evaluation.rendering.estimate_tables import estimate_tables
from evaluation.report_store.provenance import Provenance, software_versions
from evaluation.scoring.estimate_figures import Estimates
from evaluation.scoring.results import Evaluation
from pooling.formats.wording import counted

__all__ = ["figures_of", "html_of"]


def html_of(result: Evaluation, sentences: Sequence[str], estimates: Estimates | None = None) -> str:
    """The whole file; sentences: what it begins with."""
    interval = result.settings["interval"]
    measure, k = result.example_key()
    name, sha256 = _named(result.qrels, "qrels")
    provenance = Provenance(
        labels=(name, sha256),
        runs=[(run, _named(source, run)[1]) for run, source in result.sources.items()],
        software=software_versions(),
        samples=interval["samples"],
        seed=interval["seed"],
        pool=result.settings["pool"],
        command=_call(result),
    )
    only = next(iter(result.runs)) if len(result.runs) == 1 else None
    report = HtmlReport(
        title=f"{name}, {counted(len(result.runs), 'run')}",
        summary=summary_of(result) if only is None else result.convention_line(only, measure, k),
        figures=figures_of(result),
        provenance=provenance,
        notes=[*result.notes, *result.left_out(), *result.warnings(), *result.below()],
        measures=result.measures,
        sentences=sentences,
        worth=[] if estimates is None else estimate_tables(result.to_dict()["runs"], estimates),
    )
    return render_html(report)


def _named(source: Any, otherwise: str) -> tuple[str, str]:
    if isinstance(source, str | Path) and Path(source).is_file():
        return Path(source).name, checksum(Path(source))
    return otherwise, ""


def _call(result: Evaluation) -> str:
    interval = result.settings["interval"]
    conventions = ", ".join(f"{name}={value!r}" for name, value in result.conventions.to_dict().items())
    duplicates = result.settings.get("duplicates")
    groups = f", duplicates={duplicates['file']!r}, count={duplicates['count']!r}" if duplicates else ""
    return (
        f"soundings.evaluate(qrels, runs, k={result.cutoffs.tolist()}, measures={list(result.measures)}, "
        f"conventions=Conventions({conventions}), bootstrap_samples={interval['samples']}, "
        f"seed={interval['seed']}, confidence={interval['level']}{groups})"
    )
