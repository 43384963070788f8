"""The HTTP interface of a report's comparisons."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.comparisons.deciding_queue import DecisionResult, WantedPair, decision, open_deciding_queue
from evaluation.comparisons.stored import ChosenComparisons, chosen_comparisons
from evaluation.comparisons.verdict import ComparisonResult
from evaluation.models import Report
from labeling.queues.opening import QueueOpened, opening_result
from pooling.interface.api import Made, answers, parsed, person, takes
from pooling.interface.shapes import shape
from pooling.models import Job
from pooling.people.access import ADMIN


class ComparisonQuerySerializer(serializers.Serializer[dict[str, object]]):
    """Which comparisons; without a run all pairs, with one all of its pairs, with two this pair."""

    k = serializers.IntegerField(
        required=False, help_text="A K of the report; 10, or the nearest, if absent."
    )
    a = serializers.CharField(required=False, help_text="A run; differences are in its favour.")
    b = serializers.CharField(required=False, help_text="Another run.")


shape(ComparisonResult, "Comparison")
ComparisonsSerializer = shape(ChosenComparisons, "Comparisons")


class ReportComparisons(APIView):
    """Whether one run of a report beats another."""

    @answers(
        ComparisonsSerializer, operation_id="reports_comparisons", parameters=[ComparisonQuerySerializer]
    )
    def get(self, request: Request, report_id: int) -> Response:
        """Differences with intervals, tests, bounds and verdicts at one K."""
        report = report_for(request.user, report_id)
        query = parsed(ComparisonQuerySerializer, request)
        return Response(chosen_comparisons(report, query.get("a"), query.get("b"), query.get("k")))


class RunPairSerializer(serializers.Serializer[dict[str, object]]):
    """Two runs of the report and a K of it."""

    a = serializers.CharField()
    b = serializers.CharField()
    k = serializers.IntegerField()


shape(WantedPair, "DocumentOfQuery")
DecidingQueueSerializer = shape(QueueOpened, "DecidingQueue")


class Deciding(APIView):
    """The labels that would decide which of two runs is better."""

    @answers(
        shape(DecisionResult, "RunDecision"), operation_id="reports_deciding", parameters=[RunPairSerializer]
    )
    def get(self, request: Request, report_id: int) -> Response:
        """How two runs stand now, and which pairs to judge next."""
        report = report_for(request.user, report_id)
        pair = _pair(report, parsed(RunPairSerializer, request))
        return Response(decision(report, *pair).to_dict())

    @takes(RunPairSerializer, makes=DecidingQueueSerializer, operation_id="reports_deciding_queue")
    def post(self, request: Request, report_id: int) -> Made:
        """Open a queue of these pairs."""
        report = report_for(request.user, report_id, ADMIN)
        pair = _pair(report, parsed(RunPairSerializer, request))
        opened = open_deciding_queue(report, *pair, user=person(request))
        return opened if isinstance(opened, Job) else opening_result(opened)


def _pair(report: Report, query: dict[str, Any]) -> tuple[str, str, int]:
    first, second, k = query["a"], query["b"], query["k"]
    chosen_comparisons(report, first, second, k)
    return first, second, k
