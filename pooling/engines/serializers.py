"""Engines, as HTTP calls read and write them. No answer has a key."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from pooling.engine_models import Engine
from pooling.engines.options import DEEPEST, EngineSettings
from pooling.engines.presets import PRESETS
from pooling.engines.running import Trial
from pooling.engines.stored import LONGEST_KEY
from pooling.interface.option_fields import serializer_fields
from pooling.interface.shapes import shape
from pooling.options.option import options_of

WORDS = [name for name, one in options_of(EngineSettings).items() if one.kind is str]
TEXTS: dict[str, Any] = {name: {"allow_blank": True} for name in WORDS}


@serializer_fields(EngineSettings, filled=False, nullable=False, **TEXTS)
class EngineSettingsSerializer(serializers.Serializer[Any]):
    """How an engine is asked: an address with a request, or a statement for a database of the settings."""

    preset = serializers.ChoiceField(
        choices=[(name, one.title) for name, one in PRESETS.items()],
        required=False,
        write_only=True,
        help_text="What is left out is as in this request of a known engine.",
    )
    key = serializers.CharField(
        required=False,
        write_only=True,
        allow_blank=True,
        max_length=LONGEST_KEY,
        help_text="Sent to the address's host only. If absent, the saved key is kept; empty removes it.",
    )


class NewEngineSerializer(EngineSettingsSerializer):
    """An engine to add."""

    name = serializers.CharField(max_length=200)


class EngineTrySerializer(EngineSettingsSerializer):
    """An engine to try, which need not be stored."""

    query = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="A query's id. If absent: the first query."
    )
    engine = serializers.IntegerField(
        required=False, help_text="Id of a stored engine: what is left out is as there."
    )


EngineTriedSerializer = shape(Trial, "EngineTried")


class EngineSerializer(serializers.ModelSerializer[Engine]):
    """An engine; `has_key` says whether one is saved."""

    has_key = serializers.SerializerMethodField()

    class Meta:
        model = Engine
        fields = ["id", "name", *options_of(EngineSettings), "has_key", "next_at", "created_at"]
        read_only_fields = fields

    def get_has_key(self, engine: Engine) -> bool:
        return bool(engine.sealed_key)


class EngineRunSerializer(serializers.Serializer[Any]):
    """A run to make of an engine's answers."""

    name = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="Empty: engine and day."
    )
    depth = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=DEEPEST,
        help_text="Documents per query. If absent: the engine's.",
    )
    pool = serializers.IntegerField(required=False, help_text="Id of a pool to extend by the run.")
