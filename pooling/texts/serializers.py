"""Queries and documents, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from pooling.models import Document, Query
from pooling.storage.serializers import UploadSerializer


class DocumentsUploadSerializer(UploadSerializer):
    """A corpus file; `only_pooled` leaves out what no pool contains."""

    only_pooled = serializers.BooleanField(default=False)


class QueryTextSerializer(serializers.ModelSerializer[Query]):
    """A query; `metadata` is what its file said of it besides."""

    id = serializers.CharField(source="external_id")
    narrative = serializers.CharField(help_text="What counts as relevant.")
    tags = serializers.ListField(child=serializers.CharField())
    metadata: Any = serializers.DictField()

    class Meta:
        model = Query
        fields = ["id", "text", "narrative", "tags", "metadata"]


class ListedDocumentSerializer(serializers.Serializer[Document]):
    """A document in a list."""

    id = serializers.CharField(source="external_id")
    title = serializers.CharField()
    start = serializers.CharField(allow_null=True, help_text="Of the text, 300 characters; null: not known.")
    version = serializers.IntegerField(help_text="Counts up when title or text change.")


class DocumentTextSerializer(serializers.ModelSerializer[Document]):
    """A document with its text, which is null while it is not known."""

    id = serializers.CharField(source="external_id")
    text = serializers.CharField(allow_null=True)
    metadata: Any = serializers.DictField()

    class Meta:
        model = Document
        fields = ["id", "title", "text", "metadata", "version"]
