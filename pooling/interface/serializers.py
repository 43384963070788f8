from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers

from pooling.interface.problems import Problem
from pooling.interface.shapes import shape

#: What a call answers that gives a file, whatever is in it.
FILE = {(200, "application/octet-stream"): OpenApiTypes.BINARY}


def texts(help_text: str) -> serializers.ListField:
    """A list of texts that may be absent."""
    return serializers.ListField(child=serializers.CharField(), required=False, help_text=help_text)


def optional_text(help_text: str | None = None, **more: Any) -> serializers.CharField:
    """A text that may be absent or empty; more: as `CharField` takes it."""
    return serializers.CharField(required=False, default="", allow_blank=True, help_text=help_text, **more)


class JobStartedSerializer(serializers.Serializer[Any]):
    """Work that went to the background: read /api/jobs/{job}/ until it is done."""

    job = serializers.IntegerField()


ProblemSerializer = shape(Problem)


class DetailSerializer(serializers.Serializer[Any]):
    """A sentence."""

    detail = serializers.CharField()
