"""Pools, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from pooling.models import Pool


class PoolRequestSerializer(serializers.Serializer[Any]):
    """How to build a pool; `runs` are names."""

    name = serializers.CharField(max_length=200)
    runs = serializers.ListField(child=serializers.CharField(), allow_empty=False)
    depth = serializers.IntegerField(min_value=1)
    strategy = serializers.CharField(default="rrf", help_text="A name from /api/strategies/.")
    budget = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    audit_share = serializers.FloatField(min_value=0, max_value=1, default=0.0)
    seed = serializers.IntegerField(default=0)
    ties = serializers.ChoiceField(choices=["docid", "docid-asc", "file", "rank"], default="docid")
    scores = serializers.ChoiceField(choices=["float64", "float32"], default="float64")
    depths = serializers.DictField(
        child=serializers.IntegerField(min_value=1), default=dict, help_text="Runs with a depth of their own."
    )


class ExtensionSerializer(serializers.Serializer[Any]):
    """What the next version of a pool has more; what is left out is as in the pool."""

    name = serializers.CharField(max_length=200, required=False, allow_null=True, default=None)
    runs = serializers.ListField(child=serializers.CharField(), default=list, help_text="New ones, by name.")
    depth = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    strategy = serializers.CharField(required=False, allow_null=True, default=None)
    budget = serializers.IntegerField(
        min_value=1, required=False, allow_null=True, default=None, help_text="New pairs. Null: all of them."
    )
    audit_share = serializers.FloatField(
        min_value=0, max_value=1, required=False, allow_null=True, default=None
    )
    seed = serializers.IntegerField(required=False, allow_null=True, default=None)
    depths = serializers.DictField(
        child=serializers.IntegerField(min_value=1), default=dict, help_text="Runs with a depth of their own."
    )


class PoolSerializer(serializers.ModelSerializer[Pool]):
    """A pool and how it was chosen."""

    pairs = serializers.IntegerField(source="pair_count")
    chosen = serializers.IntegerField(source="chosen_count")
    queries = serializers.IntegerField(source="query_count")

    class Meta:
        model = Pool
        fields = [
            "id",
            "name",
            "pairs",
            "chosen",
            "queries",
            "depth",
            "depths",
            "strategy",
            "budget",
            "audit_share",
            "seed",
        ]
        fields += ["ties", "scores", "version", "extends", "provenance", "built_at"]


class BuiltPoolSerializer(serializers.Serializer[Any]):
    """A pool just built."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    pairs = serializers.IntegerField()
    chosen = serializers.IntegerField()
    queries = serializers.IntegerField()
    left_out_queries = serializers.DictField(child=serializers.IntegerField())
    version = serializers.IntegerField()
    new = serializers.DictField(
        allow_null=True, help_text="Of a later version: pairs, chosen, audit and queries that are new."
    )
    detail = serializers.CharField()
    url = serializers.CharField()
