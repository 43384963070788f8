"""An uploaded file and what came of it, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class UploadSerializer(serializers.Serializer[Any]):
    """A file to import."""

    file = serializers.FileField()
