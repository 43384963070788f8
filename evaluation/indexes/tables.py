"""Runs against an exact one as text: table, JSON, CSV, Markdown, LaTeX, each with its conventions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from evaluation.indexes.latency import LatencyTable, LatencyTableResult
from evaluation.indexes.recall import PERCENTILES, AgainstExact, AgainstFigure, AgainstSettings
from evaluation.measures import key_of, split_name, titled
from evaluation.rendering.cells import Cells
from evaluation.rendering.formats import FORMATS, mlflow_text, render_tables
from evaluation.scoring.coverage import ids_where
from evaluation.scoring.expectations import below
from evaluation.scoring.figures import ThresholdResult
from evaluation.scoring.results import decimal, interval
from evaluation.scoring.wording import interval_in_words, interval_or_why_not
from pooling.formats.cells import table_text
from pooling.formats.wording import counted, plural


class AgainstConventions(AgainstSettings):
    against: str
    missing: str
    ties: str
    scores: str
    k: list[int]
    measures: list[str]


class AgainstQueries(TypedDict):
    """The exact run's queries, and by run those it does not answer and those that the exact run lacks."""

    labelled: int
    scored: int
    without_relevant: int
    missing: dict[str, int]
    unknown: dict[str, int]
    missing_ids: dict[str, Sequence[str]]


class AgainstResult(TypedDict):
    """What `evaluate --against --format json` prints."""

    conventions: AgainstConventions
    queries: AgainstQueries
    runs: dict[str, dict[str, AgainstFigure]]
    thresholds: NotRequired[dict[str, ThresholdResult]]
    latency: NotRequired[LatencyTableResult]
    warnings: NotRequired[list[str]]


def render_against(
    against: AgainstExact, form: str, *, terminal: bool = False, latency: LatencyTable | None = None
) -> str:
    if form not in FORMATS:
        raise ValueError(f"There is no format {form!r}; choose one of {', '.join(FORMATS)}.")
    if form == "json":
        content = against_as_dict(against, latency)
        return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    if form == "mlflow":
        if latency is not None:
            raise ValueError("MLflow does not support latencies; choose another format.")
        return mlflow_text({name: run.figures for name, run in against.runs.items()})
    if form == "csv":
        return against_as_csv(against) if latency is None else latency_as_csv(latency)
    tables = [against_cells(against), *([] if latency is None else [latency_cells(latency)])]
    return render_tables(tables, form, terminal=terminal)


def against_as_dict(against: AgainstExact, latency: LatencyTable | None = None) -> AgainstResult:
    """The object that `--format json` prints, in the shape of `evaluate` on qrels."""
    missing = {name: run.depth == 0 for name, run in against.runs.items()}
    queries = against.exact.pairs.queries
    content: AgainstResult = {
        "conventions": {
            "against": against.exact.name,
            "missing": against.conventions.missing,
            "ties": against.conventions.ties,
            "scores": against.conventions.scores,
            "k": against.cutoffs.tolist(),
            "measures": ["recall"],
            **against.settings,
        },
        "queries": {
            "labelled": len(against.query_ids),
            "scored": len(against.query_ids),
            "without_relevant": 0,
            "missing": {name: int(mask.sum()) for name, mask in missing.items()},
            "unknown": {name: run.unknown for name, run in against.runs.items()},
            "missing_ids": {name: ids_where(queries, mask) for name, mask in missing.items()},
        },
        "runs": {name: _with_lines(against, name) for name in against.runs},
    }
    if against.thresholds:
        missed = below(against.runs, against.thresholds)
        wanted = {key_of(*split_name(name)): least for name, least in against.thresholds.items()}
        content["thresholds"] = {
            name: {"at_least": least, "below": [run for run, key, _ in missed if key == name]}
            for name, least in wanted.items()
        }
    if latency is not None:
        content["latency"] = latency.to_dict()
    if beyond := short_list_warnings(against):
        content["warnings"] = beyond
    return content


def _with_lines(against: AgainstExact, run: str) -> dict[str, AgainstFigure]:
    figures = against.runs[run].figures
    return {key: {**figure, "line": against_line(against, run, key)} for key, figure in figures.items()}


def against_line(against: AgainstExact, run: str, key: str) -> str:
    measured, figure = against.runs[run], against.runs[run].figures[key]
    measure, k = split_name(key)
    missing, many = int((measured.depth == 0).sum()), len(against.query_ids)
    aside = f" ({missing} missing from the run)" if missing else ""
    parts = [
        f"{titled(measure, k)} {decimal(figure['mean'])}{interval_or_why_not(figure, against.confidence)}",
        f"of the first {k} of {against.exact.name}",
        f"{figure['queries']} of {many} {plural(many, 'query')}{aside}",
        "missing = 0" if against.conventions.missing == "zero" else "missing = skipped",
        f"ties: {against.conventions.order_in_words}",
        *([against.chunks] if against.chunks else []),
    ]
    if short := against.short_lists(run, k or 0):
        lists = " and ".join(f"{name} in {count:,}" for name, count in short.items())
        parts.append(f"K beyond the list of {lists} of {counted(len(against.query_ids), 'query')}")
    return " · ".join(parts)


