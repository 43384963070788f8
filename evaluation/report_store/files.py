"""The files of a report, in one folder of the file storage: values by query and relevant documents with their
ranks as Parquet, the tables as text, and the pictures once they were asked for.

A page reads only the part it shows: rows of one run and measure, or the documents of a few queries.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import cast
from uuid import uuid4

from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils.text import slugify

from evaluation.measures import key_of
from evaluation.models import Report
from evaluation.rendering.cells import Part
from evaluation.rendering.formats import render
from evaluation.scoring.figures import EvaluationResult, Figure, as_read
from evaluation.scoring.results import Evaluation
from evaluation.scoring.wording import usual_cutoff as usual_cutoff
from pooling.heavy import np, pl
from pooling.interface.problems import InputError
from pooling.models import Run
from pooling.storage.copies import local_path

# Counts up when the pictures change, so that those of older versions are drawn again.
LOOK = 6
# Written by `report_comparisons.py`.
OTHERS = (
    "comparisons.json",
    "unjudged.parquet",
    "facts.parquet",
    "fact-documents.parquet",
    "fact-tops.parquet",
)
TABLES = {"csv": "report.csv", "json": "report.json", "markdown": "report.md", "latex": "report.tex"}


def store_parts(
    report: Report, evaluation: Evaluation, qrels: pl.DataFrame, answer: Part | None = None
) -> None:
    """Write tables and Parquet files to a new folder, named in `report`, unsaved; answer: how texts begin."""
    folder = f"reports/{report.collection.slug}/{uuid4().hex}"
    report.per_query.name = f"{folder}/per-query.parquet"
    report.relevant.name = f"{folder}/relevant.parquet"
    # One row group holds one run and measure: what a page asks for is one of them.
    rows = len(evaluation.labels.query_ids) * len(evaluation.cutoffs)
    put_frame(report.per_query.name, evaluation.per_query_frame(), max(rows, 1))
    put_frame(report.relevant.name, _relevant_frame(evaluation, qrels), 50_000)
    for form, name in TABLES.items():
        # CSV has no place for estimates.
        estimates = None if form == "csv" else report.result["estimates"]
        text = (
            _as_json(report)
            if form == "json"
            else render(evaluation, form, estimates=estimates, parts=[answer] if answer else [])
        )
        default_storage.save(f"{folder}/{name}", ContentFile(text.encode()))


def _as_json(report: Report) -> str:
    """The stored object, which has the estimates next to what `evaluate --format json` prints."""
    return json.dumps(report.result, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def delete_parts(report: Report) -> None:
    """Remove what `store_parts` wrote, whole or in part."""
    tables = (beside(report, name) for name in (*TABLES.values(), *OTHERS))
    for name in (report.per_query.name, report.relevant.name, *tables):
        default_storage.delete(str(name))
    try:
        pictures = default_storage.listdir(str(PurePosixPath(str(report.per_query.name)).parent))[1]
    except (FileNotFoundError, NotImplementedError):
        return  # nothing was drawn, or the storage cannot say what was: pictures are left then
    for name in pictures:
        default_storage.delete(beside(report, name))


def read_table(report: Report, form: str) -> bytes:
    """The report as text in one of TABLES, as `evaluate --format` prints it, with its estimates."""
    with default_storage.open(beside(report, TABLES[form]), "rb") as file:
        return bytes(file.read())


def beside(report: Report, name: str) -> str:
    return str(PurePosixPath(str(report.per_query.name)).with_name(name))


def file_stem(report: Report) -> str:
    return slugify(report.name) or f"report-{report.pk}"


def put_frame(name: str, frame: pl.DataFrame, row_group_size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.parquet"
        frame.write_parquet(path, compression="zstd", row_group_size=row_group_size)
        with path.open("rb") as file:
            default_storage.save(name, File(file))


def _relevant_frame(evaluation: Evaluation, qrels: pl.DataFrame) -> pl.DataFrame:
    """Every relevant pair: query_id, document_id, relevance, and rank_0 ... in the order of the runs."""
    labels = evaluation.labels
    rows = np.flatnonzero(labels.relevant)
    ranks = {
        f"rank_{index}": pl.Series(run.counted.position[rows]).cast(pl.UInt32)
        for index, run in enumerate(evaluation.runs.values())
    }
    pairs = pl.DataFrame(
        {
            "query_id": labels.query_ids.gather(labels.query[rows]),
            "document_id": labels.document_ids.gather(rows),
            **{name: rank.replace(0, None) for name, rank in ranks.items()},
        }
    )
    graded = pairs.join(qrels, on=["query_id", "document_id"], how="left", maintain_order="left")
    return graded.select("query_id", "document_id", "relevance", *ranks)


def run_names(report: Report) -> list[str]:
    return [run["name"] for run in report.options["runs"]]


def result_of(report: Report) -> EvaluationResult:
    """The object of `evaluate --format json`, in its order, which a database need not keep in an object."""
    measures: list[str] = report.result["conventions"]["measures"]

    def place(key: str) -> tuple[int, float]:
        name, _, k = key.partition("@")
        return measures.index(name) if name in measures else len(measures), float(k or "inf")

    figures: dict[str, dict[str, Figure]] = report.result["runs"]
    runs = {
        run: {key: figures[run][key] for key in sorted(figures[run], key=place)} for run in run_names(report)
    }
    return cast("EvaluationResult", {**report.result, "runs": runs})


def stored_runs(report: Report) -> dict[str, Run]:
    """The report's runs by its names for them, found by file where renamed since; none that are deleted."""
    left = list(report.runs.defer("preflight"))
    runs: dict[str, Run] = {}
    for is_same in (lambda run, provenance: run.name == provenance["name"], lambda run, provenance: True):
        for provenance in report.options["runs"]:
            run = next(
                (one for one in left if one.sha256 == provenance["sha256"] and is_same(one, provenance)), None
            )
            if run is not None and provenance["name"] not in runs:
                runs[provenance["name"]] = run
                left.remove(run)
    return runs


