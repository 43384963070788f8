from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.items.numbers import LARGEST_NUMBER
from labeling.models.messages import LONGEST_MESSAGE
from labeling.progress.sending import LONGEST_KEY


class NewMessageSerializer(serializers.Serializer[Any]):
    """A message from an item that you hold or have judged."""

    item = serializers.IntegerField(min_value=0, max_value=LARGEST_NUMBER, help_text="As claimed.")
    key = serializers.CharField(max_length=LONGEST_KEY, help_text="Yours; the same again changes nothing.")
    text = serializers.CharField(max_length=LONGEST_MESSAGE)


class MessageAnswerSerializer(serializers.Serializer[Any]):
    """What the author reads."""

    answer = serializers.CharField(max_length=LONGEST_MESSAGE)


class OwnMessageSerializer(serializers.Serializer[Any]):
    """A message of yours, and its answer."""

    id = serializers.IntegerField()
    query = serializers.CharField(source="query.external_id")
    document = serializers.CharField(source="document.external_id")
    text = serializers.CharField()
    sent_at = serializers.DateTimeField()
    answer = serializers.CharField(help_text="Empty until there is one.")
    answered_at = serializers.DateTimeField(allow_null=True)


class MessageSerializer(OwnMessageSerializer):
    """A message as admins see it."""

    queue = serializers.IntegerField(source="queue_id")
    author = serializers.CharField(source="author.username")
