"""The facts of a report over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.fact_reports.lists import FactsOfRun
from evaluation.fact_reports.stored import FactRow, facts_in, fill_others
from evaluation.fact_reports.views import NO_FACTS, chosen_cutoff, chosen_run
from pooling.interface.shapes import shape
from pooling.tables.calls import listed, lists

ReportFactSerializer = shape(FactRow, "ReportFact")


class ReportFacts(APIView):
    """The facts of a report, fact by fact; its means are in the report's result."""

    @lists(
        ReportFactSerializer,
        parameters=[
            OpenApiParameter("run", OpenApiTypes.STR, description="The run; the report's first if left out."),
            OpenApiParameter("k", OpenApiTypes.INT, description="One of the report's K; else the usual one."),
        ],
    )
    def get(self, request: Request, report_id: int) -> Response:
        """List where each fact stands in a run: the place of the first document that supports it."""
        report = report_for(request.user, report_id)
        if facts_in(report) is None:
            raise Http404(NO_FACTS)
        parameters = request._request.GET
        run, k = chosen_run(report, parameters.get("run", "")), chosen_cutoff(report, parameters.get("k", ""))

        def plain_rows(rows: Sequence[FactRow]) -> Any:
            fill_others(report, run, k, rows)
            return ReportFactSerializer(rows, many=True).data

        return listed(request, FactsOfRun(report, run), plain_rows)
