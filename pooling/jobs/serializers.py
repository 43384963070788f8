"""A job, as an HTTP call writes it."""

from __future__ import annotations

from rest_framework import serializers

from pooling.models import Job


class JobSerializer(serializers.ModelSerializer[Job]):
    """How far a job is."""

    class Meta:
        model = Job
        fields = ["state", "progress", "detail", "result"]
