"""Links to reports: admins make and withdraw them, anyone who has one reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.access import report_for
from evaluation.charts.stored import chart_svg, kinds_of, usual_choice
from evaluation.comparisons.stored import compared, forest_svg
from evaluation.report_store.shared_links import opened_link, share, withdraw_link
from evaluation.sharing.forms import ShareForm
from evaluation.sharing.page import CURVE, shared_comparison, shared_report
from pooling.interface.charting import VARIANTS
from pooling.interface.pages import go_on_with, made_once, person, secret_page
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, fetch

# A link must not travel on: not to other sites, not into an index, not into a cache.
UNTRACED = {
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "private, no-store",
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report_share(request: HttpRequest, report_id: int) -> HttpResponse:
    """POST makes a link; the page after it shows it, this one time."""
    report = report_for(request.user, report_id, ADMIN)
    links = f"{report.get_absolute_url()}#share"
    if request.method == "POST":
        try:
            link, token = share(report, ShareForm(request.POST, report=report).sharing(), by=person(request))
        except InputError as error:
            messages.error(request, str(error))
            return redirect(links)
        return go_on_with(request, {"link": link.pk, "token": token})
    made = made_once(request)
    if not made:
        return redirect(links)
    context = {
        "collection": report.collection,
        "section": "reports",
        "report": report,
        "shared": fetch(report.shared_links.all(), pk=made["link"]),
        "address": request.build_absolute_uri(reverse("shared", args=[made["token"]])),
    }
    return secret_page(request, "evaluation/shared_link_made.html", context)


@login_required
@require_POST
def report_unshare(request: HttpRequest, report_id: int, link_id: int) -> HttpResponse:
    """Withdraw a link."""
    report = report_for(request.user, report_id, ADMIN)
    withdraw_link(
        fetch(report.shared_links.select_related("report", "collection"), pk=link_id), by=person(request)
    )
    messages.success(request, "Withdrawn: the link no longer works.")
    return redirect(f"{report.get_absolute_url()}#share")


def _untraced(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Give every response, also that a link is gone, the headers of UNTRACED."""

    @wraps(view)
    def answer(request: HttpRequest, token: str, **rest: str) -> HttpResponse:
        try:
            response = view(request, token, **rest)
        except InputError as error:
            status = 404 if error.missing else 410
            response = render(request, "evaluation/shared_gone.html", {"problem": str(error)}, status=status)
        for name, value in UNTRACED.items():
            response[name] = value
        return response

    return answer


@require_safe
@sensitive_variables("token")
@_untraced
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """The page of a link, for anyone who has it."""
    link = opened_link(token)
    # Not `collection` or `report`: anyone who follows the link may not see the collection's pages.
    if link.is_of_comparison:
        return render(request, "evaluation/shared_comparison.html", {**shared_comparison(link, token)})
    return render(request, "evaluation/shared_report.html", {**shared_report(link, token)})


@require_safe
@sensitive_variables("token")
@_untraced
def shared_picture(request: HttpRequest, token: str, variant: str) -> HttpResponse:
    """The curve of a shared report, or the differences of a shared comparison, as SVG."""
    link = opened_link(token)
    if variant not in VARIANTS:
        raise Http404("There is no such chart.")
    report, comparisons = link.report, compared(link.report)
    if not link.is_of_comparison:
        picture = chart_svg(report, kinds_of(report)[CURVE], usual_choice(report), variant)
    elif comparisons is None or link.k is None:
        raise Http404("There is no such chart.")
    else:
        picture = forest_svg(report, comparisons, link.first, link.k, variant=variant)
    return HttpResponse(picture, content_type="image/svg+xml")
