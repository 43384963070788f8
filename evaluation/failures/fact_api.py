from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.facts.comparing import FactComparison
from evaluation.failures.fact_lists import FactsOfRun
from evaluation.failures.fact_views import NO_FACTS, chosen_run
from evaluation.failures.stored_facts import FactRow, difference_of, facts_in, fill_others
from evaluation.models import Report
from evaluation.report_store.files import check_measure, usual_cutoff
from pooling.interface.api import answers, parsed
from pooling.interface.problems import InputError
from pooling.interface.shapes import shape
from pooling.tables.calls import listed, lists


class FactsQuerySerializer(serializers.Serializer[dict[str, object]]):
    run = serializers.CharField(required=False, help_text="The run; the report's first if left out.")
    k = serializers.IntegerField(
        required=False, help_text="A K of the report; 10, or the nearest, if left out."
    )


class TwoRunsSerializer(FactsQuerySerializer):
    run = serializers.CharField(help_text="The run from which the other is subtracted.")
    against = serializers.CharField(help_text="The run that is subtracted.")


FactDifferenceSerializer = shape(FactComparison, "FactDifference")
ReportFactSerializer = shape(FactRow, "ReportFact")


class ReportFactDifference(APIView):
    @answers(FactDifferenceSerializer, parameters=[TwoRunsSerializer])
    def get(self, request: Request, report_id: int) -> object:
        """The difference of their fact recall, with its interval over queries, and bounds for what nobody
        judged.
        """
        report = report_for(request.user, report_id)
        if facts_in(report) is None:
            raise Http404(NO_FACTS)
        values = parsed(TwoRunsSerializer, request)
        k = _cutoff(report, values)
        first, second = (chosen_run(report, values[name], name) for name in ("run", "against"))
        if first == second:
            problem = f"{first} would be compared with itself. Name another run as against."
            raise InputError(problem, field="against")
        difference = difference_of(report, first, second, k)
        if difference is None:
            raise InputError("This report has no bounds of differences. Make it again.", missing=True)
        return {"first": first, "second": second, **difference}


class ReportFacts(APIView):
    @lists(
        ReportFactSerializer,
        parameters=[FactsQuerySerializer],
    )
    def get(self, request: Request, report_id: int) -> Response:
        """List where each fact stands in a run: the place of the first document that supports it."""
        report = report_for(request.user, report_id)
        if facts_in(report) is None:
            raise Http404(NO_FACTS)
        run, k = _chosen(request, report)

        def plain_rows(rows: Sequence[FactRow]) -> Any:
            fill_others(report, run, k, rows)
            return ReportFactSerializer(rows, many=True).data

        return listed(request, FactsOfRun(report, run), plain_rows)


def _chosen(request: Request, report: Report) -> tuple[str, int]:
    """The run and the K that the address names; `InputError` for what the report does not have."""
    values = parsed(FactsQuerySerializer, request)
    k = _cutoff(report, values)
    return chosen_run(report, values.get("run", "")), k


def _cutoff(report: Report, values: dict[str, Any]) -> int:
    k: int = values.get("k", usual_cutoff(report.options["k"]))
    check_measure(report, "recall", k)
    return k
