from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.access import latency_report_for
from evaluation.indexes import page as latency_page
from evaluation.indexes.latency import LARGEST_FILE, LATENCY, RUN
from evaluation.indexes.stored import MOST_K, LatencyRequest, request_latency_report
from evaluation.models import LatencyReport
from pooling.formats.cells import table_text
from pooling.interface.charting import VARIANTS
from pooling.interface.downloads import offered
from pooling.interface.forms import FIRST, GroupedForm, show_problem
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.models import Collection, Run
from pooling.people.access import ADMIN, collection_for
from pooling.tables.answers import answer
from pooling.tables.columns import Column, own_page
from pooling.tables.table import Table


def _settings(report: LatencyReport) -> int:
    return len(report.options.get("runs", ()))


def _answer(report: LatencyReport) -> str:
    if report.options.get("target") is None:
        return "no target"
    return report.result.get("latency", {}).get("target", {}).get("cheapest") or "none reaches the target"


LATENCY_REPORTS = Table(
    "latency-reports",
    "latency report",
    columns=(
        Column("name", "Report", natural=True, link=own_page, style="id"),
        Column("answer", "Answer", _answer),
        Column("exact", "Exact run", "exact.name", natural=True),
        Column("settings", "Settings", _settings, number=True),
        Column("k", "K", "options.k", number=True),
        Column("created", "Created", "created_at", to_the_minute=True, style="quiet"),
        Column("by", "Created by", "created_by.username", style="quiet"),
    ),
    sort="-created",
    search=("name", "answer", "exact", "by"),
    search_hint="Name, run or person",
    choose="latency_reports",
    caption="Each report compares approximate runs with an exact one. Reports never change.",
)


MOST_OFFERED = 20
EXAMPLE = "run,latency_ms,ef\nhnsw-16,0.21,16\nhnsw-64,0.34,64"


class LatencyForm(GroupedForm, forms.Form):
    GROUPS = {
        FIRST: ("exact", "settings_file", "settings"),
        "Approximate runs": ("runs",),
        "Name, K and target": ("name", "k", "target"),
    }

    name = forms.CharField(max_length=200, required=False, help_text="Empty: named after the exact run.")
    exact = forms.ModelChoiceField(
        Run.objects.none(),
        label="Exact run",
        help_text="What the index should return: an exhaustive search over the same vectors.",
    )
    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Approximate runs",
        help_text="None chosen: every run that the settings name.",
    )
    k = forms.IntegerField(min_value=1, max_value=MOST_K, initial=10, label="K")
    target = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        initial=0.95,
        label="Target",
        help_text=(
            "The recall at K that a setting should reach. The report names the cheapest setting that does."
        ),
    )
    settings_file = forms.FileField(
        required=False,
        label="Settings, as a file",
        max_length=200,
        help_text="CSV with a header: run, latency_ms, and a column for each parameter you want to see.",
    )
    settings = forms.CharField(
        required=False,
        max_length=LARGEST_FILE,
        label="Or pasted",
        widget=forms.Textarea(attrs={"rows": 6, "placeholder": EXAMPLE, "class": "mono"}),
    )

    def __init__(self, data: Any = None, files: Any = None, *, collection: Collection) -> None:
        super().__init__(data, files, label_suffix="")
        runs = collection.runs.listed().defer("preflight")
        self.fields["exact"].queryset = runs  # type: ignore[attr-defined]
        self.fields["runs"].queryset = runs  # type: ignore[attr-defined]
        engine_runs = runs.filter(preflight__engine__isnull=False).order_by("-pk")
        rows = list(engine_runs.values_list("name", "preflight__engine__latency_ms__p50")[:MOST_OFFERED])
        if measured := (table_text((RUN, LATENCY), rows) if rows else ""):
            self.fields["settings"].initial = measured
            self.fields[
                "settings"
            ].help_text = (
                "Filled in: the median latency of runs that an engine answered. A file takes its place."
            )

    def clean(self) -> dict[str, Any]:
        """The text of the settings, from wherever it came, under `settings`."""
        values = super().clean() or self.cleaned_data
        file = values.get("settings_file")
        if file:
            try:
                values["settings"] = file.read(LARGEST_FILE + 1).decode("utf-8-sig")
            except UnicodeDecodeError:
                self.add_error("settings_file", "This file is not UTF-8. Save it as UTF-8.")
        elif not values.get("settings") and "settings" not in self.errors:
            self.add_error("settings", "Name each run with its latency, as a file or here.")
        return values

    def request(self) -> LatencyRequest:
        """Call it after `is_valid`."""
        values = self.cleaned_data
        return LatencyRequest(
            name=values["name"] or None,
            exact=values["exact"].name,
            runs=[run.name for run in values["runs"]] or None,
            k=values["k"],
            target=values["target"],
            settings=values["settings"],
        )


@login_required
@require_safe
def latency_reports(request: HttpRequest, slug: str) -> HttpResponseBase:
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
    report = latency_report_for(request.user, report_id)
    context = {"collection": report.collection, "section": "latency_reports", "report": report}
    return render(
        request, "evaluation/latency_report.html", {**context, **latency_page.latency_context(report)}
    )


@login_required
@require_safe
def latency_download(request: HttpRequest, report_id: int, format: str) -> HttpResponseBase:
    report = latency_report_for(request.user, report_id)
    stem = slugify(report.name) or f"latency-{report.pk}"
    return offered(latency_page.FILES, format, stem, report)


@login_required
@require_safe
def latency_chart(request: HttpRequest, report_id: int, variant: str) -> HttpResponse:
    report = latency_report_for(request.user, report_id)
    if variant not in VARIANTS:
        raise Http404("This report has no such chart.")
    return HttpResponse(latency_page.latency_svg(report, variant), content_type="image/svg+xml")
