"""Engines, over HTTP; for admins of the collection."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.engine_models import Engine
from pooling.engines import serializers
from pooling.engines.description import checked, preset_named, settings_of
from pooling.engines.lists import ENGINES
from pooling.engines.options import EngineSettings
from pooling.engines.running import start_asking, try_engine
from pooling.engines.stored import change_engine, checked_key, create_engine, engine_for, key_of
from pooling.interface.api import answers, made, parsed, person, takes
from pooling.interface.serializers import JobStartedSerializer
from pooling.models import Pool
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.tables.calls import lists
from pooling.tables.rows import Rows
from pooling.tidying.api import Tidied


class Engines(APIView):
    """The engines of a collection."""

    @lists(serializers.EngineSerializer, ENGINES, operation_id="engines_list")
    def get(self, request: Request, slug: str) -> Rows:
        """List the engines by name."""
        collection = collection_for(request.user, slug, ADMIN)
        return Engine.objects.listed().filter(collection=collection)

    @takes(
        serializers.NewEngineSerializer,
        gives=serializers.EngineSerializer,
        status=201,
        operation_id="engines_create",
    )
    def post(self, request: Request, slug: str) -> object:
        """Add an engine. Nothing is asked yet."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(serializers.NewEngineSerializer, request)
        name, key = body.pop("name"), body.pop("key", "")
        return create_engine(collection, name, _settings(body), key=key, user=person(request))


class EngineTry(APIView):
    """One query, asked without storing anything."""

    @takes(
        serializers.EngineTrySerializer, gives=serializers.EngineTriedSerializer, operation_id="engines_try"
    )
    def post(self, request: Request, slug: str) -> object:
        """Ask an engine one query, to see ids and scores before it is saved."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(serializers.EngineTrySerializer, request)
        query, key = body.pop("query"), body.pop("key", None)
        stored = engine_for(request.user, slug, body.pop("engine")) if "engine" in body else None
        before = settings_of(stored) if stored else None
        settings = checked(_settings(body, before))
        if key is None:
            is_same = stored is not None and settings.origin == settings_of(stored).origin
            key = key_of(stored) if stored is not None and is_same else ""
        return try_engine(collection, settings, checked_key(key), query)


class OneEngine(Tidied):
    """One engine."""

    kind = "engine"

    @answers(serializers.EngineSerializer, operation_id="engines_retrieve")
    def get(self, request: Request, collection__slug: str, engine_id: int) -> object:
        """Read how an engine is asked."""
        return engine_for(request.user, collection__slug, engine_id)

    @takes(
        serializers.EngineSettingsSerializer,
        gives=serializers.EngineSerializer,
        operation_id="engines_update",
    )
    def put(self, request: Request, collection__slug: str, engine_id: int) -> object:
        """Change how an engine is asked; what is left out stays. Another host drops the saved key."""
        engine = engine_for(request.user, collection__slug, engine_id)
        body = parsed(serializers.EngineSettingsSerializer, request)
        key = body.pop("key", None)
        return change_engine(engine, _settings(body, settings_of(engine)), key=key, user=person(request))


class EngineRuns(APIView):
    """Runs of an engine's answers."""

    @takes(
        serializers.EngineRunSerializer, gives=JobStartedSerializer, status=202, operation_id="engines_run"
    )
    def post(self, request: Request, slug: str, engine_id: int) -> Response:
        """Ask an engine for every query in the background and store the run, which then extends `pool`."""
        engine = engine_for(request.user, slug, engine_id)
        body = parsed(serializers.EngineRunSerializer, request)
        pools = Pool.objects.filter(collection=engine.collection)
        pool = fetch(pools, pk=body["pool"]) if "pool" in body else None
        name, depth = body["name"] or None, body.get("depth")
        return made(start_asking(engine, person(request), name=name, depth=depth, pool=pool))


def _settings(body: dict[str, Any], before: EngineSettings | None = None) -> EngineSettings:
    """The body's settings, on top of a preset or of what was there."""
    preset = body.pop("preset", "")
    base = preset_named(preset) if preset else before or EngineSettings()
    names = {one.name for one in fields(EngineSettings)}
    return replace(base, **{name: value for name, value in body.items() if name in names})
