"""The practice round, as HTTP calls read and write it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from rest_framework import serializers

from labeling.judging.offers import PracticeOffer
from pooling.interface.shapes import shape


class PracticeState(TypedDict):
    """Where you are in the practice round; `question` is null when it is over."""

    total: int
    answered: int
    question: Annotated[
        PracticeOffer | None, Mapping[str, Any], "`item`, `query` and `document`, as in a claim."
    ]


PracticeSerializer = shape(PracticeState, "Practice")


class ExplanationSerializer(serializers.Serializer[Any]):
    """What is right, and why; then where you are, as a GET answers."""

    right = serializers.BooleanField()
    answer = serializers.CharField()
    reason = serializers.CharField()
    passage = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="What the reason quotes, or somebody's evidence: [start, end] in characters; null without.",
    )
    total = serializers.IntegerField()
    answered = serializers.IntegerField()
    question = serializers.DictField(allow_null=True, help_text="The next one, or null.")
