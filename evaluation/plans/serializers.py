"""What the HTTP interface of plans takes and gives, as its schema shows it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from evaluation.plans.settings import OF_ADAPTIVE, PlanSettings
from pooling.interface.option_fields import serializer_fields
from pooling.runs.depths import given_depths

Object = dict[str, object]


MAY_BE_NULL: Any = {name: {"allow_null": True} for name in OF_ADAPTIVE}


@serializer_fields(
    PlanSettings,
    nullable=False,
    depths={"help_text": "Runs with their own depth; in an address `depths.NAME=N`."},
    strategy={"help_text": "A name from /api/strategies/."},
    **MAY_BE_NULL,
)
class PlanRequestSerializer(serializers.Serializer[Any]):
    """The settings of a plan; everything has a default. Ranges are those of pools and queues."""

    runs = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names, repeated; all if absent."
    )

    def to_internal_value(self, data: Any) -> Any:
        """An empty parameter of the address is one that is absent; `runs` may be repeated."""
        if hasattr(data, "getlist"):
            given = {name: value for name, value in data.items() if value != "" and name != "runs"}
            if runs := [run for run in data.getlist("runs") if run]:
                given["runs"] = runs
            given["depths"] = given_depths(data)
            data = given
        return super().to_internal_value(data)


class CampaignRequestSerializer(PlanRequestSerializer):
    """The settings of a plan, and what pool and queue are called."""

    name = serializers.CharField(max_length=200)


class CampaignSerializer(serializers.Serializer[Object]):
    """A pool just built with the queue just opened over it."""

    pool = serializers.IntegerField()
    queue = serializers.IntegerField()
    name = serializers.CharField()
    pairs = serializers.IntegerField()
    chosen = serializers.IntegerField()
    detail = serializers.CharField()
    url = serializers.CharField()


class PlannedPoolSerializer(serializers.Serializer[Object]):
    """`chosen`: by budget and audit; `to_judge`: of these without a label."""

    pairs = serializers.IntegerField()
    chosen = serializers.IntegerField()
    audit = serializers.IntegerField()
    labelled = serializers.IntegerField()
    to_judge = serializers.IntegerField()
    queries = serializers.IntegerField()
    size_by_depth = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="From depth 1 on; runs with their own depth always use it.",
    )


class PlannedRunSerializer(serializers.Serializer[Object]):
    """`alone`: pairs that no other chosen run finds."""

    run = serializers.CharField()
    pairs = serializers.IntegerField()
    alone = serializers.IntegerField()
    relevant_alone = serializers.IntegerField(allow_null=True, help_text="Null while nothing has a label.")


class TeamWorkSerializer(serializers.Serializer[Object]):
    """The work by this many annotators; null where a pair needs more people, or no price is set."""

    annotators = serializers.IntegerField()
    judgments = serializers.FloatField(
        allow_null=True, help_text="All that are paid: gold, practice, repeats."
    )
    gold = serializers.FloatField(allow_null=True)
    cost = serializers.FloatField(allow_null=True)
    hours_each = serializers.FloatField(allow_null=True)
    days = serializers.FloatField(allow_null=True)
    end_date = serializers.DateField(allow_null=True)


class WorkSerializer(serializers.Serializer[Object]):
    """Judgments that bring labels, and what they take by number of annotators."""

    judgments_needed = serializers.FloatField()
    for_ties = serializers.FloatField()
    gold_there = serializers.IntegerField(help_text="Gold questions of the collection.")
    currency = serializers.CharField()
    by_annotators = TeamWorkSerializer(many=True)


class RunIntervalSerializer(serializers.Serializer[Object]):
    """The expected interval of a run's micro recall; only a range of widths if it is not known how much is
    relevant.
    """

    run = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    width = serializers.FloatField(allow_null=True)
    width_low = serializers.FloatField(allow_null=True)
    width_high = serializers.FloatField(allow_null=True)


class ExpectedIntervalSerializer(serializers.Serializer[Object]):
    """How wide the interval of micro recall will be; null, and a sentence why, where there will be none."""

    k = serializers.IntegerField()
    confidence = serializers.FloatField()
    mean_width = serializers.FloatField(
        allow_null=True, help_text="Null if it is not known how much of the pool is relevant."
    )
    width_low = serializers.FloatField(
        allow_null=True, help_text="Over 5 to 40 % relevant, or what the labels leave open."
    )
    width_high = serializers.FloatField(allow_null=True)
    by_run = RunIntervalSerializer(many=True)
    method = serializers.CharField(allow_null=True)
    relevant = serializers.FloatField(allow_null=True, help_text="Relevant pairs of the pool, as assumed.")
    relevant_drawn = serializers.FloatField(
        allow_null=True, help_text="Of these, in the audit outside the greedy part."
    )
    sentence = serializers.CharField()


class PilotSerializer(serializers.Serializer[Object]):
    """A few drawn pairs that would tell how much of the pool is relevant, judged once each."""

    pairs = serializers.IntegerField()
    minutes = serializers.FloatField(help_text="Of one annotator.")
    cost = serializers.FloatField(allow_null=True)
    currency = serializers.CharField()
    settings = serializers.DictField(help_text="Settings of the pilot's plan that differ from this one.")
    sentence = serializers.CharField()


class PowerSerializer(serializers.Serializer[Object]):
    """Queries that find a difference; two numbers, least and most, while the spread is not known."""

    difference = serializers.FloatField()
    power = serializers.FloatField()
    k = serializers.IntegerField()
    deviation = serializers.FloatField(allow_null=True)
    labelled_queries = serializers.IntegerField()
    queries_needed = serializers.ListField(child=serializers.IntegerField())
    queries = serializers.IntegerField()
    sentence = serializers.CharField()


class PlannedLookSerializer(serializers.Serializer[Object]):
    """What the last look at an audit can rule out at best: when nothing that was drawn is relevant."""

    remainder = serializers.IntegerField(help_text="Documents that the order has not reached by then.")
    sampled = serializers.IntegerField(help_text="Of these, drawn and judged.")
    at_most_missing = serializers.IntegerField(allow_null=True, help_text="Null: nothing would be drawn.")
    found = serializers.FloatField(help_text="Relevant documents known by then, as assumed.")
    missing_share = serializers.FloatField(allow_null=True)
    relevant_share = serializers.FloatField(help_text="Of the pool, as assumed; 0.4 if not known.")
    may_stop = serializers.BooleanField()


class PlannedOrderSerializer(serializers.Serializer[Object]):
    """What is known of an adaptive order before there are labels."""

    least = serializers.IntegerField(help_text="Pairs of the query that gets fewest.")
    most = serializers.IntegerField()
    open = serializers.IntegerField(help_text="Pairs that go where relevant documents turn up.")
    best_look = PlannedLookSerializer(allow_null=True)
    sentences = serializers.ListField(child=serializers.CharField())


class SuppositionSerializer(serializers.Serializer[Object]):
    """An assumption; `basis` is given, measured, labels or assumed."""

    name = serializers.CharField()
    value = serializers.FloatField(allow_null=True, help_text="Null: not known.")
    basis = serializers.CharField()
    sentence = serializers.CharField()


class PlanSerializer(serializers.Serializer[Object]):
    """What a campaign will be, cost and show."""

    settings = serializers.DictField(help_text="Every setting with the value it has.")
    supposed = SuppositionSerializer(many=True)
    pool = PlannedPoolSerializer()
    runs = PlannedRunSerializer(many=True)
    overlap = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()),
        help_text="`[i][j]`: share of run i's top that run j has too.",
    )
    sizes = serializers.DictField(help_text="Pairs per query: least, median, mean, most, bins.")
    thin = serializers.DictField(help_text="Queries with fewer than `below` pairs; `without`: with none.")
    order = PlannedOrderSerializer(allow_null=True, help_text="Null: the order is fixed.")
    work = WorkSerializer()
    recall_interval = ExpectedIntervalSerializer()
    pilot = PilotSerializer(allow_null=True, help_text="Null where the width is known, or nothing is drawn.")
    power = PowerSerializer()
