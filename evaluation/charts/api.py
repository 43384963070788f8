"""The HTTP interface of a report's pictures: what there is, the numbers behind each, and its files."""

from __future__ import annotations

from typing import Any

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
from pooling.interface.api import OneKind, answers
from pooling.interface.serializers import FILE
from pooling.interface.shapes import shape

CHOICES = [
    OpenApiParameter("measure", str, description="recall if absent."),
    OpenApiParameter("k", int, description="A K of the report; 10, or the nearest, if absent."),
    OpenApiParameter("show", str, many=True, description="Runs in colour; the best eight if absent."),
    OpenApiParameter("a", str, description="For `gains`: the run that gains or loses."),
    OpenApiParameter("b", str, description="For `gains`: the run it is compared with."),
]


class ChartNameSerializer(serializers.Serializer[dict[str, object]]):
    """A picture that a report has."""

    name = serializers.CharField()
    title = serializers.CharField()
    reading = serializers.CharField(help_text="How to read it.")
    url = serializers.CharField(help_text="Of its data.")


class ReportCharts(APIView):
    """The pictures of a report."""

    @answers(ChartNameSerializer(many=True), operation_id="reports_charts", parameters=CHOICES)
    def get(self, request: Request, report_id: int) -> Response:
        """List the pictures that this report has."""
        report = report_for(request.user, report_id)
        choice = ChartView(request.query_params, report=report).choice()
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
    """One picture of a report."""

    content_negotiation_class = OneKind

    @extend_schema(
        operation_id="reports_chart",
        parameters=[
            OpenApiParameter("format", str, enum=list(CHART_FILES), default="json"),
            *CHOICES,
        ],
        responses={(200, "application/json"): shape(ChartData), **FILE},
    )
    def get(self, request: Request, report_id: int, name: str) -> HttpResponseBase:
        """The numbers behind a picture as JSON or CSV, or the picture itself."""
        report = report_for(request.user, report_id)
        parameters: Any = request.query_params
        format = parameters.get("format") or "json"
        return chart_file(report, name, format, ChartView(parameters, report=report))
