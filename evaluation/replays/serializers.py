"""Replays, as HTTP calls read and write them."""

from __future__ import annotations

from rest_framework import serializers


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


class ReplaySerializer(serializers.Serializer[dict[str, object]]):
    """A replay in a list, or just made; its numbers are at /api/replays/{id}/."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    url = serializers.CharField(help_text="The replay's page.")


class ReplayJobSerializer(serializers.Serializer[dict[str, object]]):
    """The job that does a long replay; poll /api/jobs/{job}/."""

    job = serializers.IntegerField()


class ReplayResultSerializer(serializers.Serializer[dict[str, object]]):
    """The object that `simulate --format json` prints."""

    strategies = serializers.DictField(
        child=serializers.DictField(),
        help_text="Name to `found`, `spread`, `effort`, `tau` and errors of recall, each by share.",
    )
    all_knowing = serializers.DictField(help_text="`found` and `effort` of an order that knows the labels.")
    curves = serializers.DictField(
        help_text="`share`: points of the pool; `found`: by strategy what was found there; `all_knowing`."
    )
    pool = serializers.DictField(help_text="Runs, depth, pairs, labelled pairs, queries, relevant pairs.")
    settings = serializers.DictField(help_text="Seeds, noise, batch and K.")
