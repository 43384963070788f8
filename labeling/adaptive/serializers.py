"""Serializers of adaptive queues for the HTTP interface."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.adaptive import facts
from labeling.adaptive.options import AdaptiveOptions
from pooling.interface.option_fields import serializer_fields
from pooling.interface.shapes import shape


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


shape(facts.QueryProgress, "SelectedQuery")
SelectionSerializer = shape(facts.OrderByQuery, "Selection")


class FinishSerializer(serializers.Serializer[Any]):
    """Queries to finish, by the collection's own ids; without any, all."""

    queries = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True)


class FinishedSerializer(serializers.Serializer[Any]):
    """How many queries were finished."""

    finished = serializers.IntegerField()
