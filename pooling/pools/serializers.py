"""Pools, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from pooling.interface.option_fields import serializer_fields
from pooling.merging.choice import Choice
from pooling.models import Pool
from pooling.options.option import options_of
from pooling.pools.versions import Extension

STRATEGY = {"help_text": "A name from /api/strategies/."}


@serializer_fields(Choice, strategy=STRATEGY)
class PoolRequestSerializer(serializers.Serializer[Any]):
    """How to build a pool; `runs` are names."""

    name = serializers.CharField(max_length=200)
    runs = serializers.ListField(child=serializers.CharField(), allow_empty=False)


@serializer_fields(Extension, strategy=STRATEGY)
class ExtensionSerializer(serializers.Serializer[Any]):
    """What the next version of a pool has more; what is left out is as in the pool."""

    name = serializers.CharField(max_length=200, required=False, allow_null=True, default=None)
    runs = serializers.ListField(child=serializers.CharField(), default=list, help_text="New ones, by name.")


class PoolSerializer(serializers.ModelSerializer[Pool]):
    """A pool and how it was chosen."""

    pairs = serializers.IntegerField(source="pair_count")
    chosen = serializers.IntegerField(source="chosen_count")
    queries = serializers.IntegerField(source="query_count")

    class Meta:
        model = Pool
        fields = ["id", "name", "pairs", "chosen", "queries", *options_of(Choice)]
        fields += ["version", "extends", "provenance", "built_at"]


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
