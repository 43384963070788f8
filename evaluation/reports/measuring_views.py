"""The button *Release and measure*, its form, and the same over HTTP."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from evaluation.models import Report
from evaluation.report_store.links import link_to
from evaluation.reports.measuring import Measuring, proposed_release, request_measuring
from evaluation.reports.serializers import ReportSerializer
from labeling.consensus.rules import RULE_NAMES, RULES_IN_WORDS
from labeling.gold.reader import proposals_in
from labeling.items.reading_speed import too_fast_in
from labeling.qrels.labels import has_labels
from pooling.interface.api import Made, parsed, takes
from pooling.interface.api import person as caller
from pooling.interface.forms import show_problem
from pooling.interface.pages import person
from pooling.interface.problems import refusals
from pooling.interface.serializers import texts
from pooling.models import Collection, Run
from pooling.people.access import ADMIN, collection_for


class MeasuringForm(forms.Form):
    release = forms.CharField(
        max_length=200, label="Name of the release", help_text="You can rename it later."
    )
    rule = forms.ChoiceField(
        choices=[(name, f"{name}: {line}") for name, line in RULES_IN_WORDS.items()],
        initial="majority",
        help_text="How verdicts on a pair become one label.",
    )
    runs = forms.ModelMultipleChoiceField(Run.objects.none(), widget=forms.CheckboxSelectMultiple)

    def __init__(self, data: Any = None, *, collection: Collection) -> None:
        super().__init__(data, label_suffix="", initial={"release": proposed_release(collection)})
        runs = collection.runs.defer("preflight")
        self.fields["runs"].queryset = runs  # type: ignore[attr-defined]
        self.fields["runs"].initial = [run.pk for run in runs]

    def chosen(self) -> Measuring:
        """Call it after `is_valid`."""
        values = self.cleaned_data
        return Measuring(values["release"], values["rule"], [run.name for run in values["runs"]])


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def measure(request: HttpRequest, slug: str) -> HttpResponse:
    """Release the labels and measure the runs; a request without fields takes what is proposed."""
    collection = collection_for(request.user, slug, ADMIN)
    is_form = "release" in request.POST
    form = MeasuringForm(request.POST if is_form else None, collection=collection)
    if request.method == "POST" and (not is_form or form.is_valid()):
        try:
            choice = form.chosen() if is_form else Measuring()
            return redirect(request_measuring(collection, choice, person(request)))
        except refusals() as error:
            if is_form:
                show_problem(form, error)
            else:
                messages.error(request, str(error))
    context = {
        "collection": collection,
        "section": "reports",
        "form": form,
        "has_runs": bool(form.fields["runs"].initial),
        "has_labels": has_labels(collection),
        "too_fast": too_fast_in(collection),
        "implausible": proposals_in(collection),
    }
    return render(request, "evaluation/measure.html", context)


class MeasuringSerializer(serializers.Serializer[dict[str, object]]):
    """A release and the report on it; everything has a default."""

    release = serializers.CharField(
        required=False, max_length=200, help_text="Name of the new release; v1, v2 and so on if absent."
    )
    rule = serializers.ChoiceField(choices=RULE_NAMES, default="majority")
    runs = texts("Names of runs; all if absent.")


class Measure(APIView):
    @takes(MeasuringSerializer, makes=ReportSerializer, operation_id="collections_measure")
    def post(self, request: Request, slug: str) -> Made:
        """Freeze the labels and measure stored runs on them: 201, or 202 with a job to poll."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(MeasuringSerializer, request)
        outcome = request_measuring(collection, Measuring(**body), caller(request))
        return link_to(outcome) if isinstance(outcome, Report) else outcome
