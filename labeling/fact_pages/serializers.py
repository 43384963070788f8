"""Facts, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.fact_pages.forms import FILES
from labeling.facts.editing import LONGEST_FACT_ID, LONGEST_GROUP
from labeling.facts.importing import FactImport
from labeling.models import Fact
from pooling.formats.facts.records import LONGEST_FACT
from pooling.interface.shapes import shape

DECISIONS = [Fact.State.PROPOSED, Fact.State.CONFIRMED, Fact.State.REJECTED]


class FactSerializer(serializers.ModelSerializer[Fact]):
    """A fact. `id` is its number here; `fact_id` is unique among the facts of its query."""

    query = serializers.CharField(source="query.external_id")
    fact_id = serializers.CharField(source="external_id")
    merged_into = serializers.IntegerField(source="merged_into_id", allow_null=True)

    class Meta:
        model = Fact
        fields = [
            *("id", "query", "fact_id", "text", "importance", "group", "state", "version", "meaning"),
            *("merged_into", "origin", "edited", "created_at", "confirmed_at"),
        ]
        read_only_fields = fields


class FactRequestSerializer(serializers.Serializer[Any]):
    """A fact to write down; without an id it gets the next one of its query."""

    query = serializers.CharField(max_length=500)
    text = serializers.CharField(max_length=LONGEST_FACT)
    importance = serializers.ChoiceField(choices=Fact.Importance.choices, default=Fact.Importance.VITAL)
    group = serializers.CharField(max_length=LONGEST_GROUP, required=False, allow_blank=True, default="")
    fact_id = serializers.CharField(max_length=LONGEST_FACT_ID, required=False, allow_blank=True, default="")
    confirmed = serializers.BooleanField(required=False, default=True)


class FactChangeSerializer(serializers.Serializer[Any]):
    """What of a fact is to change. Another text asks for its supports again unless it means the same."""

    text = serializers.CharField(max_length=LONGEST_FACT, required=False)
    importance = serializers.ChoiceField(choices=Fact.Importance.choices, required=False)
    group = serializers.CharField(max_length=LONGEST_GROUP, required=False, allow_blank=True)
    same_meaning = serializers.BooleanField(required=False, default=False)
    state = serializers.ChoiceField(choices=DECISIONS, required=False)


class MergeSerializer(serializers.Serializer[Any]):
    """The fact that says the same: `fact_id` of another one of the query."""

    into = serializers.CharField(max_length=LONGEST_FACT_ID)


class FactsFileSerializer(serializers.Serializer[Any]):
    """A file of facts or supports."""

    file = serializers.FileField()
    of = serializers.ChoiceField(choices=list(FILES.items()), default="facts")
    proposed = serializers.BooleanField(
        required=False, default=False, help_text="They count once somebody confirms them."
    )


FactsImportedSerializer = shape(FactImport, "FactsImported", more=("detail", "url"))
