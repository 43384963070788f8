"""Releases and imported labels, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.consensus.rule_names import RULES_IN_WORDS
from labeling.models import QrelsRelease


class QrelsUploadSerializer(serializers.Serializer[Any]):
    """A qrels file."""

    file = serializers.FileField()


class QrelsImportSerializer(serializers.Serializer[Any]):
    """What an import of labels did."""

    created = serializers.IntegerField()
    changed = serializers.IntegerField(
        help_text="Pairs previously “pooled, not judged” that now have a label."
    )
    unchanged = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="Labels of queries that are not in the collection.")
    new_documents = serializers.IntegerField(help_text="Created without text.")
    notes = serializers.ListField(child=serializers.CharField(), help_text="Notes about the file.")
    detail = serializers.CharField()
    url = serializers.CharField()


class ReleaseRequestSerializer(serializers.Serializer[Any]):
    """How to freeze the labels."""

    name = serializers.CharField(max_length=200)
    rule = serializers.ChoiceField(choices=list(RULES_IN_WORDS), default="majority")


class ReleaseSerializer(serializers.ModelSerializer[QrelsRelease]):
    """A qrels release; `sidecar` has rule, counts and provenance."""

    class Meta:
        model = QrelsRelease
        fields = [
            "id",
            "name",
            "rule",
            "sha256",
            "pair_count",
            "relevant_count",
            "query_count",
            "released_at",
            "sidecar",
        ]
