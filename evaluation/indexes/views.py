"""The pages of latency reports: the list, the form, one report with its picture and its files."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.access import latency_report_for
from evaluation.indexes import page as latency_page
from evaluation.indexes.forms import LatencyForm
from evaluation.indexes.lists import LATENCY_REPORTS
from evaluation.indexes.stored import request_latency_report
from pooling.interface.charting import VARIANTS
from pooling.interface.downloads import offered
from pooling.interface.forms import show_problem
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, collection_for
from pooling.tables.answers import answer


@login_required
@require_safe
def latency_reports(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The latency reports of a collection, newest first."""
    collection = collection_for(request.user, slug)
    rows = collection.latency_reports.listed().select_related("created_by", "exact").defer("exact__preflight")
    context = {
        "collection": collection,
        "section": "latency_reports",
        "table": LATENCY_REPORTS.shown(request, list(rows), collection),
        "has_runs": collection.runs.exists(),
    }
    return answer(request, "evaluation/latency_reports.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def latency_new(request: HttpRequest, slug: str) -> HttpResponse:
    """The form for a new latency report."""
    collection = collection_for(request.user, slug, ADMIN)
    form = LatencyForm(request.POST or None, request.FILES or None, collection=collection)
    if request.method == "POST" and form.is_valid():
        try:
            made = request_latency_report(collection, form.request(), person(request))
            return redirect(made)
        except InputError as error:
            show_problem(form, error)
    context = {
        "collection": collection,
        "section": "latency_reports",
        "form": form,
        "has_runs": collection.runs.exists(),
    }
    return render(request, "evaluation/latency_new.html", context)


@login_required
@require_safe
def latency_report(request: HttpRequest, report_id: int) -> HttpResponse:
    """One latency report."""
    report = latency_report_for(request.user, report_id)
    context = {"collection": report.collection, "section": "latency_reports", "report": report}
    return render(
        request, "evaluation/latency_report.html", {**context, **latency_page.latency_context(report)}
    )


@login_required
@require_safe
def latency_download(request: HttpRequest, report_id: int, format: str) -> HttpResponseBase:
    """The report as a file."""
    report = latency_report_for(request.user, report_id)
    stem = slugify(report.name) or f"latency-{report.pk}"
    return offered(latency_page.FILES, format, stem, report)


@login_required
@require_safe
def latency_chart(request: HttpRequest, report_id: int, variant: str) -> HttpResponse:
    """Recall against latency as SVG; a report does not change, so neither does its picture."""
    report = latency_report_for(request.user, report_id)
    if variant not in VARIANTS:
        raise Http404("This report has no such chart.")
    return HttpResponse(latency_page.latency_svg(report, variant), content_type="image/svg+xml")
