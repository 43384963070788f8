"""Links to reports: admins make and withdraw them, anyone who has one reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.charts.drawing import forest_size
from evaluation.charts.html_report import lines_of, means_of, worth_of
from evaluation.charts.kinds import first_curve
from evaluation.charts.stored import chart_svg, figures_of, usual_choice
from evaluation.comparisons.page import PairView, facts
from evaluation.comparisons.results_table import estimate_in_words
from evaluation.comparisons.stored import compared, forest_svg, grade_of, turned
from evaluation.models import Report, SharedLink
from evaluation.report_store.files import figure_of, run_names
from evaluation.report_store.options import headline_k
from evaluation.report_store.settings import margin_of
from evaluation.report_store.shared_links import (
    LONGEST_DAYS,
    LONGEST_NOTE,
    USUAL_DAYS,
    Sharing,
    links_of,
    opened_link,
    share,
    withdraw_link,
)
from evaluation.reports.answer_card import answer_card, estimated_caption, of_labels
from evaluation.reports.export import MADE, content_of
from evaluation.scoring.results import decimal, interval, percent
from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.charting import VARIANTS
from pooling.interface.pages import go_on_with, made_once, secret_page
from pooling.interface.problems import InputError
from pooling.interface.serializers import optional_text
from pooling.people.access import ADMIN, fetch
from pooling.tables.calls import lists
from pooling.tables.rows import Rows

DAYS = (7, 30, 90)


class ShareForm(forms.Form):
    """A link to make; a day, where one is given, counts and not the days."""

    days = forms.TypedChoiceField(
        choices=[(days, f"{days} days") for days in DAYS], coerce=int, empty_value=None, required=False
    )
    until = forms.DateField(required=False)
    note = forms.CharField(required=False, max_length=LONGEST_NOTE)

    def __init__(self, data: Any = None, *, report: Report) -> None:
        super().__init__(data)
        self._report = report

    def sharing(self) -> Sharing:
        """The valid form, with the runs and the K of a comparison if named; `InputError` for odd ones."""
        if not self.is_valid():
            field, errors = next(iter(self.errors.items()))
            raise InputError(" ".join(str(error) for error in errors), field=field)
        given = self.cleaned_data
        first, second, k = "", "", None
        if self.data.get("a"):
            first, second, k = chosen_pair(self._report, self.data)
        days = given["days"] or USUAL_DAYS
        return Sharing(days, given["until"], given["note"], first=first, second=second, k=k)


def chosen_pair(report: Report, data: Any) -> tuple[str, str, int]:
    """The runs `a` and `b` and the K that `data` names; `InputError` where they are not compared."""
    comparisons = compared(report)
    if comparisons is None:
        raise InputError("This report has no comparisons.", field="a")
    view = PairView(data, comparisons=comparisons)
    chosen = view.choice()
    if view.errors:
        raise InputError("Name two runs of this report as a and b, and a K that it has.", field="a")
    return chosen.a, chosen.b, chosen.k


@dataclass(frozen=True)
class SharedRow:
    """A run's recall at the page's K in words; estimate: of the audit, with interval; bar: 100 units wide."""

    run: str
    estimate: str
    mean: str
    interval: str
    judged: str
    bar: Mapping[str, str]


@dataclass(frozen=True)
class SharedPicture:
    addresses: Mapping[str, str]
    wide: tuple[int, int]
    narrow: tuple[int, int]
    alt: str
    title: str = ""


def shared_report(link: SharedLink, token: str) -> dict[str, Any]:
    """The report that a link shows; nothing is measured, and pictures are drawn when they are asked for."""
    report = link.report
    content, k = content_of(report, for_members=False), headline_k(report.options)
    choice = usual_choice(report)
    figures = content.figures
    kind, rows = first_curve(figures), _rows(report, k)
    # Who made it is a member.
    provenance = replace(content.provenance, made=report.created_at.strftime(MADE))
    alt = f"{kind.title(choice)}; the tables have the same numbers."
    return {
        "title": report.name,
        **_heading(report),
        "summary": content.summary,
        "answer": answer_card(report, k),
        "notes": content.notes,
        "k": k,
        "found_so_far": (basis := of_labels(report)),
        "curve_caption": estimated_caption(report)
        if kind.is_of_audit
        else f"Mean over queries{basis and f', {basis},'} with its interval.",
        "has_estimates": any(row.estimate for row in rows),
        "rows": rows,
        "picture": SharedPicture(
            _addresses(token),
            kind.size(figures, choice),
            kind.size(figures, choice, narrow=True),
            alt,
            kind.title(choice),
        ),
        "means": list(means_of(figures, content.measures)),
        "worth": [worth_of(cells, number) for number, cells in enumerate(content.worth)],
        "lines": lines_of(figures, choice),
        "facts": provenance.facts(),
        "command": provenance.command,
    }


def shared_comparison(link: SharedLink, token: str) -> dict[str, Any]:
    """The two runs that a link compares; `InputError` where the report has no comparison of them any more."""
    report, comparisons = link.report, compared(link.report)
    if comparisons is None or link.k is None or not {link.first, link.second} <= set(comparisons.runs):
        raise InputError("This report no longer has this comparison.", missing=True)
    pair, others = comparisons.pair(link.first, link.second, link.k), len(comparisons.runs) - 1
    alt = f"Differences in Recall@{link.k} of {link.first} from the other runs, with intervals and bounds."
    return {
        "title": f"{link.first} and {link.second}",
        **_heading(report),
        "first": link.first,
        "second": link.second,
        "k": link.k,
        "sentence": grade_of(pair, margin_of(report)).sentence,
        "warnings": pair["warnings"],
        "power": pair["power"],
        "facts": facts(turned(pair, link.first)),
        "picture": SharedPicture(
            _addresses(token), forest_size(others), forest_size(others, narrow=True), alt
        ),
    }


def _heading(report: Report) -> dict[str, Any]:
    return {
        "collection_name": report.collection.name,
        "release": report.release.name,
        "made": report.created_at.strftime("%-d %B %Y"),
    }


def _addresses(token: str) -> dict[str, str]:
    names = {variant: variant.replace("-", "_") for variant in VARIANTS}
    return {names[variant]: reverse("shared_picture", args=[token, variant]) for variant in VARIANTS}


def _rows(report: Report, k: int) -> list[SharedRow]:
    """A line per run, the best first."""
    rows = []
    figures = {run: figure_of(report, run, "recall", k) for run in run_names(report)}
    for run in sorted(figures, key=lambda name: -(figures[name]["mean"] or 0)):
        figure, judged = figures[run], figure_of(report, run, "judged", k)
        places = {"mean": figure["mean"], "low": figure["low"], "high": figure["high"]}
        bar = {name: f"{100 * place:.1f}" for name, place in places.items() if place is not None}
        mean, share = decimal(figure["mean"]), percent(judged["mean"])
        rows.append(SharedRow(run, estimate_in_words(figure), mean, interval(figure).strip(), share, bar))
    return rows


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
    link = opened_link(token)
    # Not `collection` or `report`: anyone who follows the link may not see the collection's pages.
    if link.is_of_comparison:
        return render(request, "evaluation/shared_comparison.html", {**shared_comparison(link, token)})
    return render(request, "evaluation/shared_report.html", {**shared_report(link, token)})


@require_safe
@sensitive_variables("token")
@_untraced
def shared_picture(request: HttpRequest, token: str, variant: str) -> HttpResponse:
    link = opened_link(token)
    if variant not in VARIANTS:
        raise Http404("There is no such chart.")
    report, comparisons = link.report, compared(link.report)
    if not link.is_of_comparison:
        kind = first_curve(figures_of(report))
        picture = chart_svg(report, kind, usual_choice(report), variant)
    elif comparisons is None or link.k is None:
        raise Http404("There is no such chart.")
    else:
        picture = forest_svg(report, comparisons, link.first, link.k, variant=variant)
    return HttpResponse(picture, content_type="image/svg+xml")


class SharedLinkSerializer(serializers.ModelSerializer[SharedLink]):
    """A read-only link to a report; its `url` is shown once."""

    days = serializers.IntegerField(
        write_only=True, required=False, default=USUAL_DAYS, min_value=1, max_value=LONGEST_DAYS
    )
    until = serializers.DateField(
        write_only=True, required=False, default=None, allow_null=True, help_text="A day instead of `days`."
    )
    note = optional_text("Tells admins whom it is for.", max_length=LONGEST_NOTE)
    a = optional_text("Compare this run …", source="first")
    b = optional_text("… with this one.", source="second")
    k = serializers.IntegerField(required=False, default=None, allow_null=True)
    created_by = serializers.CharField(source="created_by.username", read_only=True)
    url = serializers.CharField(read_only=True, required=False)

    class Meta:
        model = SharedLink
        fields = [
            *("id", "days", "until", "note", "a", "b", "k"),
            *("created_by", "created_at", "expires_at", "opened_at", "url"),
        ]
        read_only_fields = ["created_at", "expires_at", "opened_at"]


class SharedLinks(APIView):
    @lists(SharedLinkSerializer, operation_id="reports_links_list")
    def get(self, request: Request, report_id: int) -> Rows:
        """List the links that still work, newest first."""
        report = report_for(request.user, report_id, ADMIN)
        return links_of(report)

    @takes(SharedLinkSerializer, gives=SharedLinkSerializer, status=201, operation_id="reports_links_create")
    def post(self, request: Request, report_id: int) -> object:
        """Make a read-only link that needs no account, to the report or to a comparison of `a` with `b` at
        `k`; its address is only in this response."""
        report = report_for(request.user, report_id, ADMIN)
        given = parsed(SharedLinkSerializer, request)
        if given["first"] or given["second"]:
            named = {"a": given["first"], "b": given["second"], "k": given["k"]}
            given["first"], given["second"], given["k"] = chosen_pair(report, named)
        link, token = share(report, Sharing(**given), by=person(request))
        link.url = request.build_absolute_uri(reverse("shared", args=[token]))  # type: ignore[attr-defined]
        return link


class OneSharedLink(APIView):
    @answers(operation_id="reports_links_destroy")
    def delete(self, request: Request, report_id: int, link_id: int) -> None:
        """Withdraw a link."""
        report = report_for(request.user, report_id, ADMIN)
        rows = report.shared_links.select_related("report", "collection")
        withdraw_link(fetch(rows, pk=link_id), by=person(request))
