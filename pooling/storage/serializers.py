"""An uploaded file and what came of it, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class UploadSerializer(serializers.Serializer[Any]):
    """A file to import."""

    file = serializers.FileField()


class ImportSummarySerializer(serializers.Serializer[Any]):
    """What an import of queries or documents did."""

    created = serializers.IntegerField()
    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="Documents that are in no pool.")
    import_id = serializers.IntegerField(allow_null=True, help_text="Delete it to take back the import.")
    detail = serializers.CharField()
    url = serializers.CharField()
