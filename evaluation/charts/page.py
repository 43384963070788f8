from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from evaluation.charts.kinds import ChartChoice, ChartKind
from evaluation.charts.stored import CHART_FILES, figures_of, kinds_of, usual_choice
from evaluation.charts.words import cells_in_words, columns_in_words
from evaluation.models import Report
from evaluation.report_store.files import chart_key, places_note, run_names
from pooling.interface.chart_library import library_version
from pooling.interface.charting import VARIANTS
from pooling.interface.forms import AddressForm, say_left_out

# Rows of a table on a page; its file has all.
MOST_ROWS = 400


class ChartView(AddressForm):
    """The query string: measure, K, the runs in colour, and two that are checked against each other. What
    makes no sense falls back to what is shown while nobody chooses."""

    measure = forms.ChoiceField(required=False)
    k = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    show = forms.MultipleChoiceField(required=False)
    a = forms.ChoiceField(required=False)
    b = forms.ChoiceField(required=False)

    def __init__(self, data: Any = None, *, report: Report) -> None:
        super().__init__(data)
        self._report = report
        runs = run_names(report)
        options = report.options
        self.offer(measure=options["measures"], k=options["k"], show=runs, a=runs, b=runs)

    def displayed(self, request: HttpRequest, measure: str | None = None) -> ChartChoice:
        """The choice of a page, which says what it leaves out."""
        choice = self.choice(measure)
        say_left_out(request, self, {**vars(choice), "a": choice.first, "b": choice.second})
        return choice

    def choice(self, measure: str | None = None) -> ChartChoice:
        self.is_valid()
        values = self.cleaned_data
        usual = usual_choice(self._report, measure or values.get("measure") or "recall", values.get("k"))
        runs = run_names(self._report)
        first = values.get("a") or usual.first
        second = values.get("b") or next((run for run in (usual.second, usual.first) if run != first), first)
        if first == second:
            second = next((run for run in runs if run != first), first)
        chosen = tuple(run for run in runs if run in (values.get("show") or ())) or usual.chosen
        return replace(usual, chosen=chosen, first=first, second=second)


@dataclass(frozen=True)
class Picture:
    """A picture on a page: addresses by variant, sizes, how to read it. has_bands: of one run alone."""

    name: str
    title: str
    reading: str
    alt: str
    addresses: Mapping[str, str]
    wide: tuple[int, int]
    narrow: tuple[int, int]
    page: str
    files: Sequence[tuple[str, str]]
    specifications: str
    has_bands: bool


def query_of(report: Report, choice: ChartChoice) -> str:
    """The query string of a choice, without what is as usual."""
    usual = usual_choice(report, choice.measure, choice.k)
    values: dict[str, Any] = {"measure": choice.measure, "k": choice.k}
    if choice.chosen != usual.chosen:
        values["show"] = list(choice.chosen)
    if (choice.first, choice.second) != (usual.first, usual.second):
        values |= {"a": choice.first, "b": choice.second}
    return urlencode(values, doseq=True)


def picture_of(report: Report, kind: ChartKind, choice: ChartChoice, alt: str = "") -> Picture:
    """Addresses, sizes and words of a picture; nothing is drawn here."""
    figures, query = figures_of(report), query_of(report, choice)
    versioned = f"{query}&v={chart_key(report)}"

    def at(variant: str, suffix: str = "svg") -> str:
        return f"{reverse('report_picture', args=[report.pk, kind.name, variant, suffix])}?{versioned}"

    title = kind.title(choice)
    note = places_note(report, choice.measure, choice.k) if kind.is_by_query else ""
    row_choice = kind.row_choice(figures, choice)
    notes = (kind.reading, note, row_choice and f"Drawn are {row_choice}; the table has all.")
    return Picture(
        name=kind.name,
        title=title,
        reading=" ".join(filter(None, notes)),
        alt=alt or f"{title}; its table is on the page of the picture.",
        addresses={variant.replace("-", "_"): at(variant) for variant in VARIANTS},
        wide=kind.size(figures, choice),
        narrow=kind.size(figures, choice, narrow=True),
        page=f"{reverse('report_chart_page', args=[report.pk, kind.name])}?{query}",
        files=[
            (form, f"{reverse('report_chart_file', args=[report.pk, kind.name, form])}?{query}")
            for form in CHART_FILES
        ],
        specifications=at("VARIANT", "json") if kind.is_live else "",
        has_bands=kind.is_live and len(figures.runs) > 1 and len(figures.cutoffs(choice.measure)) > 1,
    )


def form_context(report: Report, choice: ChartChoice) -> dict[str, Any]:
    figures = figures_of(report)
    return {
        "drawn": choice,
        "runs": run_names(report),
        "cutoffs": report.options["k"],
        "chart_library": library_version(),
        "chart_measures": [name for name in report.options["measures"] if figures.cutoffs(name)],
    }


def charts_context(report: Report, choice: ChartChoice) -> dict[str, Any]:
    pictures = [picture_of(report, kind, choice) for kind in kinds_of(report).values()]
    return {**form_context(report, choice), "pictures": pictures}


def chart_context(report: Report, kind: ChartKind, choice: ChartChoice) -> dict[str, Any]:
    table = kind.table(figures_of(report), choice)
    rows, summary = kind.rows(table, choice), kind.summary(table, choice)
    return {
        **form_context(report, choice),
        "picture": picture_of(report, kind, choice, alt=summary),
        "summary": summary,
        "columns": columns_in_words(rows, choice),
        "rows": cells_in_words(rows.head(MOST_ROWS)),
        "more": max(0, len(rows) - MOST_ROWS),
        "in_file": len(table),
    }
