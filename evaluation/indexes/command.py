"""`evaluate --against EXACT_RUN RUN…` without Django; heavy libraries wait until it runs."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from evaluation.indexes.chart import recall_and_latency
from evaluation.indexes.latency import (
    LatencyTable,
    latency_table,
    parse_target,
    read_index_settings,
    settings_of_runs,
)
from evaluation.indexes.recall import DEFAULT_CUTOFFS, AgainstExact, recall_against
from evaluation.indexes.tables import render_against
from evaluation.rendering.gates import write_gates
from evaluation.rendering.per_query import check_per_query_path, write_values
from evaluation.scoring.config import Settings
from evaluation.scoring.expectations import checked
from pooling.formats.registry import name_of
from pooling.formats.sources import require_file
from pooling.interface.charting import to_png, to_svg
from pooling.interface.terminal import Writer
from pooling.options import add_file
from pooling.ranking.chunks import Chunks

# Options that have no meaning where there are no labels, as they are written.
OF_LABELS = {
    "measure": "--measure",
    "pool": "--pool",
    "html": "--html",
    "zero_relevant": "--zero-relevant",
    "min_relevance": "--min-relevance",
    "negative": "--negative",
    "drop_query_document": "--drop-query-document",
    "by_tag": "--by-tag",
    "minimum_queries": "--minimum-queries",
    "compare": "--compare",
    "complete": "--complete",
    "trade_offs": "--trade-offs",
    "stage1": "--stage1",
    "k1": "--k1",
    "facts": "--facts",
    "spans": "--spans",
    "duplicates": "--duplicates",
    "count": "--count",
}
CHARTS = (".svg", ".png")


def add_against_arguments(parser: ArgumentParser) -> None:
    parser.conflict_handler = "resolve"  # Django's commands have a --settings, which this one does not need
    parser.set_defaults(settings=None)
    group = parser.add_argument_group("approximate runs")
    add_file(
        group,
        "--against",
        "recall of the runs against this exact one, at the same K; there are no QRELS then",
        metavar="EXACT_RUN",
    )
    add_file(
        group,
        "--settings",
        "CSV with run,latency_ms and parameters: recall against latency, and the Pareto front",
        dest="index_settings",
    )
    group.add_argument(
        "--target",
        metavar="MEASURE=VALUE",
        help="which setting is the cheapest to reach it, for instance recall@10=0.95",
    )
    add_file(group, "--chart", "recall against latency as a picture: .svg or .png")


def refuse_without_exact_run(options: Mapping[str, Any]) -> None:
    """ValueError for options that belong to --against."""
    for name, value in (("settings", "index_settings"), ("target", "target"), ("chart", "chart")):
        if options[value] is not None:
            raise ValueError(f"--{name} belongs to --against EXACT_RUN; name the exact run, or leave it out.")


def run_against(
    options: Mapping[str, Any],
    settings: Settings,
    queries: Collection[str] | None,
    chunks: Chunks | None,
    *,
    output: Writer,
    errors: Writer,
) -> int:
    """Measure, write what was asked for, then compare with the thresholds: the exit code."""
    _refuse_what_needs_labels(options, settings)
    target = None if options["target"] is None else parse_target(options["target"])
    wanted = settings.thresholds or {}
    arguments = {
        name: value
        for name, value in settings.arguments().items()
        if name in ("conventions", "bootstrap_samples", "seed", "confidence", "thresholds")
    }
    runs = _runs(options)
    check_per_query_path(options["per_query"], len(runs))
    k = list(settings.k or DEFAULT_CUTOFFS)
    if target is not None:
        k.append(target[0])
    against = recall_against(
        options["against"],
        runs,
        k,
        exact_name=name_of(options["against"]),
        queries=queries,
        chunks=chunks,
        **arguments,
    )
    latency = _latency(against, options, target)
    write_values(options["per_query"], against)
    output.write(render_against(against, options["format"], terminal=output.isatty(), latency=latency))
    if latency is not None and (path := options["chart"]):
        chart = recall_and_latency(latency)
        path.write_bytes(to_svg(chart) if path.suffix == ".svg" else to_png(chart))
    checks = checked(against.runs, wanted)
    write_gates(options, checks, lambda: render_against(against, "markdown", latency=latency))
    failures = [check.sentence for check in checks if check.is_below]
    for sentence in (*against.notes, *failures):
        errors.write(f"{sentence}\n")
    return 1 if failures else 0


def _runs(options: Mapping[str, Any]) -> list[Path]:
    """All positional files; the first is where labels would stand."""
    runs = [options["qrels"], *options["runs"]]
    if _looks_like_labels(runs[0]):
        name = runs[0].name
        raise ValueError(f"{name} holds labels; --against EXACT_RUN takes their place, so leave {name} out.")
    return runs


def _looks_like_labels(path: Path) -> bool:
    """A text file that begins with a line of qrels: four fields, a whole number last."""
    require_file(path)
    with path.open("rb") as file:
        fields = file.readline(10_000).split()
    return len(fields) == 4 and fields[3].lstrip(b"-").isdigit()


def _refuse_what_needs_labels(options: Mapping[str, Any], settings: Settings) -> None:
    for name, written in OF_LABELS.items():
        if options.get(name):
            raise ValueError(f"{written} needs labels, and --against has none; leave one of the two out.")
    if options["engine"] != "local":
        raise ValueError("--against works on this machine; leave --engine out.")
    others = [name for name in settings.measures or () if name.partition("@")[0] != "recall"]
    if others:
        raise ValueError(f"Against a run only recall is measured, not {others[0]}; leave it out.")
    for name in ("target", "chart"):
        if options[name] and not options["index_settings"]:
            raise ValueError(f"--{name} needs the latency of the runs; name it with --settings FILE.")
    chart = options["chart"]
    if chart and chart.suffix not in CHARTS:
        raise ValueError(f"{chart.name} ends in none of {', '.join(CHARTS)}; the suffix names the format.")
    if chart and not chart.absolute().parent.is_dir():
        raise ValueError(f"There is no folder {chart.parent}; create it or name another.")


def _latency(
    against: AgainstExact, options: Mapping[str, Any], target: tuple[int, float] | None
) -> LatencyTable | None:
    if options["index_settings"] is None:
        return None

    path = options["index_settings"]
    settings = settings_of_runs(read_index_settings(path), list(against.runs), path.name)
    if target is None:
        cutoffs = against.cutoffs.tolist()
        return latency_table(against, settings, 10 if 10 in cutoffs else cutoffs[-1])
    return latency_table(against, settings, *target)
