"""Queues, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.adaptive.serializers import LiveQueueSerializer
from labeling.gold.serializers import GoldOptionsSerializer
from labeling.judging.serializers import LARGEST_KEY
from labeling.models import Queue
from labeling.queues.costs import HIGHEST_OVERHEAD, HIGHEST_PRICE
from labeling.queues.opening import MOST_JUDGMENTS_PER_ITEM

ON_A_TIE = "One more while as many say relevant as not, up to so many; null: a tie asks for no more."


class QueueRequestSerializer(LiveQueueSerializer, GoldOptionsSerializer):
    """How to open a queue; without a name it is called as its pool."""

    name = serializers.CharField(max_length=200, required=False, allow_blank=True, allow_null=True)
    judgments_per_item = serializers.IntegerField(min_value=1, max_value=MOST_JUDGMENTS_PER_ITEM, default=1)
    most_judgments_per_item = serializers.IntegerField(
        min_value=2, max_value=MOST_JUDGMENTS_PER_ITEM, required=False, allow_null=True, help_text=ON_A_TIE
    )
    seed = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=-LARGEST_KEY, max_value=LARGEST_KEY
    )


class QueueSerializer(serializers.ModelSerializer[Queue]):
    """A queue as it was opened."""

    pool = serializers.CharField(source="pool.name")
    item_count = serializers.IntegerField()

    class Meta:
        model = Queue
        fields = [
            *("id", "name", "pool", "judgments_per_item", "most_judgments_per_item", "seed", "state"),
            *("opened_at", "item_count", "is_adaptive"),
            *("price_per_judgment", "currency", "overhead"),
        ]


class QueueChangeSerializer(serializers.Serializer[Any]):
    """What a queue is to have; what is left out stays. A null or empty price is the site's."""

    state = serializers.ChoiceField(choices=Queue.State.choices, required=False)
    judgments_per_item = serializers.IntegerField(
        min_value=1, max_value=MOST_JUDGMENTS_PER_ITEM, required=False
    )
    most_judgments_per_item = serializers.IntegerField(
        min_value=2, max_value=MOST_JUDGMENTS_PER_ITEM, required=False, allow_null=True, help_text=ON_A_TIE
    )
    price_per_judgment = serializers.FloatField(
        min_value=0, max_value=HIGHEST_PRICE, required=False, allow_null=True
    )
    currency = serializers.CharField(max_length=12, required=False, allow_blank=True)
    overhead = serializers.FloatField(
        min_value=0,
        max_value=HIGHEST_OVERHEAD,
        required=False,
        allow_null=True,
        help_text="A share that is added to the price.",
    )
