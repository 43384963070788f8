from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from evaluation.access import report_for
from evaluation.failures.page import (
    BREAKDOWN_FILES,
    WhereView,
    breakdown_stem,
    breakdown_svg,
    chosen_breakdown,
    near,
    query_string,
    where_context,
)
from evaluation.failures.query_groups import OWN, TAG
from evaluation.failures.side_by_side import MOST_PLACES, SideBySide, side_by_side
from evaluation.failures.stored_queries import (
    PER_PAGE,
    ROW_CHOICES,
    QueryRow,
    QuerySelection,
    depth_of,
    missed_csv,
    query_rows,
    query_table,
)
from evaluation.measures import MEASURES, titled
from evaluation.models import Report
from evaluation.report_store.choices import tagged_queries
from evaluation.report_store.files import cutoffs_of, file_stem, places_note, run_names
from evaluation.report_store.settings import conventions_in_words
from evaluation.scoring.results import decimal
from pooling.heavy import pl
from pooling.interface.charting import VARIANTS
from pooling.interface.downloads import attachment, offered
from pooling.interface.forms import AddressForm, say_left_out
from pooling.interface.problems import InputError
from pooling.tables.answers import answer
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.rows import ArrangedRows
from pooling.tables.shown import TableView
from pooling.tables.state import State
from pooling.tables.table import Table

SHOW = Filter(
    "show",
    "Show",
    (
        Choice("all", "All"),
        Choice("missed", "With something missed"),
        Choice("zero", "At 0"),
        Choice("unscored", "Not scored"),
    ),
    default="all",
)


@dataclass(frozen=True)
class QueryLine:
    """A query in the table. address: its page; at: K of found and missed; rule: of the release."""

    query: QueryRow
    run: str
    address: str
    at: int
    rule: str


class QueriesOfRun(ArrangedRows):
    def __init__(self, report: Report, selection: QuerySelection) -> None:
        self._report = report
        self._selection = selection

    @cached_property
    def _table(self) -> pl.DataFrame:
        return query_table(self._report, self._selection)

    def arranged(self, state: State) -> QueriesOfRun:
        sort = f"{'-' if state.is_descending else '+'}{state.sorted_by}"
        selection = replace(
            self._selection,
            search=state.search,
            show=state.filters.get(SHOW.key, SHOW.default),
            sort="worst" if sort == "+value" else sort,
        )
        return self if selection == self._selection else QueriesOfRun(self._report, selection)

    def __len__(self) -> int:
        return self._table.height

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, slice):
            return self[place : place + 1 or None][0]
        rows = query_rows(self._report, self._selection, self._table[place])
        at, run = depth_of(self._report, self._selection.k), self._selection.run
        page = reverse("report_query", args=[self._report.pk])
        return [
            QueryLine(
                query=row,
                run=run,
                address=f"{page}?{query_string({'query': row.query_id, 'b': run, 'k': at})}",
                at=at,
                rule=self._report.release.rule,
            )
            for row in rows
        ]


def table_of_queries(request: HttpRequest, report: Report, selection: QuerySelection) -> TableView:
    """A run's queries, worst first unless the address sorts them; `InputError` for no such group."""
    title = titled(selection.measure, selection.k)
    cell = "evaluation/_query_{}.html".format
    table = Table(
        "report-queries",
        "query",
        nouns="queries",
        columns=(
            Column("query", "Query", "query.query_id", natural=True, template=cell("name"), style="named"),
            Column("text", "Text", "query.text", sort=False, hidden=True),
            Column("value", title, "query.value", number=True, template=cell("value")),
            Column("missed", "Missed", "query.missed.count", template=cell("missed"), style="missed-cell"),
            Column("relevant", "Relevant", "query.relevant", number=True),
            Column("found", "Found", "query.found", number=True),
            Column("tags", "Tags", "query.tags", sort=False),
            Column("weight", "Weight", _weight, number=True),
        ),
        sort="value",
        search=("query", "text"),
        search_hint="Words or id of a query",
        filters=(SHOW,),
        caption=f"{title} of {selection.run} by query",
        empty=Empty("This report has no such queries."),
        per_page=PER_PAGE,
    )
    return table.shown(request, QueriesOfRun(report, selection), report.collection)


