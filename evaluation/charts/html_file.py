"""`evaluate --html FILE`: the report of files as one HTML file. No Django here."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.charts.html_report import HtmlReport, render_html
from evaluation.charts.tables import Figures
from evaluation.rendering.estimate_tables import estimate_tables
from evaluation.rendering.span_tables import span_cells
from evaluation.report_store.provenance import Provenance, command_of, software_versions
from evaluation.scoring.config import Settings
from evaluation.scoring.estimate_figures import Estimates, runs_with_estimates
from evaluation.scoring.results import Evaluation
from pooling.formats.registry import named_file
from pooling.formats.wording import plural

SUFFIXES = (".html", ".htm")


def check_html_path(path: Path) -> None:
    """ValueError when `write_html` could not write there; better said before the work than after it."""
    if path.suffix not in SUFFIXES:
        raise ValueError(f"{path.name} ends in none of {', '.join(SUFFIXES)}; --html writes such a file.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"There is no folder {path.parent}; create it or name another.")


def write_html(
    evaluation: Evaluation,
    settings: Settings,
    options: Mapping[str, Any],
    estimates: Estimates | None = None,
    *,
    sentences: Sequence[str] = (),
) -> None:
    """Write the evaluation of the command's files to the path under `html`; estimates: of
    `evaluation.estimates.of_pool`, where a pool was named; sentences: what it begins with."""
    measure, k = evaluation.example_key()
    runs = [named_file(path)[1] for path in options["runs"]]
    provenance = Provenance(
        labels=(options["qrels"].name, checksum(options["qrels"]) if options["qrels"].is_file() else ""),
        runs=[(path.name, checksum(path)) for path in runs],
        software=software_versions(),
        interval=evaluation.settings["interval"],
        pool=evaluation.settings["pool"],
        command=_command(settings, evaluation, options),
    )
    first = next(iter(evaluation.runs))
    report = HtmlReport(
        title=f"{options['qrels'].name}, {len(runs)} {plural(len(runs), 'run')}",
        summary=evaluation.convention_line(first, measure, k) if len(runs) == 1 else summary_of(evaluation),
        figures=figures_of(evaluation, estimates),
        provenance=provenance,
        notes=[*evaluation.notes, *evaluation.left_out(), *evaluation.warnings(), *evaluation.below()],
        measures=evaluation.measures,
        sentences=sentences,
        tables=[] if evaluation.spans is None else [span_cells(evaluation.spans)],
        worth=[] if estimates is None else estimate_tables(evaluation.to_dict()["runs"], estimates),
    )
    options["html"].write_text(render_html(report), encoding="utf-8")


def figures_of(evaluation: Evaluation, estimates: Estimates | None = None) -> Figures:
    result = Evaluation.to_dict(evaluation)
    return Figures(
        result if estimates is None else {**result, "runs": runs_with_estimates(result["runs"], estimates)},
        list(evaluation.runs),
        evaluation.per_query_frame().lazy(),
        evaluation.relevant_frame().select("query_id").lazy(),
    )


def summary_of(evaluation: Evaluation) -> str:
    outside = evaluation.outside_draw
    line = evaluation.conventions.line(
        scored=int((evaluation.in_mean & ~outside).sum()),
        total=evaluation.labels.query_count,
        without_relevant=int((~evaluation.labels.has_relevant & ~outside).sum()),
        outside=int(outside.sum()),
    )
    return f"{line}{evaluation.inputs_in_words}"


def _command(settings: Settings, evaluation: Evaluation, options: Mapping[str, Any]) -> str:
    """The line with every convention and number spelled out, and the other files that were read."""
    from dataclasses import replace

    interval = evaluation.settings["interval"]
    spelled = replace(
        settings,
        k=tuple(evaluation.cutoffs.tolist()),
        conventions=evaluation.conventions.to_dict(),
        samples=interval["samples"],
        seed=interval["seed"],
        confidence=interval["level"],
    )
    runs = [str(path) for path in options["runs"]]
    command = command_of(spelled, str(options["qrels"]), runs, complete=options["complete"])
    for name in ("pool", "queries", "tag", "duplicates", "count", "spans", "chunk_map", "collapse_chunks"):
        values = options[name] if isinstance(options[name], list) else [options[name]]
        for value in filter(None, values):
            command += f" --{name.replace('_', '-')} {shlex.quote(str(value))}"
    if settings.tags:
        command += f" --by-tag {shlex.join(settings.tags)}"
    return command


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
