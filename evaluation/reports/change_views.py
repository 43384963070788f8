"""The button that makes a report again, and two reports against each other over HTTP."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.models import Report
from evaluation.report_store.links import link_to
from evaluation.reports.changes import PlainChanges, PlainFigureChange, changes_as_dict
from evaluation.reports.making import request_again
from evaluation.reports.serializers import ReportSerializer
from pooling.interface.api import Made, answers, parsed, takes
from pooling.interface.api import person as call_person
from pooling.interface.pages import person
from pooling.interface.problems import InputError, refusals
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN


@login_required
@require_POST
def report_again(request: HttpRequest, report_id: int) -> HttpResponse:
    """Make a report again on the same release and runs; `pool` names another one for its estimates."""
    report = report_for(request.user, report_id, ADMIN)
    try:
        again = request_again(report, person(request), pool=request.POST.get("pool") or None)
    except refusals() as error:
        messages.error(request, str(error))
        return redirect(report)
    return redirect(again)


shape(PlainFigureChange, "FigureChange")


class AgainSerializer(serializers.Serializer[dict[str, object]]):
    """How a report is made again."""

    pool = serializers.CharField(required=False, help_text="Another pool for its estimates to rest on.")


class ReportAgain(APIView):
    @takes(AgainSerializer, makes=ReportSerializer, operation_id="reports_again")
    def post(self, request: Request, report_id: int) -> Made:
        """Measure again with the same settings, on the same release and runs."""
        report = report_for(request.user, report_id, ADMIN)
        again = request_again(report, call_person(request), pool=parsed(AgainSerializer, request).get("pool"))
        return link_to(again) if isinstance(again, Report) else again


class ReportChanges(APIView):
    @answers(
        shape(PlainChanges, "ReportChanges"),
        operation_id="reports_changes",
        parameters=[OpenApiParameter("since", int, required=True, description="An earlier report.")],
    )
    def get(self, request: Request, report_id: int) -> PlainChanges:
        """The figures of the runs that both reports have, side by side, and what changed in between."""
        after = report_for(request.user, report_id)
        since = request.query_params.get("since", "")
        before = after.collection.reports.filter(pk=int(since)).first() if since.isdecimal() else None
        if before is None:
            raise InputError("Name another report of this collection in since.", field="since")
        return changes_as_dict(before, after)
