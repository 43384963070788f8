from __future__ import annotations

from django.http.response import HttpResponseBase
from django.utils.text import slugify
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import latency_report_for
from evaluation.indexes.page import FILES
from evaluation.indexes.stored import LatencyRequest, request_latency_report
from evaluation.models import LatencyReport
from evaluation.report_store.links import Link, link_to
from pooling.interface.api import Made, OneKind, answers, file_call, parsed, person, takes
from pooling.interface.downloads import offered
from pooling.interface.serializers import texts
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN, collection_for
from pooling.tables.calls import listed, lists
from pooling.tidying.api import Tidied


class LatencyRequestSerializer(serializers.Serializer[dict[str, object]]):
    """A latency report to create."""

    exact = serializers.CharField(help_text="Name of the exact run.")
    settings = serializers.CharField(
        help_text="CSV text with the columns run, latency_ms and any parameters.", trim_whitespace=False
    )
    runs = texts("Names of the approximate runs; those that the settings name if absent.")
    k = serializers.IntegerField(required=False, default=10)
    target = serializers.FloatField(required=False, help_text="Recall at k that a setting should reach.")
    name = serializers.CharField(required=False, max_length=200)


class LatencyLink(Link):
    """A latency report in a list, or just created."""


LatencyReportSerializer = shape(LatencyLink, "LatencyReport")


class LatencyResultSerializer(serializers.Serializer[dict[str, object]]):
    """The object that `evaluate --against … --settings … --format json` prints."""

    conventions = serializers.DictField()
    queries = serializers.DictField()
    runs = serializers.DictField(help_text="Run to `recall@k` to its figures.")
    latency = serializers.DictField(help_text="k, rows, front, target and sentence.")


class LatencyReports(APIView):
    @lists(LatencyReportSerializer, operation_id="latency_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the latency reports, newest first."""
        collection = collection_for(request.user, slug)
        rows = collection.latency_reports.listed().only("id", "name", "created_at", "collection")
        return listed(request, rows, lambda some: [link_to(report) for report in some])

    @takes(LatencyRequestSerializer, makes=LatencyReportSerializer, operation_id="latency_create")
    def post(self, request: Request, slug: str) -> Made:
        """Hold approximate runs against an exact one: 201, or 202 with a job to poll when they are large."""
        collection = collection_for(request.user, slug, ADMIN)
        latency_request = LatencyRequest(**parsed(LatencyRequestSerializer, request))
        outcome = request_latency_report(collection, latency_request, person(request))
        return link_to(outcome) if isinstance(outcome, LatencyReport) else outcome


class LatencyResult(Tidied):
    kind = "index"

    @answers(LatencyResultSerializer, operation_id="latency_retrieve")
    def get(self, request: Request, report_id: int) -> Response:
        """The same object as `evaluate --against … --settings … --format json` prints."""
        return Response(latency_report_for(request.user, report_id).result)


class LatencyFile(APIView):
    content_negotiation_class = OneKind

    @file_call(FILES)
    def get(self, request: Request, report_id: int, format: str) -> HttpResponseBase:
        """Download a latency report."""
        report = latency_report_for(request.user, report_id)
        return offered(FILES, format, slugify(report.name) or f"latency-{report.pk}", report)
