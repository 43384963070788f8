from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.engine_models import Engine
from pooling.engines.description import checked, preset_named, settings_of
from pooling.engines.lists import ENGINES
from pooling.engines.options import DEEPEST, EngineSettings
from pooling.engines.presets import PRESETS
from pooling.engines.running import Trial, start_asking, try_engine
from pooling.engines.stored import LONGEST_KEY, change_engine, checked_key, create_engine, engine_for, key_of
from pooling.interface.api import answers, made, parsed, person, takes
from pooling.interface.option_fields import serializer_fields
from pooling.interface.serializers import JobStartedSerializer, optional_text
from pooling.interface.shapes import shape
from pooling.models import Pool
from pooling.options import options_of
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.tables.calls import lists
from pooling.tables.rows import Rows
from pooling.tidying.api import Tidied

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

    query = optional_text("A query's id. If absent: the first query.")
    engine = serializers.IntegerField(
        required=False, help_text="Id of a stored engine: what is left out is as there."
    )


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

    name = optional_text("Empty: engine and day.", max_length=200)
    depth = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=DEEPEST,
        help_text="Documents per query. If absent: the engine's.",
    )
    pool = serializers.IntegerField(required=False, help_text="Id of a pool to extend by the run.")


class Engines(APIView):
    @lists(EngineSerializer, ENGINES, operation_id="engines_list")
    def get(self, request: Request, slug: str) -> Rows:
        """List the engines by name."""
        collection = collection_for(request.user, slug, ADMIN)
        return Engine.objects.listed().filter(collection=collection)

    @takes(NewEngineSerializer, gives=EngineSerializer, status=201, operation_id="engines_create")
    def post(self, request: Request, slug: str) -> object:
        """Add an engine. Nothing is asked yet."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(NewEngineSerializer, request)
        name, key = body.pop("name"), body.pop("key", "")
        return create_engine(collection, name, _settings(body), key=key, user=person(request))


class EngineTry(APIView):
    @takes(EngineTrySerializer, gives=shape(Trial, "EngineTried"), operation_id="engines_try")
    def post(self, request: Request, slug: str) -> object:
        """Ask an engine one query, to see ids and scores before it is saved."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(EngineTrySerializer, request)
        query, key = body.pop("query"), body.pop("key", None)
        stored = engine_for(request.user, slug, body.pop("engine")) if "engine" in body else None
        before = settings_of(stored) if stored else None
        settings = checked(_settings(body, before))
        if key is None:
            is_same = stored is not None and settings.origin == settings_of(stored).origin
            key = key_of(stored) if stored is not None and is_same else ""
        return try_engine(collection, settings, checked_key(key), query)


class OneEngine(Tidied):
    kind = "engine"

    @answers(EngineSerializer, operation_id="engines_retrieve")
    def get(self, request: Request, collection__slug: str, engine_id: int) -> object:
        """Read how an engine is asked."""
        return engine_for(request.user, collection__slug, engine_id)

    @takes(EngineSettingsSerializer, gives=EngineSerializer, operation_id="engines_update")
    def put(self, request: Request, collection__slug: str, engine_id: int) -> object:
        """Change how an engine is asked; what is left out stays. Another host drops the saved key."""
        engine = engine_for(request.user, collection__slug, engine_id)
        body = parsed(EngineSettingsSerializer, request)
        key = body.pop("key", None)
        return change_engine(engine, _settings(body, settings_of(engine)), key=key, user=person(request))


class EngineRuns(APIView):
    @takes(EngineRunSerializer, gives=JobStartedSerializer, status=202, operation_id="engines_run")
    def post(self, request: Request, slug: str, engine_id: int) -> Response:
        """Ask an engine for every query in the background and store the run, which then extends `pool`."""
        engine = engine_for(request.user, slug, engine_id)
        body = parsed(EngineRunSerializer, request)
        pools = Pool.objects.filter(collection=engine.collection)
        pool = fetch(pools, pk=body["pool"]) if "pool" in body else None
        name, depth = body["name"] or None, body.get("depth")
        return made(start_asking(engine, person(request), name=name, depth=depth, pool=pool))


def _settings(body: dict[str, Any], before: EngineSettings | None = None) -> EngineSettings:
    preset = body.pop("preset", "")
    base = preset_named(preset) if preset else before or EngineSettings()
    names = {one.name for one in fields(EngineSettings)}
    return replace(base, **{name: value for name, value in body.items() if name in names})
