"""The page that holds two reports against each other, and the button that makes a report again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.comparisons.page import signed
from evaluation.models import Report
from evaluation.reports.changes import (
    are_equal,
    changes_as_dict,
    figure_changes,
    rows_by_run,
    shared_cutoffs,
    shared_measures,
    what_changed,
)
from evaluation.reports.making import request_again
from pooling.interface.api import PROBLEM
from pooling.interface.pages import person
from pooling.interface.problems import InputError, refusals
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for

if TYPE_CHECKING:
    from evaluation.measures import Measure
    from evaluation.reports.changes import Change

MOST_LISTED = 200


class ChangesView(forms.Form):
    """The query string: two reports of the collection and a measure; without them the two newest."""

    before = forms.ModelChoiceField(Report.objects.none(), required=False)
    after = forms.ModelChoiceField(Report.objects.none(), required=False)

    def __init__(self, data: Any, *, collection: Collection) -> None:
        super().__init__(data)
        for field in self.fields.values():
            field.queryset = collection.reports.select_related("release")  # type: ignore[attr-defined]

    def pair(self, newest: list[Report]) -> tuple[Report, Report] | None:
        """Both reports; None where there are not two."""
        self.is_valid()
        after = self.cleaned_data.get("after") or (newest[0] if newest else None)
        others = [report for report in newest if report != after]
        before = self.cleaned_data.get("before") or (others[0] if others else None)
        return None if before is None or after is None else (before, after)


@login_required
@require_safe
def report_changes(request: HttpRequest, slug: str) -> HttpResponse:
    """Two reports of a collection: what changed in between, and the figures of the runs that both have."""
    collection = collection_for(request.user, slug)
    listed = list(collection.reports.defer("result", "options")[:MOST_LISTED])
    pair = ChangesView(request.GET, collection=collection).pair(listed)
    context: dict[str, object] = {"collection": collection, "section": "reports", "listed": listed}
    if pair:
        context = {**context, **_changes(*pair, request.GET.get("measure", ""))}
    return render(request, "evaluation/changes.html", context)


class ChangeCell(TypedDict):
    """A mean at one K in both reports, in words; moved: whether the difference shows in three decimals."""

    before: str
    after: str
    interval: str
    difference: str
    moved: bool


class ChangeRow(TypedDict):
    """One run with a cell for each K that both reports have."""

    run: str
    other_file: bool
    cells: list[ChangeCell]


class ChangesPart(TypedDict):
    """What `changes.html` shows of two reports."""

    before: Report
    after: Report
    changes: list[Change]
    equal: bool
    measures: list[Measure]
    measure: str
    columns: list[int | None]
    rows: list[ChangeRow]


def _changes(before: Report, after: Report, measure: str) -> ChangesPart:
    from evaluation.measures import MEASURES
    from evaluation.scoring.results import decimal, interval

    measures = shared_measures(before, after)
    chosen = measure if measure in measures else next(iter(measures), "")
    found = rows_by_run(figure_changes(before, after, chosen)) if chosen else {}
    rows: list[ChangeRow] = [
        {
            "run": run,
            "other_file": changes[0].other_file,
            "cells": [
                {
                    "before": decimal(one.before["mean"]),
                    "after": decimal(one.after["mean"]),
                    "interval": interval(one.after).strip(),
                    "difference": signed(one.difference),
                    "moved": bool(one.difference and abs(one.difference) >= 0.0005),
                }
                for one in changes
            ],
        }
        for run, changes in found.items()
    ]
    return {
        "before": before,
        "after": after,
        "changes": what_changed(before, after),
        "equal": are_equal(before, after),
        "measures": [MEASURES[name] for name in measures],
        "measure": chosen,
        "columns": shared_cutoffs(before, after, chosen) if chosen else [],
        "rows": rows,
    }


@login_required
@require_POST
def report_again(request: HttpRequest, report_id: int) -> HttpResponse:
    """Make a report again with the same settings, on the same release and runs; `pool` names another pool for
    its estimates to rest on."""
    shown = report_for(request.user, report_id, ADMIN)
    try:
        made = request_again(shown, person(request), pool=request.POST.get("pool") or None)
    except refusals() as error:
        messages.error(request, str(error))
        return redirect(shown)
    return redirect(made)


class ChangeSerializer(serializers.Serializer[dict[str, object]]):
    """Something in which two reports differ."""

    what = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()


class FigureChangeSerializer(serializers.Serializer[dict[str, object]]):
    """A mean in both reports; k is null over the whole run."""

    measure = serializers.CharField()
    run = serializers.CharField()
    k = serializers.IntegerField(allow_null=True)
    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    other_file = serializers.BooleanField(help_text="The run of that name is another file.")


class ReportChangesSerializer(serializers.Serializer[dict[str, object]]):
    """Two reports checked against each other."""

    before = serializers.IntegerField()
    after = serializers.IntegerField()
    equal = serializers.BooleanField(help_text="The same runs, and the same figures in all they share.")
    changed = ChangeSerializer(many=True)
    figures = FigureChangeSerializer(many=True)


class ReportChanges(APIView):
    """What changed since another report."""

    @extend_schema(
        operation_id="reports_changes",
        parameters=[OpenApiParameter("since", int, required=True, description="An earlier report.")],
        responses={200: ReportChangesSerializer, 400: PROBLEM, 404: PROBLEM},
    )
    def get(self, request: Request, report_id: int) -> Response:
        """The figures of the runs that both reports have, side by side, and what changed in between."""
        after = report_for(request.user, report_id)
        since = request.query_params.get("since", "")
        known = after.collection.reports.filter(pk=int(since)).first() if since.isdecimal() else None
        if known is None:
            raise InputError("Name another report of this collection in since.", field="since")
        return Response(changes_as_dict(known, after))
