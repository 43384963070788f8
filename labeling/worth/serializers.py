"""Serializers of the worth of pre-labels for the HTTP interface."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.models import Prelabeler
from labeling.prelabels.api import PrelabelerSerializer as PrelabelerSerializer  # the shape of a Prelabeler
from labeling.queues.sampling import LARGEST_SEED
from labeling.worth import facts
from labeling.worth.samples import METHODS, USUAL
from pooling.interface.shapes import shape

shape(facts.BestOfSeveral, "Best")
shape(facts.StratumOfSample, "Stratum")
shape(facts.ShareOfBin, "BinShare")
shape(facts.CalibrationBin, "Bin")


shape(facts.SampleRow, "Sample")


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


PrelabelerRowSerializer = shape(facts.WorthRow, "PrelabelerRow")


class WorthAndSamples(facts.Worth):
    """All that is known of a model and prompt."""

    prelabeler: Prelabeler
    samples: list[facts.SampleRow]


shape(facts.ConfusionCounts, "Confusion")
shape(facts.CalibrationFigures, "Calibration")
shape(facts.CostOfPair, "WorthCost")
WorthSerializer = shape(WorthAndSamples, "Worth")


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
