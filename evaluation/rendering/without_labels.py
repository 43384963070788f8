"""What `evaluate` does where nothing is measured over documents, so that their labels may be left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.rendering.gates import write_gates
from evaluation.scoring.expectations import Check
from pooling.formats.registry import source_of
from pooling.interface.terminal import Writer, is_same_file

# The fewest fields of a line of a run; labels have four.
_FIELDS_OF_A_RUN = 5
# What has a meaning over documents alone.
_OF_DOCUMENTS = {
    "html": "--html",
    "compare": "--compare",
    "trade_offs": "--trade-offs",
    "by": "--by",
    "by_tag": "--by-tag",
    "stage1": "--stage1",
    "complete": "--complete",
    "minimum_queries": "--minimum-queries",
    "duplicates": "--duplicates",
    "count": "--count",
}


def labels_and_runs(options: Mapping[str, Any], other: Path) -> tuple[Path | None, list[Path]]:
    """The labels of documents, None where there are none, and the runs; other: what is measured in their
    place, which may stand before the runs as well."""
    paths = [options["qrels"], *options["runs"]]
    if is_same_file(paths[0], other):
        labels, runs = None, paths[1:]
    elif len(paths) == 1 or _is_run(paths[0]):
        labels, runs = None, paths
    else:
        labels, runs = paths[0], paths[1:]
    if not runs:
        raise ValueError("The following arguments are required: RUN. Name one run or more.")
    return labels, runs


def refuse_of_documents(options: Mapping[str, Any]) -> None:
    """ValueError for an option that needs measures over documents."""
    for name, written in _OF_DOCUMENTS.items():
        if options[name]:
            raise ValueError(f"{written} is about documents; name their labels, and a measure over them.")


def _is_run(path: Path) -> bool:
    """Whether a text file has the fields of a run of TREC."""
    if not path.is_file():
        return False
    source = source_of(path, None, None)
    if source.format != "trec":
        return False
    lines = (line for _, line in source.lines() if line.strip() and not line.startswith(b"#"))
    return len(next(lines, b"").split()) >= _FIELDS_OF_A_RUN


def checked_figures(
    runs: Mapping[str, Mapping[str, Any]], thresholds: Mapping[str, float], rests_on: str
) -> list[Check]:
    """Every run's mean against every threshold, by the keys of the figures."""
    return [
        Check(run, key, wanted, figures[key]["mean"], figures[key]["queries"], rests_on)
        for key, wanted in ((name.strip().lower(), wanted) for name, wanted in thresholds.items())
        for run, figures in runs.items()
    ]


def finished(
    options: Mapping[str, Any],
    checks: Sequence[Check],
    tables: Callable[[], str],
    *,
    sentences: Sequence[str],
    errors: Writer,
) -> int:
    """Write the thresholds, and then sentences and what is below; the exit code. tables: in Markdown."""
    write_gates(options, checks, tables)
    failures = [check.sentence for check in checks if check.is_below]
    for sentence in (*sentences, *failures):
        errors.write(f"{sentence}\n")
    return 1 if failures else 0
