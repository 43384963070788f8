"""Serializers of a queue's progress for the HTTP interface."""

from __future__ import annotations

from rest_framework import serializers

from labeling.adaptive.facts import OrderSummary
from labeling.judging import progress_figures
from labeling.models import Queue
from pooling.interface.shapes import shape

shape(OrderSummary, "Order")
shape(progress_figures.Items, "ItemCounts")
shape(progress_figures.Leases, "Held")
shape(progress_figures.TeamEnd, "EndDate")
shape(progress_figures.AnnotatorProgress, "Annotator")
shape(progress_figures.OwnFigures, "OwnProgress")
ProgressSerializer = shape(progress_figures.QueueProgress, "Progress")


class ListedQueueSerializer(serializers.Serializer[Queue]):
    """A queue in a list; what annotators may not know is null for them."""

    id = serializers.IntegerField(source="pk")
    name = serializers.SerializerMethodField()
    state = serializers.ChoiceField(choices=Queue.State.choices)
    own = serializers.IntegerField(help_text="What you judged in it.")
    pool = serializers.SerializerMethodField()
    judgments_per_item = serializers.SerializerMethodField()
    pairs = serializers.SerializerMethodField()
    settled = serializers.SerializerMethodField()

    def get_name(self, queue: Queue) -> str:
        """Its name, to annotators the one that is for them."""
        return queue.public_name if self.context["blind"] else queue.name

    def get_pool(self, queue: Queue) -> int | None:
        """Number of its pool."""
        return None if self.context["blind"] else queue.pool_id

    def get_judgments_per_item(self, queue: Queue) -> int | None:
        """Judgments that a pair needs."""
        return None if self.context["blind"] else queue.judgments_per_item

    def get_pairs(self, queue: Queue) -> int | None:
        """Pairs in all."""
        return None if self.context["blind"] else queue.total  # type: ignore[attr-defined]

    def get_settled(self, queue: Queue) -> int | None:
        """Pairs that need no more."""
        return None if self.context["blind"] else queue.settled  # type: ignore[attr-defined]