def short_list_warnings(against: AgainstExact) -> list[str]:
    beyond = {
        k: short
        for k in against.cutoffs.tolist()
        if (short := {name: n for run in against.runs for name, n in against.short_lists(run, k).items()})
    }
    if not beyond:
        return []
    deepest = max(beyond)
    lists = ", ".join(f"{name} in {count:,}" for name, count in beyond[deepest].items())
    return [
        f"From K = {min(beyond)} on, lists are shorter than K (at {deepest}: {lists} of "
        f"{counted(len(against.query_ids), 'query')}): recall is then of what {against.exact.name} "
        "lists, and a run "
        "finds no more than it lists."
    ]


def against_cells(against: AgainstExact) -> Cells:
    """One row per run and K: the mean with its interval, the tail over queries, ties where they matter."""
    figures = [figure for run in against.runs.values() for figure in run.figures.values()]
    tied = any("ties" in figure for figure in figures)
    header = ("run", "K", "Recall", "micro", "min", *(f"{p} %" for p in PERCENTILES))
    header += ("ties min exp max",) if tied else ()
    rows = []
    for name, run in against.runs.items():
        for key, figure in run.figures.items():
            ties = figure.get("ties")
            means = (ties["min"], ties["expected"], ties["max"]) if ties else ()
            rows.append(
                (
                    name,
                    str(split_name(key)[1]),
                    decimal(figure["mean"]) + interval(figure),
                    decimal(figure["micro"]),
                    decimal(figure["min"]),
                    *(decimal(figure["percentiles"][str(p)]) for p in PERCENTILES),
                    *([" ".join(map(decimal, means))] if tied else []),
                )
            )
    return Cells(header, tuple(rows), tuple(_notes(against, tied=tied)))


def _notes(against: AgainstExact, *, tied: bool) -> list[str]:
    cutoffs = against.cutoffs.tolist()
    key = key_of("recall", 10 if 10 in cutoffs else cutoffs[-1])
    notes = [f"{name}: {against_line(against, name, key)}" for name in against.runs]
    notes += short_list_warnings(against)
    notes.append(
        f"[low, high]: {interval_in_words(against.settings['interval'])}. min and %: over queries; 5 %: one "
        "query in twenty has no more."
    )
    if tied:
        notes.append(
            f"Ties: documents of {against.exact.name} share a score across K. The mean follows the order "
            "of ties, shown with the minimum, expected and maximum over all such orders."
        )
    notes += [
        f"{name}: ignored {counted(run.unknown, 'query')} that {against.exact.name} does not have."
        for name, run in against.runs.items()
        if run.unknown
    ]
    return notes


def latency_cells(latency: LatencyTable) -> Cells:
    """One row per setting, the fastest first; what is on the front has a star."""
    names = list(dict.fromkeys(name for row in latency.rows for name in row["parameters"]))
    header = ("run", "ms", f"Recall@{latency.k}", "1 %", "front", *names)
    rows = tuple(
        (
            row["run"],
            f"{row['latency_ms']:g}",
            decimal(row["mean"]) + interval(row),
            decimal(row["percentiles"]["1"]),
            "*" if row["on_front"] else "",
            *(row["parameters"].get(name, "") for name in names),
        )
        for row in latency.rows
    )
    return Cells(header, rows, (latency.sentence(),), "Recall and latency")


def against_as_csv(against: AgainstExact) -> str:
    """One row per run and K with all its figures and its conventions."""
    rows = []
    for name, run in against.runs.items():
        for key, figure in run.figures.items():
            ties = figure.get("ties")
            rows.append(
                {
                    "run": name,
                    "measure": "recall",
                    "k": split_name(key)[1],
                    "mean": figure["mean"],
                    "low": figure["low"],
                    "high": figure["high"],
                    "micro": figure["micro"],
                    "min": figure["min"],
                    **{f"percentile_{p}": figure["percentiles"][str(p)] for p in PERCENTILES},
                    "tie_min": ties["min"] if ties else None,
                    "tie_expected": ties["expected"] if ties else None,
                    "tie_max": ties["max"] if ties else None,
                    "queries": figure["queries"],
                    "line": against_line(against, name, key),
                }
            )
    return _as_csv(rows)


def latency_as_csv(latency: LatencyTable) -> str:
    """One row per setting: the lines of the file of settings with what was measured."""
    rows = []
    for row in latency.rows:
        plain = {name: value for name, value in row.items() if name not in ("parameters", "percentiles")}
        tail = {f"percentile_{p}": value for p, value in row["percentiles"].items()}
        figures = {**plain, "k": latency.k, **tail, "on_front": int(row["on_front"])}
        parameters = {
            f"parameter_{name}" if name in figures else name: value
            for name, value in row["parameters"].items()
        }
        rows.append({**figures, **parameters})
    return _as_csv(rows)


def _as_csv(rows: Sequence[Mapping[str, object]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return table_text(columns, ([row.get(name) for name in columns] for row in rows))
