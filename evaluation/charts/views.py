from __future__ import annotations

import json

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.access import report_for
from evaluation.charts.kinds import ChartKind
from evaluation.charts.page import ChartView, chart_context, charts_context
from evaluation.charts.stored import CHART_FILES, chart_svg, kinds_of, live_chart
from evaluation.models import Report
from evaluation.report_store.files import file_stem
from pooling.interface.charting import VARIANTS
from pooling.interface.downloads import offered


@login_required
@require_safe
def report_charts(request: HttpRequest, report_id: int) -> HttpResponse:
    report = report_for(request.user, report_id)
    context = {"collection": report.collection, "section": "reports", "report": report}
    choice = ChartView(request.GET, report=report).displayed(request)
    return render(request, "evaluation/charts.html", {**context, **charts_context(report, choice)})


@login_required
@require_safe
def report_chart_page(request: HttpRequest, report_id: int, name: str) -> HttpResponse:
    report = report_for(request.user, report_id)
    context = {"collection": report.collection, "section": "reports", "report": report}
    choice = ChartView(request.GET, report=report).displayed(request)
    return render(
        request, "evaluation/chart.html", {**context, **chart_context(report, _kind(report, name), choice)}
    )


@login_required
@require_safe
def report_picture(
    request: HttpRequest, report_id: int, *, name: str, variant: str, suffix: str
) -> HttpResponse:
    """A picture as SVG, or as the specification that a page draws; neither ever changes."""
    report = report_for(request.user, report_id)
    kind, choice = _kind(report, name), ChartView(request.GET, report=report).choice()
    if variant not in VARIANTS or (suffix == "json" and not kind.is_live):
        raise Http404("This report has no such chart.")
    if suffix == "json":
        live = json.dumps(live_chart(report, kind, choice, variant))
        return HttpResponse(live, content_type="application/json")
    return HttpResponse(chart_svg(report, kind, choice, variant), content_type="image/svg+xml")


@login_required
@require_safe
def report_chart_file(request: HttpRequest, report_id: int, name: str, format: str) -> HttpResponseBase:
    report = report_for(request.user, report_id)
    return chart_file(report, name, format, ChartView(request.GET, report=report))


def chart_file(report: Report, name: str, format: str, view: ChartView) -> HttpResponseBase:
    """`Http404` names the formats there are."""
    kind = _kind(report, name)
    stem = f"{file_stem(report)}-{name}"
    return offered(CHART_FILES, format, stem, report, kind, view.choice())


def _kind(report: Report, name: str) -> ChartKind:
    kinds = kinds_of(report)
    if name not in kinds:
        raise Http404(f"This report has no picture “{name}”; it has {', '.join(kinds)}.")
    return kinds[name]
