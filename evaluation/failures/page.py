from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django import forms
from django.utils.http import urlencode
from django.utils.text import slugify

from evaluation.charts.drawing import SHAPES
from evaluation.charts.over_time import legend_of_runs
from evaluation.failures.breakdown import (
    PERCENTILES,
    SMALL,
    THRESHOLD,
    Breakdown,
    BrokenGroup,
    GroupFigures,
    ordered_groups,
)
from evaluation.failures.query_groups import OWN, RELEVANT, WEIGHT, offered
from evaluation.failures.stored_breakdown import BreakdownRequest, QueriesNow, breakdown_of, queries_now
from evaluation.measures import MEASURES, titled
from evaluation.measures.intervals import FEWEST_QUERIES
from evaluation.models import Report
from evaluation.report_store.files import beside, cutoffs_of, file_stem, places_note, run_names
from evaluation.scoring.results import decimal, percent, share_in_words
from pooling.formats.cells import table_text
from pooling.heavy import alt, pd
from pooling.interface.charting import LIGHT, finished, to_png, to_svg
from pooling.interface.downloads import Download
from pooling.interface.forms import AddressForm
from pooling.storage.pictures import kept_svg

# The picture of a breakdown: a dot with its interval for each group and run. No Django here.


# More runs would lie on each other, and more groups would not fit a screen.
MOST_RUNS = 8
MOST_GROUPS = 20
_ROW, _GAP = 17, 16


def breakdown_size(groups: int, runs: int, *, narrow: bool = False) -> tuple[int, int]:
    height = 70 + groups * (_ROW * runs + _GAP)
    if narrow:
        return 380, height + (23 * runs + 16 if runs > 1 else 0)
    return 860, max(height, 60 + 24 * runs)


