"""The HTTP interface of a report's comparisons."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.comparisons.deciding_queue import DecisionResult, WantedPair, decision, open_deciding_queue
from evaluation.comparisons.stored import comparisons_asked
from evaluation.models import Report
from labeling.queues.opening_jobs import opening_result
from pooling.interface.api import Made, answers, parameters, parsed, person, takes
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


class ComparisonSerializer(serializers.Serializer[dict[str, object]]):
    """Two runs at a K; positive is in favour of `first`, undefined is null."""

    first = serializers.CharField()
    second = serializers.CharField()
    measure = serializers.CharField()
    k = serializers.IntegerField()
    queries = serializers.IntegerField(help_text="That count for both.")
    difference = serializers.FloatField(allow_null=True, help_text="Mean over queries.")
    low = serializers.FloatField(allow_null=True, help_text="95 % interval: covers queries; null below 10.")
    high = serializers.FloatField(allow_null=True)
    p_value = serializers.FloatField(
        allow_null=True, help_text="Of `difference`, corrected for the pairs at K."
    )
    effect = serializers.FloatField(allow_null=True, help_text="Cohen's d.")
    bounds = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="Whatever the unjudged turn out to be."
    )
    estimate = serializers.FloatField(allow_null=True, help_text="Of micro recall, from the audit.")
    estimated = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="Its 95 % interval: covers labels."
    )
    estimate_p_value = serializers.FloatField(
        allow_null=True,
        help_text="Of the estimate, corrected for the pairs that the bounds leave open.",
    )
    more_labels = serializers.IntegerField(allow_null=True, help_text="Audit labels that would decide it.")
    open_pairs = serializers.IntegerField(allow_null=True, help_text="Unjudged documents of only one run.")
    leader = serializers.CharField(allow_null=True, help_text="The better run, or null: not ranked.")
    decided_by = serializers.CharField(allow_null=True, help_text="`bounds` or `audit`; null: not ranked.")
    warnings = serializers.ListField(child=serializers.CharField())
    grade = serializers.CharField(
        help_text="`clearly_better`, `probably_better`, `no_difference`, `cannot_tell_labels` or "
        "`cannot_tell_queries`."
    )
    sentence = serializers.CharField(help_text="The grade in words.")
    verdict = serializers.CharField(help_text="What the bounds and the audit alone say.")
    power = serializers.CharField(help_text="How many queries it takes to see a difference of 0.05.")


class ComparisonsSerializer(serializers.Serializer[dict[str, object]]):
    """The comparisons of a report at one K."""

    k = serializers.IntegerField()
    test = serializers.CharField()
    correction = serializers.CharField()
    comparisons = ComparisonSerializer(many=True)


class ReportComparisons(APIView):
    """Whether one run of a report beats another."""

    @answers(
        ComparisonsSerializer, operation_id="reports_comparisons", parameters=[ComparisonQuerySerializer]
    )
    def get(self, request: Request, report_id: int) -> Response:
        """Differences with intervals, tests, bounds and verdicts at one K."""
        report = report_for(request.user, report_id)
        asked = parameters(ComparisonQuerySerializer, request)
        return Response(comparisons_asked(report, asked.get("a"), asked.get("b"), asked.get("k")))


class RunPairSerializer(serializers.Serializer[dict[str, object]]):
    """Two runs of the report and a K of it."""

    a = serializers.CharField()
    b = serializers.CharField()
    k = serializers.IntegerField()


shape(WantedPair, "DocumentOfQuery")


class DecidingQueueSerializer(serializers.Serializer[dict[str, object]]):
    """The queue that was opened."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    pairs = serializers.IntegerField()
    detail = serializers.CharField()
    url = serializers.CharField()


class Deciding(APIView):
    """The labels that would decide which of two runs is better."""

    @answers(
        shape(DecisionResult, "RunDecision"), operation_id="reports_deciding", parameters=[RunPairSerializer]
    )
    def get(self, request: Request, report_id: int) -> Response:
        """How two runs stand now, and which pairs to judge next."""
        report = report_for(request.user, report_id)
        pair = _pair(report, parameters(RunPairSerializer, request))
        return Response(decision(report, *pair).to_dict())

    @takes(RunPairSerializer, makes=DecidingQueueSerializer, operation_id="reports_deciding_queue")
    def post(self, request: Request, report_id: int) -> Made:
        """Open a queue of these pairs."""
        report = report_for(request.user, report_id, ADMIN)
        pair = _pair(report, parsed(RunPairSerializer, request))
        opened = open_deciding_queue(report, *pair, user=person(request))
        return opened if isinstance(opened, Job) else opening_result(opened)


def _pair(report: Report, asked: dict[str, Any]) -> tuple[str, str, int]:
    first, second, k = asked["a"], asked["b"], asked["k"]
    comparisons_asked(report, first, second, k)
    return first, second, k
