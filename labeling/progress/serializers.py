"""How far a queue has come, as the HTTP interface tells it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.adaptive.serializers import OrderSerializer
from labeling.models import Queue


class ItemCountsSerializer(serializers.Serializer[Any]):
    """Items by state."""

    total = serializers.IntegerField()
    open = serializers.IntegerField()
    done = serializers.IntegerField()
    adjudication = serializers.IntegerField(allow_null=True)


class JudgmentCountsSerializer(serializers.Serializer[Any]):
    """Judgments that the items need and have, and how many more ties are expected to ask for."""

    needed = serializers.IntegerField()
    done = serializers.IntegerField()
    left = serializers.IntegerField()
    expected_for_ties = serializers.FloatField(allow_null=True, help_text="Where a tie asks for one more.")


class OpenItemsSerializer(serializers.Serializer[Any]):
    """The open items: free, held by somebody, or judged and waiting for another opinion."""

    free = serializers.IntegerField()
    leased = serializers.IntegerField()
    second_opinion = serializers.IntegerField(allow_null=True)


class HolderSerializer(serializers.Serializer[Any]):
    """What one annotator holds."""

    username = serializers.CharField()
    items = serializers.IntegerField()
    oldest_seconds = serializers.FloatField()


class HeldSerializer(serializers.Serializer[Any]):
    """Items that are held now, and since when the longest; annotators are not told by whom."""

    held = serializers.IntegerField()
    oldest_seconds = serializers.FloatField(allow_null=True)
    by = HolderSerializer(many=True)


class PaceSerializer(serializers.Serializer[Any]):
    """Verdicts a day, over the last seven days, without gold questions; and active time on a pair. To an
    annotator, of all their own answers."""

    per_day = serializers.FloatField()
    annotators = serializers.IntegerField(help_text="Who gave them.")
    per_annotator = serializers.FloatField(help_text="A day.")
    median_seconds = serializers.FloatField(allow_null=True)
    p90_seconds = serializers.FloatField(allow_null=True)


class EndDateSerializer(serializers.Serializer[Any]):
    """When a queue ends if this many people work at the pace of now."""

    annotators = serializers.IntegerField()
    end_date = serializers.DateField(allow_null=True)


class CostSerializer(serializers.Serializer[Any]):
    """Working time, as the judging page measured it, and money; annotators see no money."""

    active_seconds = serializers.FloatField()
    seconds_per_judgment = serializers.FloatField(allow_null=True)
    seconds_left = serializers.FloatField(allow_null=True)
    price_per_judgment = serializers.FloatField(allow_null=True)
    currency = serializers.CharField()
    overhead = serializers.FloatField(allow_null=True)
    paid_judgments = serializers.IntegerField(
        help_text="All that stand, gold, practice and repeats included."
    )
    paid_gold = serializers.IntegerField(allow_null=True)
    paid_repeats = serializers.IntegerField(
        allow_null=True, help_text="Of pairs that somebody had judged before."
    )
    judgments_to_pay = serializers.IntegerField(
        allow_null=True, help_text="Still to come, gold and repeats included."
    )
    spent = serializers.FloatField(allow_null=True, help_text="Null without a price.")
    to_finish = serializers.FloatField(allow_null=True)


class AnnotatorSerializer(serializers.Serializer[Any]):
    """What one annotator did in a queue."""

    username = serializers.CharField()
    judged = serializers.IntegerField()
    relevant = serializers.IntegerField()
    not_relevant = serializers.IntegerField()
    cannot_judge = serializers.IntegerField()
    skipped = serializers.IntegerField()
    active_seconds = serializers.FloatField()
    last_at = serializers.DateTimeField()


class OwnProgressSerializer(serializers.Serializer[Any]):
    """Your own numbers."""

    done = serializers.IntegerField()
    done_today = serializers.IntegerField()
    relevant = serializers.IntegerField()
    not_relevant = serializers.IntegerField()
    cannot_judge = serializers.IntegerField()
    skipped = serializers.IntegerField()
    active_seconds = serializers.FloatField()
    left = serializers.IntegerField(
        help_text="Open items that you had not judged when it was last counted, less what you judged since."
    )
    left_in_query = serializers.IntegerField(
        allow_null=True, help_text="Those of the query that you hold items of."
    )


class ProgressSerializer(serializers.Serializer[Any]):
    """How far a queue has come. To an annotator all of it is of their own work: items and judgments are what
    they answered and what is left for them, and what they may not know is null."""

    queue = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.CharField()
    items = ItemCountsSerializer()
    judgments = JudgmentCountsSerializer()
    judged = serializers.FloatField(
        help_text="Share of the needed judgments, those expected for ties among them, that are there."
    )
    pace = PaceSerializer()
    cost = CostSerializer()
    end_date = serializers.DateField(allow_null=True)
    order = OrderSerializer(allow_null=True, help_text="Null: a fixed order, or you are an annotator.")
    by_annotators = EndDateSerializer(many=True)
    open_items = OpenItemsSerializer()
    leases = HeldSerializer()
    annotators = AnnotatorSerializer(many=True)
    own = OwnProgressSerializer()


class ListedQueueSerializer(serializers.Serializer[Any]):
    """A queue in a list; what annotators may not know is null for them."""

    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=Queue.State.choices)
    own = serializers.IntegerField(help_text="What you judged in it.")
    pool = serializers.SerializerMethodField()
    judgments_per_item = serializers.SerializerMethodField()
    pairs = serializers.SerializerMethodField()
    settled = serializers.SerializerMethodField()

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
