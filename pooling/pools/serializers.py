from __future__ import annotations

from typing import Any, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from pooling.interface.option_fields import serializer_fields
from pooling.interface.shapes import shape
from pooling.merging.choice import USUAL_WORDS, Choice
from pooling.models import Pool, PoolEntry
from pooling.options import options_of
from pooling.pools.building import PoolBuilt
from pooling.pools.versions import Extension

# What is usual depends on the rest, so that nothing is filled in before.
USUAL = ("strategy", "audit_share", "reach")
STRATEGY = {"help_text": "A name from /api/strategies/."}


@serializer_fields(
    Choice,
    filled=False,
    but=options_of(Choice).keys() - USUAL,
    strategy={"help_text": f"A name from /api/strategies/. If absent: {USUAL_WORDS['strategy']}."},
    audit_share={
        "help_text": f"Share of the budget drawn at random. If absent: {USUAL_WORDS['audit_share']}."
    },
    reach={"help_text": f"How far down the audit draws. If absent: {USUAL_WORDS['reach']}. Null: the depth."},
)
@serializer_fields(Choice, but=USUAL)
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


class PoolDetailSerializer(PoolSerializer):
    """A pool with the runs it was merged of."""

    collection = serializers.CharField(source="collection.slug")
    runs: Any = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)
    built_by = serializers.CharField(source="built_by.username", default=None, allow_null=True)

    class Meta(PoolSerializer.Meta):
        fields = [*PoolSerializer.Meta.fields, "collection", "runs", "built_by"]


class Finder(TypedDict):
    """A run that has the document, and at which rank."""

    run: str
    rank: int


class PooledPairSerializer(serializers.Serializer[PoolEntry]):
    """A pair of a pool; without an inclusion probability it is not to be judged."""

    query = serializers.CharField(source="query.external_id")
    document = serializers.CharField(source="document.external_id")
    position = serializers.IntegerField()
    run_count = serializers.IntegerField()
    best_rank = serializers.IntegerField(allow_null=True)
    rrf = serializers.FloatField()
    in_audit = serializers.BooleanField()
    inclusion_probability = serializers.FloatField(allow_null=True)
    version = serializers.IntegerField(help_text="The pool's version that brought the pair.")
    found_by = serializers.SerializerMethodField()

    @extend_schema_field(shape(Finder)(many=True))
    def get_found_by(self, entry: PoolEntry) -> list[dict[str, object]]:
        names = self.context["runs"]
        return [{"run": names[index], "rank": rank} for index, rank in entry.found_by]


BuiltPoolSerializer = shape(PoolBuilt, "BuiltPool")


class StrategySerializer(serializers.Serializer[Any]):
    """A strategy that a pool can be built with or a replay compare."""

    name = serializers.CharField()
    group = serializers.CharField(help_text="Fixed orders, Orders that learn, or Samples.")
    summary = serializers.CharField()
    learns = serializers.BooleanField(
        source="make.learns",
        help_text="Whether labels change its order; a pool uses its order before any labels.",
    )
    audit_share = serializers.FloatField(help_text="Default share of a budget drawn at random.")