def _weight(line: QueryLine) -> str | None:
    return weight_in_words(line.query.weight) or None


def weight_in_words(weight: float | None) -> str:
    """With no more digits than it needs."""
    return "" if weight is None else f"{weight:,.6g}"


# Relevant documents of one kind that a page lists.
MOST_RELEVANT = 40


class QueriesView(AddressForm):
    """The query string of the table; what makes no sense falls back to the worst queries of the first run."""

    run = forms.ChoiceField(required=False)
    measure = forms.ChoiceField(required=False)
    k = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    by = forms.CharField(required=False, max_length=200)
    group = forms.CharField(required=False, max_length=1000, strip=False)
    ungrouped = forms.BooleanField(required=False)
    q = forms.CharField(required=False, max_length=300)
    show = forms.ChoiceField(required=False, choices=[(name, name) for name in ROW_CHOICES])

    def __init__(self, data: Any = None, *, report: Report) -> None:
        super().__init__(data)
        self._report = report
        self.offer(run=run_names(report), measure=report.options["measures"], k=report.options["k"])

    def chosen(self) -> QuerySelection:
        self.is_valid()
        values = self.cleaned_data
        measure = values.get("measure") or "recall"
        return QuerySelection(
            run=values.get("run") or run_names(self._report)[0],
            measure=measure,
            k=near(values.get("k"), cutoffs_of(self._report, measure)),
            by=values.get("by") or None,
            group=values.get("group") or None,
            ungrouped=bool(values.get("ungrouped")),
            search=values.get("q") or "",
            show=values.get("show") or "all",
        )


def address_of(selection: QuerySelection, **others: object) -> str:
    """The run, measure, K and group asked for as a query string, with some of them replaced by `others`."""
    values = {**asdict(selection), "ungrouped": 1 if selection.ungrouped else None}
    for name in ("search", "show", "sort"):
        del values[name]
    return query_string({**values, **others})


def queries_context(request: HttpRequest, report: Report, selection: QuerySelection) -> dict[str, Any]:
    problem = ""
    try:
        table = table_of_queries(request, report, selection)
    except InputError as error:  # a group that is gone: a tag that no query has any more
        problem, table = str(error), None
    return {
        "selection": selection,
        "problem": problem,
        "table": table,
        "shown": titled(selection.measure, selection.k),
        "note": places_note(report, selection.measure, selection.k),
        "at": depth_of(report, selection.k),
        "runs": run_names(report),
        "measures": [(name, MEASURES[name].title) for name in report.options["measures"]],
        "cutoffs": [k for k in cutoffs_of(report, selection.measure) if k],
        "tags": list(tagged_queries(report.collection)),
        "by_title": OWN.get(selection.by or "", selection.by),
        "tag": TAG,
        "kept": [(name, request.GET[name]) for name in ("q", "show", "sort") if name in request.GET],
        "address": address_of(selection),
        "without_group": address_of(selection, by=None, group=None, ungrouped=None),
    }


@dataclass(frozen=True)
class QueryChoice:
    """A query, two runs (None: chosen for the reader) and a K."""

    query_id: str
    a: str | None
    b: str | None
    k: int


class QueryView(AddressForm):
    query = forms.CharField(max_length=500, strip=False)
    a = forms.ChoiceField(required=False)
    b = forms.ChoiceField(required=False)
    k = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)

    def __init__(self, data: Any = None, *, report: Report) -> None:
        super().__init__(data)
        self._cutoffs = report.options["k"]
        self.offer(a=run_names(report), b=run_names(report), k=self._cutoffs)

    def choice(self) -> QueryChoice:
        """The valid part of the query string, filled up; a query that was not named has the id ''."""
        self.is_valid()
        values = self.cleaned_data
        k = values.get("k") or min(self._cutoffs, key=lambda at: abs(at - 10))
        return QueryChoice(values.get("query") or "", values.get("a") or None, values.get("b") or None, k)


