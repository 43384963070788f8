"""The practice round, as HTTP calls read and write it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class PracticeSerializer(serializers.Serializer[Any]):
    """Where you are in the practice round; `question` is null when it is over."""

    total = serializers.IntegerField()
    answered = serializers.IntegerField()
    question = serializers.DictField(
        allow_null=True, help_text="`item`, `query` and `document`, as in a claim."
    )


class ExplanationSerializer(serializers.Serializer[Any]):
    """What is right, and why; then where you are, as a GET answers."""

    right = serializers.BooleanField()
    answer = serializers.CharField()
    reason = serializers.CharField()
    passage = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="The span of the text that decides it, in Unicode characters; null if none does.",
    )
    total = serializers.IntegerField()
    answered = serializers.IntegerField()
    question = serializers.DictField(allow_null=True, help_text="The next one, or null.")
