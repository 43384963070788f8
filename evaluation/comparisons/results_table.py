"""The one table of a report: a line per run, one number a cell, each measure and K a column to choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from django.urls import reverse
from django.utils.http import urlencode

from evaluation.measures import key_of, titled
from evaluation.models import Report
from evaluation.report_store.files import cutoffs_of, figure_of, run_names
from evaluation.report_store.options import UNWEIGHTED
from evaluation.report_store.settings import weights_of
from evaluation.scoring.figures import Figure, mean_as_read
from evaluation.scoring.results import decimal, interval
from evaluation.scoring.wording import estimated_title
from pooling.formats.wording import signed
from pooling.tables.columns import Column
from pooling.tables.table import Table

# The bars of all runs share an axis that ends at tenths.
TENTHS = 10
# Of older reports nobody asks what has changed since.
MOST_LOOKED_AT = 10


@dataclass(frozen=True)
class Earlier:
    """An earlier report's means of the same measure at the same K, by run. by_labels: the labels are others;
    by_weights: the log is another, which the queries were drawn from."""

    name: str
    means: Mapping[str, float]
    by_labels: bool = False
    by_weights: bool = False

    @property
    def others(self) -> str:
        """What is not that of the report, so that no run need have changed."""
        named = {"labels": self.by_labels, "weights": self.by_weights}
        return " and ".join(what for what, is_other in named.items() if is_other)


@dataclass(frozen=True)
class RunLine:
    """A run's row. bar: mean and interval on a scale of 100 units, as attributes of an SVG. best, since:
    differences from the best run and from an earlier report. line: the number with its conventions. figures:
    `measure@k` -> value. missing, unknown: queries without an answer, without a label."""

    run: str
    value: float | None
    judged: float | None
    best: float | None
    since: float | None
    address: str
    bar: Mapping[str, str]
    line: str
    is_low: bool
    is_best: bool
    missing: int
    unknown: int
    figures: Mapping[str, float | str | None] = field(default_factory=dict)
    estimate: str = ""
    by_labels: bool = False

    @property
    def best_in_words(self) -> str:
        """The difference from the best run, with its sign."""
        return signed(self.best)

    @property
    def since_in_words(self) -> str:
        """The change since an earlier report."""
        return change_in_words(self.since, by_labels=self.by_labels)


@dataclass(frozen=True)
class ResultsTable:
    """One measure at one K (None: the whole run). axis: end of bars. earlier: compared with that."""

    table: Table
    lines: Sequence[RunLine]
    axis: tuple[float, float]
    earlier: Earlier | None


def results_table(
    report: Report,
    measure: str,
    k: int | None,
    *,
    low: Collection[str],
    earlier: Earlier | None,
    compared: Sequence[str],
) -> ResultsTable:
    """A line per run, the best first. low: runs of low or uneven coverage. compared: with comparisons."""
    names = run_names(report)
    figures = {run: figure_of(report, run, measure, k) for run in names}
    defined = {run: figure["mean"] for run, figure in figures.items() if figure["mean"] is not None}
    best = min(defined, key=lambda run: (-defined[run], run), default=None)
    axis = _axis(list(figures.values()))
    # Over the whole run, the coverage of the deepest K stands for that of the rest.
    deepest = report.options["k"][-1] if k is None else k
    lines = []
    for run in names:
        figure = figures[run]
        others = best if run != best else next((name for name in compared if name != run), None)
        pair = {"a": run, "b": others or "", "k": str(deepest)}
        can_compare = measure == "recall" and {run, others} <= set(compared)
        lines.append(
            RunLine(
                run=run,
                value=figure["mean"],
                judged=figure_of(report, run, "judged", deepest)["mean"],
                best=None if run == best or best is None else minus(figure["mean"], defined[best]),
                since=None if earlier is None else minus(figure["mean"], earlier.means.get(run)),
                address=f"{reverse('report_comparisons', args=[report.pk])}?{urlencode(pair)}"
                if can_compare
                else "",
                bar=_bar(figure, axis),
                line=figure["line"],
                is_low=run in low,
                is_best=run == best,
                missing=report.result["queries"]["missing"].get(run, 0),
                unknown=report.result["queries"]["unknown"].get(run, 0),
                figures=_all_figures(report, run),
                estimate=estimate_in_words(figure),
                by_labels=earlier is not None and bool(earlier.others),
            )
        )
    is_estimated = any(line.estimate for line in lines)
    return ResultsTable(_table(report, measure, k, earlier, is_estimated=is_estimated), lines, axis, earlier)


def estimate_in_words(figure: Figure) -> str:
    """Empty without an audit."""
    estimate = figure.get("estimate")
    return "" if estimate is None else f"{decimal(estimate['value'])}{interval(estimate)}"


def minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _axis(figures: Sequence[Figure]) -> tuple[float, float]:
    ends = [end for one in figures for end in (one["mean"], one["low"], one["high"]) if end is not None]
    if not ends:
        return 0.0, 1.0
    low, high = math.floor(min(ends) * TENTHS) / TENTHS, math.ceil(max(ends) * TENTHS) / TENTHS
    return (low, high) if low < high else (low - 1 / TENTHS, high) if low else (0.0, 1 / TENTHS)


def _bar(figure: Figure, axis: tuple[float, float]) -> dict[str, str]:
    low, high = axis
    places = {"mean": figure["mean"], "low": figure["low"], "high": figure["high"]}
    return {
        name: f"{100 * (place - low) / (high - low):.1f}"
        for name, place in places.items()
        if place is not None
    }


def _all_figures(report: Report, run: str) -> dict[str, float | str | None]:
    """Every mean, and of recall its micro mean, bounds and ties, under the keys of the columns."""
    figures: Mapping[str, Figure] = report.result["runs"][run]
    cells: dict[str, float | str | None] = {key: mean_as_read(figure) for key, figure in figures.items()}
    for key, figure in figures.items():
        if "micro" in figure:
            cells[f"micro-{key}"] = figure["micro"]
        bounds, ties = figure.get("bounds"), figure.get("ties")
        if bounds and bounds[0] is not None:
            cells[f"bounds-{key}"] = f"{decimal(bounds[0])}–{decimal(bounds[1])}"
        if ties:
            span = f"{decimal(ties['min'])}–{decimal(ties['max'])}"
            cells[f"ties-{key}"] = f"{span}, expected {decimal(ties['expected'])}"
    return cells


def _of(key: str) -> Callable[[RunLine], object]:
    return lambda line: line.figures.get(key)


def _table(
    report: Report, measure: str, k: int | None, earlier: Earlier | None, *, is_estimated: bool
) -> Table:
    template = "evaluation/_result_{}.html".format
    heading, of = titled(measure, k), report.result["estimates"]["queries"]
    columns = [
        Column("run", "Run", natural=True, template=template("run"), style="id"),
        *([Column("estimate", f"{heading}, {estimated_title(of)}", number=True)] if is_estimated else []),
        Column(
            "value",
            f"{heading}, found so far" if is_estimated else heading if k else f"{heading}, whole run",
            number=True,
            template=template("value"),
        ),
        Column("judged", "Judged", number=True, template=template("judged")),
        Column("best", "Against the best", number=True, template=template("best")),
    ]
    if earlier is not None:
        labels = f" (other {earlier.others})" if earlier.others else ""
        title = f"Since {earlier.name}{labels}"
        columns.append(Column("since", title, number=True, template=template("since")))
    for name in report.options["measures"]:
        for at in cutoffs_of(report, name):
            key = key_of(name, at)
            if (name, at) != (measure, k):
                columns.append(Column(key, titled(name, at), _of(key), number=True, hidden=True))
            if name == "recall":
                columns += _beside_recall(report, key, titled(name, at))
    return Table(
        "report",
        "run",
        columns=tuple(columns),
        sort="-value",
        search=("run",) if len(run_names(report)) > TENTHS else (),
        search_hint="Name of a run",
        choose="",
    )


def _beside_recall(report: Report, key: str, title: str) -> list[Column]:
    """Micro recall, bounds, and ties where some run has them."""
    columns = [
        Column(f"micro-{key}", f"Micro {title}", _of(f"micro-{key}"), number=True, hidden=True),
        Column(f"bounds-{key}", f"Bounds of {title}", _of(f"bounds-{key}"), number=True, hidden=True),
    ]
    if any("ties" in report.result["runs"][run][key] for run in run_names(report)):
        columns.append(
            Column(f"ties-{key}", f"Ties of {title}", _of(f"ties-{key}"), number=True, hidden=True)
        )
    return columns


def change_in_words(change: float | None, *, by_labels: bool = False) -> str:
    """The change with its sign, after ▲ for more or ▼ for less; without, where other labels made it."""
    if change is None:
        return "–"
    if abs(change) < 0.0005:
        return "0.000"
    if by_labels:
        return signed(change)
    return f"{'▲' if change > 0 else '▼'} {signed(change)}"


def earlier_report(report: Report) -> Report | None:
    """The newest earlier report with such a run that counts alike; at most two database queries."""
    wanted, weights = set(run_names(report)), report.options.get("weights", UNWEIGHTED)
    before = report.collection.reports.filter(created_at__lt=report.created_at)
    for other in before.defer("result").order_by("-created_at", "-pk")[:MOST_LOOKED_AT]:
        if other.options.get("weights", UNWEIGHTED) != weights:
            continue
        if wanted & set(run_names(other)) and other.pk != report.options.get("again_of"):
            return Report.objects.get(pk=other.pk)
    return None


def means_of(earlier: Report, report: Report, measure: str, k: int | None) -> Earlier | None:
    """Its means of the runs of the report; None where it did not measure this."""
    runs = run_names(report)

    key, figures = key_of(measure, k), earlier.result["runs"]
    there = [run for run in runs if run in figures and key in figures[run]]
    all_means = {run: mean_as_read(figures[run][key]) for run in there}
    means = {run: mean for run, mean in all_means.items() if mean is not None}
    by_labels = earlier.release_id != report.release_id
    words = [(how or {"words": ""})["words"] for how in map(weights_of, (earlier, report))]
    return Earlier(earlier.release.name, means, by_labels, words[0] != words[1]) if means else None
