from __future__ import annotations

from typing import Any

from rest_framework import serializers

from evaluation.report_store.links import Link
from evaluation.reports.weighing import WEIGHTS
from evaluation.scoring.config import Settings
from evaluation.scoring.conventions import PRESET, Conventions
from pooling.interface.option_fields import serializer_field, serializer_fields
from pooling.interface.serializers import texts
from pooling.interface.shapes import shape

# A report's choices are checked with an evaluation file's, and refused in the same words.
UNCHECKED: Any = {"filled": False, "nullable": False, "bounded": False}


@serializer_fields(Settings, **UNCHECKED)
@serializer_fields(Conventions, **UNCHECKED)
class ReportRequestSerializer(serializers.Serializer[dict[str, object]]):
    """A report to create; everything has a default."""

    name = serializers.CharField(required=False, max_length=200)
    release = serializers.CharField(
        required=False, help_text="Name of a qrels release; the newest if absent."
    )
    runs = texts("Names of runs; all if absent.")
    k = serializers.ListField(
        child=serializers.IntegerField(),
        required=False,
        help_text="1 3 5 10 20 50 100 as far as pool and runs go, if absent.",
    )
    measures = texts(
        "recall, precision, f1, success and judged if absent; the first and last always. A name "
        "may have a K (ndcg@10), which the report then has for all."
    )
    preset = serializer_field(PRESET, **UNCHECKED)
    conventions = serializers.DictField(
        required=False,
        help_text=(
            "The preset and conventions in one object, as in an evaluation file; separate fields override it."
        ),
    )
    tags = texts("The queries with each tag are reported separately.")
    thresholds = serializers.DictField(
        child=serializers.FloatField(),
        required=False,
        help_text="`measure@k` to what every run's mean should reach; `thresholds` of the numbers tells.",
    )
    pool = serializers.CharField(
        required=False,
        help_text="Name of the pool that estimates rest on; if absent, the one whose audit is furthest "
        "answered over the runs and queries measured.",
    )
    weights = serializers.ChoiceField(
        choices=list(WEIGHTS),
        required=False,
        help_text="What drawn queries are taken back to: the log's traffic, its distinct queries, or none, "
        "so that each counts once. If absent, the traffic where every scored query was drawn, at least half "
        "of them from the newest log; `conventions.weights` of the numbers tells.",
    )


class ReportLink(Link):
    """A report in a list, or just created; its numbers are at /api/reports/{id}/."""


ReportSerializer = shape(ReportLink, "Report")


class ReportResultSerializer(serializers.Serializer[dict[str, object]]):
    """The object that `evaluate --format json` prints."""

    conventions = serializers.DictField(help_text="All that the numbers depend on.")
    queries = serializers.DictField(help_text="How many were scored, left out, missing; and which.")
    runs = serializers.DictField(
        child=serializers.DictField(), help_text="Run name to `measure@k` to mean, low, high and more."
    )
    estimates = serializers.DictField(
        required=False,
        help_text="What the audit of the `pool` says (of the pools with an audit `others`, with the share "
        "`answered` of runs and queries): `status` and `sentence`, `relevant` documents with "
        "interval and the bound on what is missing, `runs` to `recall@k` to `micro` and `macro`, and more. "
        "`prediction_powered` has the same with a model's pre-labels next to the labels, or null: each "
        "figure with `human` and `powered` interval, `weight`, `narrower` and `why` the weight is 0. "
        "`audit_by_scores` is what an audit by strata of a model's scores says of its pool, or null: "
        "`relevant`, `runs` to `recall@k` and `precision@k`, `differences`, `strata`, `counts` and `notes`.",
    )
    answer = serializers.DictField(
        allow_null=True,
        help_text="The best `run` at the `k` nearest 10, its `recall` with interval and `judged` share; "
        "`with_mistakes`, always null; its `rival` with `difference`, interval, `p_value`, `grade` and "
        "`turning`, the share of the unjudged documents of both first K that would reverse the order; a "
        "`sentence`, and what to do `next`.",
    )
    strata = serializers.DictField(
        child=serializers.DictField(),
        required=False,
        help_text="Tag to `queries` and `runs`, where tags were named.",
    )
    thresholds = serializers.DictField(
        child=serializers.DictField(),
        required=False,
        help_text="`measure@k` to `at_least` and the runs `below`, where thresholds were named.",
    )
    facts = serializers.DictField(
        required=False,
        help_text="Where the release has facts: `conventions`, `counts`, `runs` to `fact_recall@k` and more, "
        "`vital` for vital facts alone, and `context`, what the first K give a reader.",
    )
    notes = texts("Runs whose ids do not meet the labels.")
    minimum_queries = serializers.IntegerField(required=False)
    warnings = texts("Sentences, where a minimum was named.")
