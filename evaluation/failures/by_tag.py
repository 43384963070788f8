from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.http import HttpRequest

from evaluation.measures import key_of, titled
from evaluation.models import Report
from evaluation.report_store.files import cutoffs_of, run_names
from evaluation.scoring.figures import Figure, as_read, mean_as_read
from evaluation.scoring.results import interval
from pooling.tables.columns import Column
from pooling.tables.shown import TableView
from pooling.tables.table import Table


@dataclass(frozen=True)
class TagLine:
    """A run on the queries with a tag. queries: how many are in the mean; figures: by `measure@k`."""

    tag: str
    run: str
    queries: int
    figures: Mapping[str, Figure]


def table_by_tag(request: HttpRequest, report: Report, measure: str) -> TableView | None:
    """The means of a measure at each K, their intervals as columns to choose; None without tags."""
    strata = report.result.get("strata")
    if not strata:
        return None
    cutoffs = cutoffs_of(report, measure)
    keys = {k: key_of(measure, k) for k in cutoffs}
    lines = [
        TagLine(tag, run, figures[keys[cutoffs[0]]]["queries"], figures)
        for tag, stratum in strata.items()
        for run, figures in ((run, stratum["runs"][run]) for run in run_names(report))
    ]
    columns = [
        Column("tag", "Tag", natural=True),
        Column("run", "Run", natural=True, style="id"),
        Column("queries", "Queries", number=True),
    ]
    for k, key in keys.items():
        title = titled(measure, k) if k else f"{titled(measure, k)}, whole run"
        columns.append(Column(key, title, _mean(key), number=True))
        columns.append(Column(f"interval-{key}", f"Interval of {title}", _interval(key), hidden=True))
    table = Table(
        "report-tags",
        "line",
        columns=tuple(columns),
        search=("tag", "run"),
        search_hint="Tag or run",
        prefix="tag-",
        anchor="by-tag",
    )
    return table.shown(request, lines, report.collection)


def _mean(key: str) -> Callable[[TagLine], float | None]:
    return lambda line: mean_as_read(line.figures[key])


def _interval(key: str) -> Callable[[TagLine], str | None]:
    return lambda line: interval(as_read(line.figures[key])).strip() or None