def breakdown_picture(
    table: pd.DataFrame, runs: Sequence[str], *, title: str, narrow: bool = False
) -> alt.LayerChart:
    """Groups as bands in their order, in each a row per run: its mean, and its interval where there is one.

    table: group (its label), run, mean, low, high; missing values are not drawn. Runs differ by colour and
    by mark.
    """
    theme = LIGHT
    groups = list(dict.fromkeys(table["group"]))
    ends = table[["mean", "high"]].max().max()
    top = 1.0 if not ends <= 1 else min(1.0, -(-float(ends) * 10 // 1) / 10 or 1.0)
    scale = alt.Scale(domain=[0, max(top, 0.1)], nice=False)
    legend = legend_of_runs(narrow=narrow) if len(runs) > 1 else None
    names = alt.Axis(labelLimit=130 if narrow else 260, grid=False, ticks=False, domain=False)
    bands = alt.Scale(paddingInner=0.12, paddingOuter=0.06)
    base = alt.Chart(table).encode(
        y=alt.Y("group:N", sort=groups, title=None, axis=names, scale=bands),
        yOffset=alt.YOffset("run:N", sort=list(runs), scale=alt.Scale(domain=list(runs))),
        color=alt.Color(
            "run:N", scale=alt.Scale(domain=list(runs), range=list(theme.runs[: len(runs)])), legend=legend
        ),
    )

    def across(column: str) -> alt.X:
        axis = alt.Axis(format=".1f", tickCount=6)
        return alt.X(f"{column}:Q", title=title, scale=scale, axis=axis)

    rule = base.mark_rule(opacity=0.55, strokeWidth=3).encode(x=across("low"), x2=alt.X2("high:Q"))
    shapes = [SHAPES[number % len(SHAPES)] for number in range(len(runs))]
    dot = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=across("mean"),
        shape=alt.Shape("run:N", scale=alt.Scale(domain=list(runs), range=shapes), legend=legend),
    )
    between = alt.Chart(table.drop_duplicates("group")).mark_bar(color=theme.line, opacity=0.35)
    stripes = between.encode(
        y=alt.Y("group:N", sort=groups, title=None, axis=names, scale=bands),
        x=alt.value(0),
        x2=alt.value("width"),
    )
    return finished([stripes, rule, dot], breakdown_size(len(groups), len(runs), narrow=narrow), theme)


ALL_RUNS = "*"
ORDERS = {"worst": "worst first", "group": "in their order", "largest": "largest first"}
MOST_NAMED = 200
# Counts up when the picture changes.
LOOK = 1


@dataclass(frozen=True)
class WhereChoice:
    """`by` makes the groups of `measure` at `k`; run None: all."""

    by: str
    measure: str
    k: int | None
    threshold: float
    order: str
    run: str | None

    def address(self, **others: object) -> str:
        """The choice as a query string, with some of it another way."""
        return query_string({**asdict(self), "run": self.run or ALL_RUNS, **others})


def query_string(values: Mapping[str, object]) -> str:
    """The values as a query string, without those that are None."""
    return urlencode({name: str(value) for name, value in values.items() if value is not None})


class WhereView(AddressForm):
    """The query string; what makes no sense falls back: recall near K = 10, all runs or the first of many."""

    by = forms.ChoiceField(required=False)
    measure = forms.ChoiceField(required=False)
    k = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    threshold = forms.FloatField(required=False, min_value=0, max_value=1)
    order = forms.ChoiceField(required=False, choices=list(ORDERS.items()))
    run = forms.ChoiceField(required=False)
    intervals = forms.BooleanField(required=False)

    def __init__(self, data: Any = None, *, report: Report) -> None:
        super().__init__(data)
        self.queries = queries_now(report)
        self.groupings = groupings = offered(self.queries.metadata.values())
        self._report = report
        runs, options = [ALL_RUNS, *run_names(report)], report.options
        self.offer(by=groupings, measure=options["measures"], k=options["k"], run=runs)

    def at_once(self) -> bool:
        """The page comes before its intervals, which then ask for themselves."""
        self.is_valid()
        return not self.cleaned_data.get("intervals")

    def choice(self) -> WhereChoice:
        self.is_valid()
        values, runs = self.cleaned_data, run_names(self._report)
        by = values.get("by") or self.groupings[0]
        measure = values.get("measure") or "recall"
        threshold = values.get("threshold")
        default = ALL_RUNS if len(runs) <= MOST_RUNS else runs[0]
        run = values.get("run") or default
        return WhereChoice(
            by=by,
            measure=measure,
            k=near(values.get("k"), cutoffs_of(self._report, measure)),
            threshold=THRESHOLD if threshold is None else threshold,
            order=values.get("order") or ("group" if by in (RELEVANT, WEIGHT) else "worst"),
            run=None if run == ALL_RUNS else run,
        )


def near(k: int | None, cutoffs: Sequence[int | None]) -> int | None:
    """The K that was asked for, where the measure has it; else the one nearest to 10."""
    numbers = [at for at in cutoffs if at is not None]
    if k in numbers:
        return k
    return min(numbers, key=lambda at: abs(at - 10)) if numbers else None


def chosen_breakdown(
    report: Report, choice: WhereChoice, queries: QueriesNow, *, at_once: bool = False
) -> Breakdown:
    """The breakdown of a choice; `at_once` as in `breakdown_of`."""
    runs = None if choice.run is None else [choice.run]
    request = BreakdownRequest(choice.by, choice.measure, choice.k, choice.threshold, runs)
    return breakdown_of(report, request, at_once=at_once, queries=queries)


def where_context(report: Report, view: WhereView) -> dict[str, Any]:
    choice = view.choice()
    breakdown = chosen_breakdown(report, choice, view.queries, at_once=view.at_once())
    groups = ordered_groups(breakdown.groups, choice.order)
    picture_parts = _picture_parts(groups)
    size = len(picture_parts["groups"]), len(picture_parts["runs"])
    return {
        "choice": choice,
        "shown": titled(choice.measure, choice.k),
        "note": places_note(report, choice.measure, choice.k),
        "found": breakdown,
        "by_title": breakdown.grouping.title,
        "groupings": [(by, OWN.get(by, by)) for by in view.groupings],
        "measures": [(name, MEASURES[name].title) for name in report.options["measures"]],
        "cutoffs": [k for k in cutoffs_of(report, choice.measure) if k],
        "orders": ORDERS.items(),
        "runs": run_names(report),
        "all_runs": ALL_RUNS,
        "groups": [_group(one, choice, waits=breakdown.waits) for one in groups],
        "percentiles": PERCENTILES,
        "small": SMALL,
        "fewest": FEWEST_QUERIES,
        "any_small": any(figures.is_small for one in groups for figures in one.runs.values()),
        "level": share_in_words(breakdown.interval["level"]),
        "unweighted": breakdown.without_weight[:MOST_NAMED],
        "unweighted_more": max(0, len(breakdown.without_weight) - MOST_NAMED),
        "drawn": picture_parts,
        "picture": choice.address(v=_picture_key(breakdown, choice)),
        "address": choice.address(),
        "with_intervals": choice.address(intervals=1),
        "wide_size": breakdown_size(*size),
        "narrow_size": breakdown_size(*size, narrow=True),
    }


def breakdown_svg(report: Report, view: WhereView, variant: str) -> bytes:
    """The breakdown as SVG in one of the variants, drawn once for its numbers and then kept."""
    choice = view.choice()
    breakdown = chosen_breakdown(report, choice, view.queries)
    stem = beside(report, f"breakdown-{_picture_key(breakdown, choice)}")
    return kept_svg(stem, variant, lambda is_narrow: breakdown_chart(breakdown, choice, narrow=is_narrow))


def breakdown_chart(breakdown: Breakdown, choice: WhereChoice, *, narrow: bool = False) -> alt.LayerChart:
    parts = _picture_parts(ordered_groups(breakdown.groups, choice.order))
    rows = [
        {"group": one.group.label(choice.by), "run": run, **_ends(one.runs[run])}
        for one in parts["groups"]
        for run in parts["runs"]
    ]
    table = pd.DataFrame(rows).astype(dict.fromkeys(("mean", "low", "high"), float))
    title = titled(choice.measure, choice.k)
    return breakdown_picture(table, parts["runs"], title=title, narrow=narrow)


def breakdown_stem(report: Report, by: str) -> str:
    return f"{file_stem(report)}-by-{slugify(by) or 'group'}"


def _csv(breakdown: Breakdown, choice: WhereChoice) -> bytes:
    rows = breakdown.rows()
    return table_text(list(rows[0]), (row.values() for row in rows)).encode()


#: A breakdown, and how it is ordered.
BREAKDOWN_FILES = {
    "csv": Download(".csv", "text/csv", _csv),
    "svg": Download(
        ".svg", "image/svg+xml", lambda breakdown, choice: to_svg(breakdown_chart(breakdown, choice))
    ),
    "png": Download(
        ".png",
        "image/png",
        lambda breakdown, choice: to_png(breakdown_chart(breakdown, choice), scale=3),
    ),
}


def _ends(figures: GroupFigures) -> dict[str, float | None]:
    return {"mean": figures.mean, "low": figures.low, "high": figures.high}


def _picture_parts(groups: list[BrokenGroup]) -> dict[str, Any]:
    runs = list(groups[0].runs)
    return {
        "groups": groups[:MOST_GROUPS],
        "runs": runs[:MOST_RUNS],
        "more_groups": max(0, len(groups) - MOST_GROUPS),
        "more_runs": max(0, len(runs) - MOST_RUNS),
    }


def _picture_key(breakdown: Breakdown, choice: WhereChoice) -> str:
    """Differs where the picture would: a tag that a query got since changes the groups."""
    means = [(one.group, [_ends(figures) for figures in one.runs.values()]) for one in breakdown.groups]
    facts = (LOOK, choice.measure, choice.k, choice.order, choice.run, means)
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:20]