def query_context(report: Report, choice: QueryChoice) -> dict[str, Any]:
    pair = side_by_side(report, choice.query_id, choice.k, a=choice.a, b=choice.b)
    return {
        "found": pair,
        "lists": [
            {"side": one, "recall": decimal(one.recall), "letter": letter, "other": other}
            for one, letter, other in zip((pair.a, pair.b), "AB", (pair.b, pair.a), strict=True)
        ],
        "places": MOST_PLACES,
        "weight": weight_in_words(pair.weight),
        "runs": run_names(report),
        "cutoffs": report.options["k"],
        "same_run": pair.a.run == pair.b.run,
        "parts": _parts(pair),
        "turned": query_string({"query": pair.query_id, "a": pair.b.run, "b": pair.a.run, "k": pair.k}),
        "table": query_string({"run": pair.b.run, "k": pair.k}),
    }


def _parts(pair: SideBySide) -> list[dict[str, Any]]:
    a, b = pair.a.run, pair.b.run
    if a == b:
        named = [("both", f"Found by {a}", pair.both), ("neither", f"Missed by {a}", pair.neither)]
    else:
        named = [
            ("only_a", f"{a} found, {b} missed", pair.only_a),
            ("only_b", f"{b} found, {a} missed", pair.only_b),
            ("neither", "Both missed", pair.neither),
            ("both", "Both found", pair.both),
        ]
    return [
        {
            "name": name,
            "title": title,
            "count": len(documents),
            "documents": documents[:MOST_RELEVANT],
            "more": max(0, len(documents) - MOST_RELEVANT),
            # The long list of what nobody found would hide both lists below it.
            "open": name in ("only_a", "only_b") or (name == "neither" and len(documents) <= 10),
        }
        for name, title, documents in named
    ]


@login_required
@require_safe
def report_where(request: HttpRequest, report_id: int) -> HttpResponse:
    """A measure by groups of queries; the query string chooses, and htmx gets the part that has intervals."""
    report = report_for(request.user, report_id)
    view = WhereView(request.GET, report=report)
    context = where_context(report, view)
    say_left_out(request, view, vars(context["choice"]))
    partial = bool(request.headers.get("HX-Request"))
    return render(
        request,
        "evaluation/_where_drawn.html" if partial else "evaluation/where.html",
        {**_context(report), **context},
    )


@login_required
@require_safe
def report_where_picture(request: HttpRequest, report_id: int, variant: str) -> HttpResponse:
    report = report_for(request.user, report_id)
    if variant not in VARIANTS:
        raise Http404("This report has no such chart.")
    picture = breakdown_svg(report, WhereView(request.GET, report=report), variant)
    return HttpResponse(picture, content_type="image/svg+xml")


@login_required
@require_safe
def report_where_file(request: HttpRequest, report_id: int, format: str) -> HttpResponseBase:
    report = report_for(request.user, report_id)
    view = WhereView(request.GET, report=report)
    choice = view.choice()
    breakdown = chosen_breakdown(report, choice, view.queries)
    return offered(BREAKDOWN_FILES, format, breakdown_stem(report, choice.by), breakdown, choice)


@login_required
@require_safe
def report_queries(request: HttpRequest, report_id: int) -> HttpResponseBase:
    report = report_for(request.user, report_id)
    view = QueriesView(request.GET, report=report)
    selection = view.chosen()
    say_left_out(request, view, vars(selection))
    context = {**_context(report), **queries_context(request, report, selection)}
    return answer(request, "evaluation/report_queries.html", context)


@login_required
@require_safe
def report_queries_file(request: HttpRequest, report_id: int, what: str) -> HttpResponseBase:
    report = report_for(request.user, report_id)
    if what != "missed":
        raise Http404("This report has no such file.")
    try:
        content = missed_csv(report, QueriesView(request.GET, report=report).chosen())
    except InputError as error:
        raise Http404(str(error)) from None
    return attachment(content, f"{file_stem(report)}-{what}.csv", "text/csv")


@login_required
@require_safe
def report_query(request: HttpRequest, report_id: int) -> HttpResponse:
    report = report_for(request.user, report_id)
    try:
        view = QueryView(request.GET, report=report)
        context = query_context(report, view.choice())
    except InputError as error:
        if error.missing:
            raise Http404(str(error)) from None
        raise
    pair = context["found"]
    say_left_out(request, view, {"a": pair.a.run, "b": pair.b.run, "k": pair.k})
    return render(request, "evaluation/report_query.html", {**_context(report), **context})


def _context(report: Report) -> dict[str, object]:
    return {
        "collection": report.collection,
        "section": "reports",
        "report": report,
        "conventions": conventions_in_words(report),
    }
