"""A job, as an HTTP call writes it."""

from __future__ import annotations

from rest_framework import serializers

from pooling.models import Job


class JobSerializer(serializers.ModelSerializer[Job]):
    """How far a job is."""

    class Meta:
        model = Job
        fields = ["state", "progress", "detail", "result"]


class ListedJobSerializer(serializers.ModelSerializer[Job]):
    """A job in a list."""

    collection = serializers.CharField(source="collection.slug")
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)

    class Meta:
        model = Job
        fields = [
            *("id", "kind", "collection", "state", "progress", "detail"),
            *("created_by", "created_at", "finished_at"),
        ]
