"""The page that compares two runs of a report, its pictures, and the labels that would decide."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe

from evaluation.access import report_for
from evaluation.charts.drawing import forest_size
from evaluation.comparisons.deciding_queue import decision_of, open_deciding_queue
from evaluation.comparisons.page import PairView, comparison_context
from evaluation.comparisons.stored import Compared, compared, deciding_csv, forest_svg
from evaluation.models import Report
from evaluation.report_store.files import chart_key
from evaluation.report_store.shared_links import links_of
from labeling.access import queue_for
from pooling.interface.charting import VARIANTS
from pooling.interface.downloads import attachment
from pooling.interface.forms import say_left_out
from pooling.interface.pages import person
from pooling.interface.problems import refusals
from pooling.models import Role
from pooling.people.access import ADMIN, READERS


@login_required
@require_safe
def report_comparisons(request: HttpRequest, report_id: int) -> HttpResponse:
    """Two runs of a report; the query string names them as a and b, and the K."""
    report = report_for(request.user, report_id)
    context = {
        "collection": report.collection,
        "section": "reports",
        "report": report,
        "chart_key": chart_key(report),
    }
    comparisons = compared(report)
    if comparisons is not None:
        view = PairView(request.GET, comparisons=comparisons)
        chosen = view.choice()
        say_left_out(request, view, vars(chosen))
        context |= comparison_context(report, comparisons, chosen)
        query = urlencode({"a": chosen.a, "b": chosen.b, "k": chosen.k})
        context["address"] = request.build_absolute_uri(f"{request.path}?{query}")
        is_admin = report.collection.role == Role.ADMIN  # type: ignore[attr-defined]
        context["shared_links"] = links_of(report) if is_admin else []
        others = len(comparisons.runs) - 1
        context |= {"wide_size": forest_size(others), "narrow_size": forest_size(others, narrow=True)}
    return render(request, "evaluation/comparisons.html", context)


@login_required
@require_safe
def report_deciding(request: HttpRequest, report_id: int) -> HttpResponseBase:
    """The labels that would decide the pair as CSV."""
    report = report_for(request.user, report_id)
    chosen = PairView(request.GET, comparisons=_there(report)).choice()
    name = slugify(f"{report.name} {chosen.a} {chosen.b} at {chosen.k}") or f"report-{report.pk}"
    content = deciding_csv(report, chosen.a, chosen.b, chosen.k)
    return attachment(content, f"{name}-labels.csv", "text/csv")


@login_required
@require_POST
def report_decide(request: HttpRequest, report_id: int) -> HttpResponse:
    """Open a queue of the pairs that are expected to decide which of two runs is better."""
    report = report_for(request.user, report_id, ADMIN)
    chosen = PairView(request.POST, comparisons=_there(report)).choice()
    try:
        opened = open_deciding_queue(report, chosen.a, chosen.b, chosen.k, user=person(request))
    except refusals() as error:
        messages.error(request, str(error))
        query = urlencode({"a": chosen.a, "b": chosen.b, "k": chosen.k})
        return redirect(f"{reverse('report_comparisons', args=[report.pk])}?{query}#labels")
    return redirect(opened)


@login_required
@require_safe
def queue_deciding(request: HttpRequest, queue_id: int) -> HttpResponse:
    """State of a deciding queue's question; htmx gets the part alone."""
    queue = queue_for(request.user, queue_id, READERS)
    both = decision_of(queue)
    if both is None:
        raise Http404("This queue decides nothing between two runs of a report.")
    report, standing = both
    query = urlencode({"a": standing.first, "b": standing.second, "k": standing.k})
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "decision": standing,
        "comparison": f"{reverse('report_comparisons', args=[report.pk])}?{query}#labels",
    }
    partial = bool(request.headers.get("HX-Request"))
    template = "evaluation/_queue_deciding.html" if partial else "evaluation/queue_deciding.html"
    return render(request, template, context)


@login_required
@require_safe
def report_forest(request: HttpRequest, report_id: int, variant: str) -> HttpResponse:
    """The differences of run a from every other as SVG; a report does not change, so neither does it."""
    report = report_for(request.user, report_id)
    if variant not in VARIANTS:
        raise Http404("This report has no such chart.")
    comparisons = _there(report)
    chosen = PairView(request.GET, comparisons=comparisons).choice()
    picture = forest_svg(report, comparisons, chosen.a, chosen.k, variant=variant)
    return HttpResponse(picture, content_type="image/svg+xml")


def _there(report: Report) -> Compared:
    comparisons = compared(report)
    if comparisons is None:
        raise Http404("This report has no comparisons.")
    return comparisons
