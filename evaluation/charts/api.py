from __future__ import annotations

from django.http.response import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.charts.page import ChartView
from evaluation.charts.stored import CHART_FILES, ChartData, kinds_of
from evaluation.charts.views import chart_file
from evaluation.models import Report
from evaluation.report_store.files import check_measure, check_runs
from pooling.interface.api import OneKind, answers, parsed
from pooling.interface.problems import InputError
from pooling.interface.serializers import FILE, texts
from pooling.interface.shapes import shape


class ChartQuerySerializer(serializers.Serializer[dict[str, object]]):
    measure = serializers.CharField(required=False, default="recall", help_text="recall if absent.")
    k = serializers.IntegerField(
        required=False, help_text="A K of the report; 10, or the nearest, if absent."
    )
    show = texts("Runs in colour; the best eight if absent.")
    a = serializers.CharField(required=False, help_text="For `gains`: the run that gains or loses.")
    b = serializers.CharField(required=False, help_text="For `gains`: the run it is compared with.")


class ChartNameSerializer(serializers.Serializer[dict[str, object]]):
    """A picture that a report has."""

    name = serializers.CharField()
    title = serializers.CharField()
    reading = serializers.CharField(help_text="How to read it.")
    url = serializers.CharField(help_text="Of its data.")


class ReportCharts(APIView):
    @answers(ChartNameSerializer(many=True), operation_id="reports_charts", parameters=[ChartQuerySerializer])
    def get(self, request: Request, report_id: int) -> Response:
        """List the pictures that this report has."""
        report = report_for(request.user, report_id)
        choice = _view(request, report).choice()
        return Response(
            [
                {
                    "name": kind.name,
                    "title": kind.title(choice),
                    "reading": kind.reading,
                    "url": reverse("api_report_chart", args=[report.pk, kind.name]),
                }
                for kind in kinds_of(report).values()
            ]
        )


class ReportChart(APIView):
    content_negotiation_class = OneKind

    @extend_schema(
        operation_id="reports_chart",
        parameters=[
            OpenApiParameter("format", str, enum=list(CHART_FILES), default="json"),
            ChartQuerySerializer,
        ],
        responses={(200, "application/json"): shape(ChartData), **FILE},
    )
    def get(self, request: Request, report_id: int, name: str) -> HttpResponseBase:
        """The numbers behind a picture as JSON or CSV, or the picture itself."""
        report = report_for(request.user, report_id)
        format = request.query_params.get("format") or "json"
        return chart_file(report, name, format, _view(request, report))


def _view(request: Request, report: Report) -> ChartView:
    """What the address asks for; `InputError`, where pages show what is usual, for what the report lacks."""
    values = parsed(ChartQuerySerializer, request)
    measure = values["measure"]
    if "k" in values or measure not in report.options["measures"]:
        check_measure(report, measure, values.get("k"))
    check_runs(report, values.get("show", ()), "show")
    for field in ("a", "b"):
        check_runs(report, [values[field]] if field in values else (), field)
    if "a" in values and values["a"] == values.get("b"):
        raise InputError("A run is compared with another run; name two.", field="b")
    return ChartView(values, report=report)