def runs_of(report: Report) -> list[Run]:
    """The report's runs in its order, by their names of today; `InputError` for one that was deleted."""
    stored = stored_runs(report)
    if gone := next((name for name in run_names(report) if name not in stored), None):
        names = _names_of_deleted(report, gone)
        raise InputError(f"Run {names} of this report was deleted. Restore it first.", field="runs")
    return [stored[name] for name in run_names(report)]


def _names_of_deleted(report: Report, name: str) -> str:
    stamp = next(one["sha256"] for one in report.options["runs"] if one["name"] == name)
    runs = Run.everything.filter(collection=report.collection_id, sha256=stamp).exclude(deleted_at=None)
    names = list(runs.values_list("name", flat=True))
    return f"“{name}”" if not names or name in names else f"“{name}” (renamed to “{names[0]}”)"


def cutoffs_of(report: Report, measure: str) -> list[int | None]:
    """The values of K a measure has in the report, rising; None at the end if it is over the whole run."""
    figures = report.result["runs"][run_names(report)[0]]
    pairs = (key.partition("@") for key in figures)
    at = sorted(int(k) for name, _, k in pairs if name == measure and k)
    return [*at, *([None] if measure in figures else [])]


def check_measure(report: Report, measure: str, k: int | None) -> None:
    """`InputError` for a measure or a K that the report does not have."""
    measures = report.options["measures"]
    if measure not in measures:
        problem = f"This report has no measure {measure}; choose one of {', '.join(measures)}."
        raise InputError(problem, field="measure")
    cutoffs = cutoffs_of(report, measure)
    if k not in cutoffs:
        names = ", ".join("none (the whole run)" if at is None else str(at) for at in cutoffs)
        cutoff = "no K" if k is None else f"K = {k}"
        raise InputError(
            f"This report does not have {measure} at {cutoff}; choose one of {names}.", field="k"
        )


def check_runs(report: Report, runs: Sequence[str], field: str = "run") -> None:
    """`InputError` for a run that the report does not have."""
    for run in runs:
        if run not in run_names(report):
            problem = f"This report has no run {run}; choose one of {', '.join(run_names(report))}."
            raise InputError(problem, field=field)


def figure_of(report: Report, run: str, measure: str, k: int | None) -> Figure:
    """The figure of one run, measure and K (None: over the whole run) as people read it."""
    return as_read(report.result["runs"][run][key_of(measure, k)])


def places_note(report: Report, measure: str, k: int | None) -> str:
    """What a reader of judged@K by query must know where lists are short; "" where no mean is another."""
    key = key_of(measure, k)
    figures = [figures[key] for figures in report.result["runs"].values() if key in figures]
    if all(as_read(figure)["mean"] == figure["mean"] for figure in figures):
        return ""
    return (
        f"By query, {key} is the share of all {k} places: the empty places of a shorter list count as "
        "unjudged. The tables of the report show the share of what was retrieved."
    )


def scan_per_query(report: Report) -> pl.LazyFrame:
    """Values by query: run, query_id, measure, k, value (null: the query does not count)."""
    return _scan(str(report.per_query.name))


def scan_relevant(report: Report) -> pl.LazyFrame:
    """Every relevant pair: query_id, document_id, relevance, rank_0 … in the order of the runs."""
    return _scan(str(report.relevant.name))


def scan_beside(report: Report, name: str) -> pl.LazyFrame:
    return _scan(beside(report, name))


def relevant_counts(report: Report, run: str, k: int) -> pl.DataFrame:
    """Per query with a relevant label: query_id, relevant, found (those in the run's first k)."""
    rank = f"rank_{run_names(report).index(run)}"
    counts = (
        scan_relevant(report)
        .group_by("query_id")
        .agg(pl.len().alias("relevant"), (pl.col(rank) <= k).sum().alias("found"))
    )
    return counts.collect()


def relevant_total(report: Report) -> int:
    return int(scan_relevant(report).select(pl.len()).collect().item())


def relevant_of(report: Report, query_ids: Sequence[str]) -> pl.DataFrame:
    return scan_relevant(report).filter(pl.col("query_id").is_in(list(query_ids))).collect()


def _scan(name: str) -> pl.LazyFrame:
    return pl.scan_parquet(local_path(name))


def chart_key(report: Report) -> str:
    """Differs between any two reports and looks: what makes a picture's address safe to cache for ever."""
    return f"{PurePosixPath(str(report.per_query.name)).parent.name[:12]}-{LOOK}"
