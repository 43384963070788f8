"""Replays, as HTTP calls read and write them."""

from __future__ import annotations

from rest_framework import serializers

from evaluation.replays.simulation import SimulationResult
from evaluation.report_store.links import Link
from pooling.interface.shapes import shape


class ReplayRequestSerializer(serializers.Serializer[dict[str, object]]):
    """A replay to make; everything has a default."""

    name = serializers.CharField(required=False, max_length=200)
    release = serializers.CharField(
        required=False, help_text="Name of a qrels release; the labels as they stand if absent."
    )
    runs = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names of runs; all if absent."
    )
    depth = serializers.IntegerField(
        required=False, min_value=1, help_text="Of the pool; 50, or that of the deepest run, if absent."
    )
    strategies = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names of strategies; all if absent."
    )
    budgets = serializers.ListField(
        child=serializers.FloatField(),
        required=False,
        help_text="Shares of each query's pool; 0.1 0.25 0.5 if absent.",
    )
    seeds = serializers.IntegerField(default=1, help_text="Repetitions of what depends on chance, 1 to 20.")
    noise = serializers.FloatField(default=0.0, help_text="Share of wrong labels, below 0.5.")
    batch = serializers.IntegerField(default=1, help_text="Labels revealed at a time.")
    k = serializers.IntegerField(
        required=False, min_value=1, help_text="Cutoff of the recalls; the depth if absent."
    )


class ReplayLink(Link):
    """A replay in a list, or just made; its numbers are at /api/replays/{id}/."""


ReplaySerializer = shape(ReplayLink, "Replay")
ReplayResultSerializer = shape(SimulationResult, "ReplayResult")
