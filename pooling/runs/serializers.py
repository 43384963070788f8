"""Runs, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from pooling.interface.shapes import shape
from pooling.models import Run
from pooling.runs.stored import RunImported
from pooling.storage.serializers import UploadSerializer


class RunUploadSerializer(UploadSerializer):
    """A run file and, unless the file's own is meant, the run's name."""

    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    collapse_chunks = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=20,
        help_text="Collapse chunks to documents: the document id is the part before the last separator.",
    )


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run as it was imported."""

    rows = serializers.IntegerField(source="row_count")
    queries = serializers.IntegerField(source="query_count")

    class Meta:
        model = Run
        fields = ["id", "name", "rows", "queries", "depth", "tag", "sha256", "imported_at"]


class RunDetailSerializer(RunSerializer):
    """A run with what its preflight found."""

    collection = serializers.CharField(source="collection.slug")
    file_name = serializers.CharField(source="source_name")
    imported_by = serializers.CharField(source="imported_by.username", default=None, allow_null=True)
    preflight = serializers.DictField()

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "collection", "file_name", "imported_by", "preflight"]


class RunRowSerializer(serializers.Serializer[Any]):
    """One row of a run; the rank is null where its file had none."""

    query = serializers.CharField(source="query_id")
    document = serializers.CharField(source="document_id")
    score = serializers.FloatField()
    rank = serializers.IntegerField(allow_null=True)


ImportedRunSerializer = shape(RunImported, "ImportedRun")
