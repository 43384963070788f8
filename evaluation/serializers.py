"""What the HTTP interface takes and gives for reports, for checking and for its description."""

from __future__ import annotations

from rest_framework import serializers


class ReportRequestSerializer(serializers.Serializer[dict[str, object]]):
    """A report to create; everything has a default."""

    name = serializers.CharField(required=False, max_length=200)
    release = serializers.CharField(
        required=False, help_text="Name of a qrels release; the newest if absent."
    )
    runs = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names of runs; all if absent."
    )
    k = serializers.ListField(
        child=serializers.IntegerField(), required=False, help_text="1 3 5 10 20 50 100 if absent."
    )
    measures = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="recall, precision, f1, success and judged if absent; the first and last always.",
    )
    preset = serializers.CharField(required=False, help_text="trec_eval, trec_eval-c or trec_eval-9.")
    min_relevance = serializers.IntegerField(required=False, help_text="1 if absent.")
    zero_relevant = serializers.CharField(required=False, help_text="exclude (if absent) or zero.")
    missing = serializers.CharField(required=False, help_text="zero (if absent) or skip.")
    ties = serializers.CharField(required=False, help_text="docid (if absent), docid-asc, file or rank.")
    scores = serializers.CharField(required=False, help_text="float64 (if absent) or float32.")


class ReportSerializer(serializers.Serializer[dict[str, object]]):
    """A report in a list, or just created; its numbers are at /api/reports/{id}/."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    url = serializers.CharField(help_text="The report's page.")


class ReportJobSerializer(serializers.Serializer[dict[str, object]]):
    """The job that measures large runs; poll /api/jobs/{job}/."""

    job = serializers.IntegerField()


class ReportResultSerializer(serializers.Serializer[dict[str, object]]):
    """The object that `evaluate --format json` prints."""

    conventions = serializers.DictField(help_text="All that the numbers depend on.")
    queries = serializers.DictField(help_text="How many were scored, left out, missing; and which.")
    runs = serializers.DictField(
        child=serializers.DictField(), help_text="Run name to `measure@k` to mean, low, high and more."
    )