def _group(one: BrokenGroup, choice: WhereChoice, *, waits: bool) -> dict[str, Any]:
    group = one.group
    chosen: Mapping[str, object] = {"by": None, "order": None, "threshold": None}
    if group.kind == "group":
        chosen = {**chosen, "by": choice.by, "group": group.name}
    elif group.kind == "none":
        chosen = {**chosen, "by": choice.by, "ungrouped": 1}
    return {
        "label": one.group.label(choice.by),
        "kind": group.kind,
        "queries": len(group.query_ids),
        "rows": [
            {
                "run": run,
                "n": figures.n,
                "small": figures.is_small,
                "mean": decimal(figures.mean),
                "interval": _between(figures.low, figures.high, figures.n if waits else 0),
                "percentiles": [decimal(value) for value in figures.percentiles.values()],
                "zero": percent(figures.share_zero),
                "reaching": percent(figures.share_reaching),
                "weighted": _weighted(figures, waits=waits),
                "address": choice.address(**{**chosen, "run": run}),
            }
            for run, figures in one.runs.items()
        ],
    }


def _weighted(figures: GroupFigures, *, waits: bool) -> tuple[str, str, int] | None:
    weighted = figures.weighted
    if weighted is None:
        return None
    interval = _between(weighted.low, weighted.high, weighted.n if waits else 0)
    return decimal(weighted.mean), interval, weighted.n


def _between(low: float | None, high: float | None, still_to_come_of: int) -> str:
    if low is None or high is None:
        return "…" if still_to_come_of >= FEWEST_QUERIES else ""
    return f"[{low:.3f}, {high:.3f}]"
