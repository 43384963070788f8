"""The pages that tell where a report's runs fail, with their pictures and files."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.access import report_for
from evaluation.failures.page import (
    BREAKDOWN_FILES,
    WhereView,
    breakdown_stem,
    breakdown_svg,
    chosen_breakdown,
    where_context,
)
from evaluation.failures.query_pages import QueriesView, QueryView, queries_context, query_context
from evaluation.failures.stored_queries import missed_csv
from evaluation.models import Report
from evaluation.report_store.files import file_stem
from evaluation.report_store.settings import conventions_in_words
from pooling.interface.charting import VARIANTS
from pooling.interface.downloads import attachment, offered
from pooling.interface.problems import InputError
from pooling.tables.answers import answer


@login_required
@require_safe
def report_where(request: HttpRequest, report_id: int) -> HttpResponse:
    """A measure by groups of queries; the query string chooses, and htmx gets the part that has intervals."""
    shown = report_for(request.user, report_id)
    found = where_context(shown, WhereView(request.GET, report=shown))
    partial = bool(request.headers.get("HX-Request"))
    return render(
        request,
        "evaluation/_where_drawn.html" if partial else "evaluation/where.html",
        {**_context(shown), **found},
    )


@login_required
@require_safe
def report_where_picture(request: HttpRequest, report_id: int, variant: str) -> HttpResponse:
    """The picture of a breakdown as SVG; its address holds a checksum of what it shows."""
    shown = report_for(request.user, report_id)
    if variant not in VARIANTS:
        raise Http404("This report has no such chart.")
    picture = breakdown_svg(shown, WhereView(request.GET, report=shown), variant)
    return HttpResponse(picture, content_type="image/svg+xml")


@login_required
@require_safe
def report_where_file(request: HttpRequest, report_id: int, format: str) -> HttpResponseBase:
    """A breakdown to download: its rows as CSV, its picture as SVG or PNG."""
    shown = report_for(request.user, report_id)
    view = WhereView(request.GET, report=shown)
    choice = view.choice()
    found = chosen_breakdown(shown, choice, view.queries)
    return offered(BREAKDOWN_FILES, format, breakdown_stem(shown, choice.by), found, choice)


@login_required
@require_safe
def report_queries(request: HttpRequest, report_id: int) -> HttpResponseBase:
    """The queries of a report one by one for a run."""
    shown = report_for(request.user, report_id)
    selection = QueriesView(request.GET, report=shown).chosen()
    context = {**_context(shown), **queries_context(request, shown, selection)}
    return answer(request, "evaluation/report_queries.html", context)


@login_required
@require_safe
def report_queries_file(request: HttpRequest, report_id: int, what: str) -> HttpResponseBase:
    """The documents missed in the queries asked for, as CSV."""
    shown = report_for(request.user, report_id)
    if what != "missed":
        raise Http404("This report has no such file.")
    try:
        content = missed_csv(shown, QueriesView(request.GET, report=shown).chosen())
    except InputError as error:
        raise Http404(str(error)) from None
    return attachment(content, f"{file_stem(shown)}-{what}.csv", "text/csv")


@login_required
@require_safe
def report_query(request: HttpRequest, report_id: int) -> HttpResponse:
    """Two runs side by side on the query that the query string names."""
    shown = report_for(request.user, report_id)
    try:
        context = query_context(shown, QueryView(request.GET, report=shown).choice())
    except InputError as error:
        if error.missing:
            raise Http404(str(error)) from None
        raise
    return render(request, "evaluation/report_query.html", {**_context(shown), **context})


def _context(report: Report) -> dict[str, object]:
    return {
        "collection": report.collection,
        "section": "reports",
        "report": report,
        "conventions": conventions_in_words(report),
    }
