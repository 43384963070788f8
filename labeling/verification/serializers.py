"""What the HTTP interface gives of the worth of pre-labels, as its schema shows it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.prelabels.api import PrelabelerSerializer
from labeling.queues.drawn import LARGEST_SEED
from labeling.verification.samples import METHODS, USUAL

MOST_QUERIES = 200
SAVED = "Share of an audit's labels, for an interval of equal width."
BEST = "Null unless this is the best of several models."
UNPRICED = "Null if some answers had no price."


def _share(**options: Any) -> serializers.FloatField:
    return serializers.FloatField(allow_null=True, **options)


class IntervalSerializer(serializers.Serializer[Any]):
    """A figure with its 95 % interval; null where `why` says so, or where there is nothing to divide by."""

    value = _share()
    low = _share()
    high = _share()
    why = serializers.CharField(allow_blank=True)


class NamedFigureSerializer(IntervalSerializer):
    """A figure that says what it is."""

    name = serializers.CharField()
    title = serializers.CharField()
    meaning = serializers.CharField()


class ConfusionSerializer(serializers.Serializer[Any]):
    """Pairs by what people and the model call relevant."""

    both = serializers.IntegerField()
    model_only = serializers.IntegerField()
    person_only = serializers.IntegerField()
    neither = serializers.IntegerField()


class BinShareSerializer(serializers.Serializer[Any]):
    """The share of a bin's pairs that people found relevant; no interval below eight queries."""

    value = _share()
    low = _share()
    high = _share()
    count = serializers.IntegerField()
    labels = serializers.IntegerField()


class BinSerializer(serializers.Serializer[Any]):
    """Pairs whose score lies in [low, high)."""

    low = serializers.FloatField()
    high = serializers.FloatField()
    score = serializers.FloatField(help_text="Mean.")
    relevant = BinShareSerializer()


class CalibrationSerializer(serializers.Serializer[Any]):
    """Whether scores are chances: expected calibration error and Brier score."""

    bins = BinSerializer(many=True)
    error = _share()
    brier = _share()


class WorthCostSerializer(serializers.Serializer[Any]):
    """What a pre-label costs; null where nothing is known or priced."""

    per_pair = _share()
    currency = serializers.CharField(allow_blank=True)


class BestSerializer(serializers.Serializer[Any]):
    """The best of several models; `saved` allows for the choice: its interval holds for whichever is best."""

    compared = serializers.IntegerField(help_text="Models with a verdict on these labels.")
    saved = IntervalSerializer()
    sentence = serializers.CharField()


class TagWorthSerializer(serializers.Serializer[Any]):
    """The same for the queries of a tag."""

    tag = serializers.CharField()
    labels = serializers.IntegerField()
    agreement = IntervalSerializer()
    kappa = IntervalSerializer()
    missed = IntervalSerializer()


class QueryWorthSerializer(serializers.Serializer[Any]):
    """Labels of a query, and where the model differs."""

    query_id = serializers.CharField()
    labels = serializers.IntegerField()
    relevant = serializers.IntegerField()
    missed = serializers.IntegerField()
    wrongly_relevant = serializers.IntegerField()


class StratumSerializer(serializers.Serializer[Any]):
    """What a sample of a model's negatives, or positives, says; `most` is the failure rate not ruled out."""

    population = serializers.IntegerField()
    drawn = serializers.IntegerField()
    labelled = serializers.IntegerField()
    failed = serializers.IntegerField()
    most = _share()
    low = _share()
    high = _share()
    sentence = serializers.CharField()


class SampleSerializer(serializers.Serializer[Any]):
    """A verification sample and its queue."""

    queue = serializers.IntegerField(source="queue.pk", allow_null=True, default=None)
    name = serializers.CharField()
    opened_at = serializers.DateTimeField()
    negatives = StratumSerializer()
    positives = StratumSerializer()


class SampleRequestSerializer(serializers.Serializer[Any]):
    """How large the samples are: `zero_failures` or `half_width` for a bound, or null for none."""

    negatives_method = serializers.ChoiceField(
        choices=METHODS, default=USUAL["negatives"].method, allow_null=True
    )
    negatives_bound = serializers.FloatField(default=USUAL["negatives"].bound, help_text="A share.")
    positives_method = serializers.ChoiceField(
        choices=METHODS, default=USUAL["positives"].method, allow_null=True
    )
    positives_bound = serializers.FloatField(default=USUAL["positives"].bound, help_text="A share.")
    seed = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=LARGEST_SEED
    )
    judgments_per_item = serializers.IntegerField(default=1, min_value=1, max_value=20)


class PrelabelerRowSerializer(serializers.Serializer[Any]):
    """A model and prompt, and in a sentence whether it pays; null below 50 blind labels of eight queries, and
    `why`.
    """

    prelabeler = PrelabelerSerializer()
    pairs = serializers.IntegerField()
    labels = serializers.IntegerField(help_text="Given blind.")
    verdict = serializers.CharField(allow_null=True)
    why = serializers.CharField(allow_blank=True)
    missed = IntervalSerializer()
    saved = IntervalSerializer(help_text=SAVED)
    best = BestSerializer(allow_null=True, help_text=BEST)
    spent = serializers.FloatField(allow_null=True, help_text=UNPRICED)


class WorthSerializer(serializers.Serializer[Any]):
    """All that is known of a model and prompt."""

    prelabeler = PrelabelerSerializer()
    pairs = serializers.IntegerField()
    relevant = serializers.IntegerField(help_text="Called relevant.")
    spent = serializers.FloatField(allow_null=True, help_text=UNPRICED)
    labels = serializers.IntegerField(help_text="Given blind.")
    queries = serializers.IntegerField(
        help_text="Number of queries; with fewer than eight no figure is given."
    )
    weighed = serializers.BooleanField(
        help_text="Whether negatives and positives are weighted by their number."
    )
    audited = serializers.IntegerField(
        help_text="Labels drawn by an audit, each weighted by its inclusion probability."
    )
    verdict = serializers.CharField(allow_null=True)
    why = serializers.CharField(allow_blank=True)
    best = BestSerializer(allow_null=True, help_text=BEST)
    saved = IntervalSerializer(help_text=SAVED)
    shares = NamedFigureSerializer(many=True)
    numbers = NamedFigureSerializer(many=True)
    confusion = ConfusionSerializer()
    calibration = CalibrationSerializer()
    cost = WorthCostSerializer()
    by_tag = TagWorthSerializer(many=True)
    by_query = QueryWorthSerializer(many=True, help_text=f"Worst first, at most {MOST_QUERIES}.")
    samples = SampleSerializer(many=True)


class OpenedSampleSerializer(serializers.Serializer[Any]):
    """The queue of a new sample."""

    queue = serializers.IntegerField()
    name = serializers.CharField()


class ScoreOrderRequestSerializer(serializers.Serializer[Any]):
    """By whose scores; null: an adaptive queue's order without scores again."""

    prelabeler = serializers.IntegerField(min_value=1, max_value=2**62, allow_null=True)


class ScoreOrderSerializer(serializers.Serializer[Any]):
    """How many pairs not yet handed out are ordered again."""

    moved = serializers.IntegerField()
