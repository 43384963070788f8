"""The HTTP interface of a report's comparisons."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.report_comparisons import comparisons_asked
from pooling.api import PROBLEM


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
    low = serializers.FloatField(allow_null=True, help_text="95 % paired bootstrap: covers queries.")
    high = serializers.FloatField(allow_null=True)
    p_value = serializers.FloatField(allow_null=True, help_text="Corrected for the pairs at this K.")
    effect = serializers.FloatField(allow_null=True, help_text="Cohen's d.")
    bounds = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="Whatever the unjudged turn out to be."
    )
    estimate = serializers.FloatField(allow_null=True, help_text="Of micro recall, from the audit.")
    estimated = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="Its 95 % interval: covers labels."
    )
    more_labels = serializers.IntegerField(allow_null=True, help_text="Audit labels that would decide it.")
    open_pairs = serializers.IntegerField(allow_null=True, help_text="Unjudged documents of only one run.")
    leader = serializers.CharField(allow_null=True, help_text="The better run, or null: not ranked.")
    warnings = serializers.ListField(child=serializers.CharField())
    verdict = serializers.CharField(help_text="One sentence.")
    power = serializers.CharField(help_text="How many queries it takes to see a difference of 0.05.")


class ComparisonsSerializer(serializers.Serializer[dict[str, object]]):
    """The comparisons of a report at one K."""

    k = serializers.IntegerField()
    test = serializers.CharField()
    correction = serializers.CharField()
    comparisons = ComparisonSerializer(many=True)


class ReportComparisons(APIView):
    """Whether one run of a report beats another."""

    @extend_schema(
        operation_id="reports_comparisons",
        parameters=[ComparisonQuerySerializer],
        responses={200: ComparisonsSerializer, 400: PROBLEM, 404: PROBLEM},
    )
    def get(self, request: Request, report_id: int) -> Response:
        """Differences with intervals, tests, bounds and verdicts at one K."""
        report = report_for(request.user, report_id)
        asked = ComparisonQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        return Response(comparisons_asked(report, values.get("a"), values.get("b"), values.get("k")))
