"""An uploaded file and what came of it, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class UploadSerializer(serializers.Serializer[Any]):
    """A file to import, and the name of a run: other files may come with one as well, and have none here."""

    file = serializers.FileField()
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
