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
    report = report_for(request.user, report_id)
    context = where_context(report, WhereView(request.GET, report=report))
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
    selection = QueriesView(request.GET, report=report).chosen()
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
        context = query_context(report, QueryView(request.GET, report=report).choice())
    except InputError as error:
        if error.missing:
            raise Http404(str(error)) from None
        raise
    return render(request, "evaluation/report_query.html", {**_context(report), **context})


def _context(report: Report) -> dict[str, object]:
    return {
        "collection": report.collection,
        "section": "reports",
        "report": report,
        "conventions": conventions_in_words(report),
    }
