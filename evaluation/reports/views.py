"""The pages of reports: the list, the form, one report and its files."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.access import report_for
from evaluation.charts.page import ChartView
from evaluation.failures.by_tag import table_by_tag
from evaluation.pool_estimates.pool_choice import pools_to_rest_on
from evaluation.report_store.files import file_stem
from evaluation.report_store.settings import settings_context
from evaluation.report_store.shared_links import links_of
from evaluation.reports.downloads import FILES
from evaluation.reports.forms import ReportForm, ReportView, SettingsForm
from evaluation.reports.lists import REPORTS, report_rows
from evaluation.reports.making import request_report
from evaluation.reports.page import report_context, results_of
from pooling.formats.wording import counted
from pooling.interface.downloads import offered
from pooling.interface.forms import Figure, choose_from_address, show_problem
from pooling.interface.pages import answered
from pooling.interface.problems import InputError
from pooling.models import Collection, Role
from pooling.people.access import ADMIN, collection_for
from pooling.tables.answers import answer


@login_required
@require_safe
def reports(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The reports of a collection with their numbers, newest first."""
    collection = collection_for(request.user, slug)
    table = REPORTS.shown(request, report_rows(collection), collection)
    ready = collection.releases.exists() and collection.runs.exists()
    context = {"collection": collection, "section": "reports", "table": table, "ready": ready}
    return answer(request, "evaluation/reports.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report_new(request: HttpRequest, slug: str) -> HttpResponse:
    """The form for a new report; an evaluation file fills it in and measures nothing."""
    collection = collection_for(request.user, slug, ADMIN)
    if request.headers.get("HX-Request"):
        return answered(request, ReportForm(request.GET, collection=collection), _figures)
    if "fill" in request.POST:
        upload = SettingsForm(request.POST, request.FILES)
        file_settings = upload.cleaned_data["settings"] if upload.is_valid() else None
        form = ReportForm(collection=collection, settings=file_settings)
        return _report_form(request, collection, form, upload, filled=file_settings is not None)
    form = ReportForm(request.POST or None, collection=collection)
    choose_from_address(request, form, "runs")
    if request.method == "POST" and form.is_valid():
        try:
            made = request_report(collection, form.request(), request.user)  # type: ignore[arg-type]
            return redirect(made)
        except InputError as error:
            show_problem(form, error)
    return _report_form(request, collection, form, SettingsForm())


def _figures(form: ReportForm) -> list[Figure]:
    release, runs, cutoffs = (form.cleaned_data[name] for name in ("release", "runs", "k"))
    labels = Figure(
        "Labels",
        f"{release.pair_count:,}",
        f"{release.relevant_count:,} of {counted(release.query_count, 'query')} relevant",
    )
    figures = [Figure("Runs", f"{len(runs):,}", f"each at {counted(len(cutoffs), 'value')} of K"), labels]
    deepest = max((pool.deepest for pool in pools_to_rest_on(form.collection)), default=None)
    if deepest and max(cutoffs, default=0) > deepest:
        note = "the bounds are wide beyond: nobody was asked to judge there"
        figures.append(Figure("Judged down to", f"{deepest:,}", note))
    return figures


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
def one_report(request: HttpRequest, report_id: int) -> HttpResponseBase:
    """One report; the query string chooses measure, and run and K of the worst queries."""
    report = report_for(request.user, report_id)
    context = {"collection": report.collection, "section": "reports", "report": report}
    context["shared_links"] = links_of(report) if report.collection.role == Role.ADMIN else []  # type: ignore[attr-defined]
    chosen = ReportView(request.GET, report=report).choice()
    picture_choice = ChartView(request.GET, report=report).choice(chosen.measure)
    results = results_of(report, chosen)
    context["table"] = results.table.shown(request, results.lines, report.collection)
    context["strata"] = table_by_tag(request, report, chosen.measure)
    page = {**report_context(report, chosen, picture_choice, results), **settings_context(report)}
    return answer(request, "evaluation/report.html", {**context, **page})


@login_required
@require_safe
def report_download(request: HttpRequest, report_id: int, format: str) -> HttpResponseBase:
    """The report as a file; a picture is of the measure in the query string."""
    report = report_for(request.user, report_id)
    measure = ReportView(request.GET, report=report).choice().measure
    return offered(FILES, format, file_stem(report), report, measure)
