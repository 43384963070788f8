"""Queues, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.adaptive.serializers import LiveQueueSerializer
from labeling.gold.serializers import GoldOptionsSerializer
from labeling.models import Queue
from labeling.queues.costs import OwnPrices
from labeling.queues.options import LATER, LaterOptions, QueueOptions
from pooling.interface.option_fields import serializer_fields


@serializer_fields(QueueOptions)
class QueueRequestSerializer(LiveQueueSerializer, GoldOptionsSerializer):
    """How to open a queue; without a name it gets that of its pool."""

    name = serializers.CharField(max_length=200, required=False, allow_blank=True, allow_null=True)


class QueueSerializer(serializers.ModelSerializer[Queue]):
    """A queue as it was opened."""

    pool = serializers.CharField(source="pool.name")
    item_count = serializers.IntegerField()

    class Meta:
        model = Queue
        fields = [
            *(
                "id",
                "name",
                "public_name",
                "pool",
                "judgments_per_item",
                "most_judgments_per_item",
                "seed",
                "state",
            ),
            *("opened_at", "item_count", "is_adaptive", "highlight", *LATER),
            *("price_per_judgment", "currency", "overhead"),
        ]


@serializer_fields(QueueOptions, filled=False, but=["seed"], judgments_per_item={"allow_null": False})
@serializer_fields(LaterOptions, filled=False, nullable=False)
@serializer_fields(OwnPrices, filled=False)
class QueueChangeSerializer(serializers.Serializer[Any]):
    """What a queue is to have; what is left out stays. A null or empty price is the site's."""

    name = serializers.CharField(max_length=200, required=False)
    archived = serializers.BooleanField(required=False)
    state = serializers.ChoiceField(choices=Queue.State.choices, required=False)
    currency = serializers.CharField(max_length=12, required=False, allow_blank=True)
