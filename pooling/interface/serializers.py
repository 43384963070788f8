"""What every call over HTTP may answer with: a problem, or the job that does the work."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers

#: What a call answers that gives a file, whatever is in it.
FILE = {(200, "application/octet-stream"): OpenApiTypes.BINARY}


class JobStartedSerializer(serializers.Serializer[Any]):
    """Work that went to the background: read /api/jobs/{job}/ until it is done."""

    job = serializers.IntegerField()


class ProblemSerializer(serializers.Serializer[Any]):
    """Every refusal has this shape."""

    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="One readable sentence.")
    fields = serializers.DictField(child=serializers.CharField())  # type: ignore[assignment]


class DetailSerializer(serializers.Serializer[Any]):
    """A sentence."""

    detail = serializers.CharField()
