"""A file of documents, as an HTTP call reads it."""

from __future__ import annotations

from rest_framework import serializers

from pooling.storage.serializers import UploadSerializer


class DocumentsUploadSerializer(UploadSerializer):
    """A corpus file; `only_pooled` leaves out what no pool contains."""

    only_pooled = serializers.BooleanField(default=False)
