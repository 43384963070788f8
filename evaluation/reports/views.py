"""The pages of reports: the list, the form, one report and its files."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.access import report_for
from evaluation.charts.page import ChartView
from evaluation.report_store.files import file_stem
from evaluation.report_store.settings import settings_context
from evaluation.reports.downloads import FILES
from evaluation.reports.forms import ReportForm, ReportView, SettingsForm
from evaluation.reports.making import request_report
from evaluation.reports.page import report_context
from pooling.interface.downloads import offered
from pooling.interface.forms import show_problem
from pooling.interface.pages import page_of
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for


@login_required
@require_safe
def reports(request: HttpRequest, slug: str) -> HttpResponse:
    """The reports of a collection, newest first."""
    collection = collection_for(request.user, slug)
    rows = collection.reports.select_related("release", "created_by").defer("result")
    page = page_of(request, rows, 25)
    ready = collection.releases.exists() and collection.runs.exists()
    context = {"collection": collection, "section": "reports", "page": page, "ready": ready}
    return render(request, "evaluation/reports.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report_new(request: HttpRequest, slug: str) -> HttpResponse:
    """The form for a new report; an evaluation file fills it in and measures nothing."""
    collection = collection_for(request.user, slug, ADMIN)
    if "fill" in request.POST:
        upload = SettingsForm(request.POST, request.FILES)
        held = upload.cleaned_data["settings"] if upload.is_valid() else None
        form = ReportForm(collection=collection, settings=held)
        return _report_form(request, collection, form, upload, filled=held is not None)
    form = ReportForm(request.POST or None, collection=collection)
    if request.method == "POST" and form.is_valid():
        try:
            made = request_report(collection, form.request(), request.user)  # type: ignore[arg-type]
            return redirect(made)
        except InputError as error:
            show_problem(form, error)
    return _report_form(request, collection, form, SettingsForm())


def _report_form(
    request: HttpRequest,
    collection: Collection,
    form: ReportForm,
    upload: SettingsForm,
    *,
    filled: bool = False,
) -> HttpResponse:
    context = {"collection": collection, "section": "reports", "form": form}
    return render(request, "evaluation/report_new.html", {**context, "upload": upload, "filled": filled})


@login_required
@require_safe
def report(request: HttpRequest, report_id: int) -> HttpResponse:
    """One report; the query string chooses measure, and run and K of the worst queries."""
    shown = report_for(request.user, report_id)
    context = {"collection": shown.collection, "section": "reports", "report": shown}
    chosen = ReportView(request.GET, report=shown).choice()
    drawn = ChartView(request.GET, report=shown).choice(chosen.measure)
    page = {**report_context(shown, chosen, drawn), **settings_context(shown, chosen.measure)}
    return render(request, "evaluation/report.html", {**context, **page})


@login_required
@require_safe
def report_download(request: HttpRequest, report_id: int, format: str) -> HttpResponseBase:
    """The report as a file; a picture is of the measure in the query string."""
    shown = report_for(request.user, report_id)
    measure = ReportView(request.GET, report=shown).choice().measure
    return offered(FILES, format, file_stem(shown), shown, measure)
