from typing import Any

from rest_framework import serializers


class TidyChangeSerializer(serializers.Serializer[dict[str, Any]]):
    """What is changed about a thing; what is not named stays."""

    name = serializers.CharField(max_length=200, required=False)
    archived = serializers.BooleanField(
        required=False, help_text="Archived things are in no list or form, but have their address."
    )


class RestoreSerializer(serializers.Serializer[dict[str, Any]]):
    """How a thing is restored."""

    name = serializers.CharField(
        max_length=200, required=False, help_text="Another name, where its own was given away."
    )


class DependantSerializer(serializers.Serializer[dict[str, Any]]):
    """What depends on a thing."""

    words = serializers.CharField(help_text="Such as “2 pools”.")
    consequence = serializers.CharField(help_text="What becomes of them when it is deleted.")
    blocks = serializers.BooleanField(help_text="Whether they have to be deleted first.")
    names = serializers.ListField(child=serializers.CharField())


class TidiedSerializer(serializers.Serializer[dict[str, Any]]):
    """A thing with what depends on it."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    name = serializers.CharField()
    archived = serializers.BooleanField()
    deleted = serializers.BooleanField()
    restorable_until = serializers.DateTimeField(allow_null=True, help_text="When a deleted thing is erased.")
    dependants = DependantSerializer(many=True)


class ChangedCollectionSerializer(TidiedSerializer):
    """A collection that was changed."""

    question = serializers.CharField()
    guidelines = serializers.CharField()
    language = serializers.CharField()
    synonyms = serializers.CharField()
    image_hosts = serializers.CharField()


class TidiedThingSerializer(serializers.Serializer[Any]):
    """Something that was archived or deleted; `kind` and `id` are those of its own calls."""

    kind = serializers.CharField(source="kind.name")
    id = serializers.IntegerField(source="thing.pk")
    name = serializers.CharField()
    at = serializers.DateTimeField()
    by = serializers.CharField(help_text="Empty for a command.")
    restorable_until = serializers.DateTimeField(source="until", allow_null=True)
