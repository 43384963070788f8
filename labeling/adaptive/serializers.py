"""What the HTTP interface takes and gives around adaptive queues, as its schema shows it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.adaptive.options import AdaptiveOptions
from labeling.models import QueryPlan, Selection
from pooling.interface.option_fields import serializer_fields


@serializer_fields(AdaptiveOptions, filled=False, but=["prior"])
class LiveOptionsSerializer(serializers.Serializer[Any]):
    """Whether labels move the order of what is left, and what ends it; the rest is for such a queue alone."""

    adaptive = serializers.BooleanField(
        default=False,
        help_text="Labels move the order, by the strategy of the pool, which must be one that learns.",
    )


@serializer_fields(AdaptiveOptions, filled=False)
class LiveQueueSerializer(LiveOptionsSerializer):
    """The same for a queue, of whose pairs a model may have said something."""


class LookSerializer(serializers.Serializer[Any]):
    """A look at an audit: what it found in the documents that the order had not reached."""

    look = serializers.IntegerField(help_text="Which of the looks that were fixed in advance.")
    level = serializers.FloatField(help_text="Error probability of this look.")
    found = serializers.IntegerField(help_text="Relevant documents known by then.")
    remainder = serializers.IntegerField(help_text="Documents not reached.")
    sampled = serializers.IntegerField(help_text="Of these, judged because they were drawn.")
    relevant = serializers.IntegerField(help_text="Of these, relevant.")
    at_most_missing = serializers.IntegerField(allow_null=True, help_text="Null: nothing was drawn there.")
    missing_share = serializers.FloatField(
        allow_null=True, help_text="Largest share of the relevant documents that may be missing."
    )
    stops = serializers.BooleanField()


class SelectedQuerySerializer(serializers.Serializer[Any]):
    """How far a query of an adaptive queue is."""

    query_id = serializers.CharField()
    text = serializers.CharField()
    pool = serializers.IntegerField(help_text="Pooled documents.")
    budget = serializers.IntegerField(help_text="Documents that may be handed out.")
    judged = serializers.IntegerField(help_text="Documents settled.")
    relevant = serializers.IntegerField()
    left = serializers.IntegerField(help_text="Documents still to be settled.")
    finished_by = serializers.ChoiceField(choices=[("", "not finished"), *QueryPlan.Finish.choices])
    finished_at = serializers.DateTimeField(allow_null=True)
    drawn_anew = serializers.IntegerField(help_text="Drawn when it stopped, for what is estimated later.")
    looks = LookSerializer(many=True)
    next_look = serializers.IntegerField(
        allow_null=True, help_text="Number of documents after which it comes."
    )


class RuleSerializer(serializers.Serializer[Any]):
    """What moves the order of an adaptive queue, what ends it, and how far it is."""

    strategy = serializers.CharField()
    prior = serializers.CharField(
        allow_null=True, help_text="The model and prompt whose scores the strategy starts from."
    )
    prior_votes = serializers.IntegerField(help_text="Number of runs that they count as at the start.")
    budget = serializers.IntegerField(allow_null=True)
    budget_rule = serializers.ChoiceField(choices=Selection.Rule.choices)
    budget_floor = serializers.IntegerField(allow_null=True)
    stop_missing = serializers.FloatField(allow_null=True)
    stop_looks = serializers.IntegerField()
    stop_over = serializers.CharField()
    level = serializers.FloatField(allow_null=True, help_text="Error probability of each look.")
    looks = LookSerializer(many=True, help_text="Over all queries together.")
    finished = serializers.DictField(
        child=serializers.IntegerField(), help_text="Queries by what finished them; “” are not finished."
    )


class OrderSerializer(RuleSerializer):
    """The same, how much is used, and in words."""

    pool = serializers.IntegerField(help_text="Pooled pairs.")
    used = serializers.IntegerField(help_text="Of the budget: pairs settled, judged or held.")
    settled = serializers.IntegerField()
    sentences = serializers.ListField(child=serializers.CharField())


class SelectionSerializer(RuleSerializer):
    """The same with a row for each query."""

    finishing = serializers.IntegerField(
        help_text="Queries that a bound over all of them has stopped and that are still being finished."
    )
    queries = SelectedQuerySerializer(many=True)


class FinishSerializer(serializers.Serializer[Any]):
    """Queries to finish, by the collection's own ids; without any, all."""

    queries = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True)


class FinishedSerializer(serializers.Serializer[Any]):
    """How many queries were finished."""

    finished = serializers.IntegerField()
