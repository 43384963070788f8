"""Engines of a collection: added, changed, deleted, and their keys kept so that nobody reads them again."""

from __future__ import annotations

from dataclasses import asdict

from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction

from pooling.engine_models import Engine
from pooling.engines.description import checked, settings_of
from pooling.engines.options import EngineSettings
from pooling.engines.schedule import begin_schedule
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.access import ADMIN, fetch, require_role
from pooling.people.activity_log import record_action
from pooling.storage.secrets import seal, unseal
from pooling.storage.storing import checked_name
from pooling.tidying.kinds import Kind, register, when

LONGEST_KEY = 4000

register(
    Kind(
        "engine",
        "engines",
        Engine,
        archived="It is no longer listed. If it has a schedule, it is still asked.",
        deleted="It is no longer asked. Runs of its answers stay. After thirty days its key is erased.",
        list_page="engines",
    )
)


def engine_for(user: User | AnonymousUser, slug: str, engine_id: int) -> Engine:
    """Fetch an engine, and its collection, for an admin: its address and request are nobody else's."""
    engine = fetch(Engine.objects.select_related("collection"), pk=engine_id, collection__slug=slug)
    require_role(user, engine.collection, ADMIN)
    return engine


def engine_named(collection: Collection, name: str) -> Engine:
    """The engine of this name; `InputError` lists those that there are."""
    engine = Engine.objects.filter(collection=collection, name=name).first()
    if engine is None:
        names = ", ".join(collection.engines.values_list("name", flat=True)) or "none yet"
        problem = f"“{collection.slug}” has no engine “{name}”. There are: {names}."
        raise InputError(problem, field="engine", missing=True)
    return engine


def create_engine(
    collection: Collection, name: str, settings: EngineSettings, *, key: str = "", user: User | None = None
) -> Engine:
    """Add an engine; `InputError` names each field that will not do. Nothing is asked yet."""
    engine = Engine(collection=collection, name=checked_name(name, "engine"), created_by=user)
    return _saved(engine, checked(settings), key=key, user=user, action="engine added")


def change_engine(
    engine: Engine, settings: EngineSettings, *, key: str | None = None, user: User | None = None
) -> Engine:
    """Give an engine other settings. key: None keeps the saved one, "" removes it.

    An address on another host drops the saved key, unless another comes with it: the person who changes the
    address may not be the one who was trusted with the key.
    """
    settings = checked(settings)
    kept = key is None and settings.origin == settings_of(engine).origin
    return _saved(engine, settings, key=None if kept else key or "", user=user, action="engine changed")


def key_of(engine: Engine) -> str:
    return unseal(engine.sealed_key) if engine.sealed_key else ""


def checked_key(key: str) -> str:
    """The key without surrounding space; `InputError` for one that no header can hold."""
    key = key.strip()
    if key and not (key.isascii() and key.isprintable() and len(key) <= LONGEST_KEY):
        raise InputError(f"A key has at most {LONGEST_KEY:,} printable ASCII characters.", field="key")
    return key


def _saved(
    engine: Engine, settings: EngineSettings, *, key: str | None, user: User | None, action: str
) -> Engine:
    interval = engine.every_hours
    for name, value in asdict(settings).items():
        setattr(engine, name, value)
    if key is not None:
        key = checked_key(key)
        if key and not settings.key_header:
            raise InputError("A key needs the header that it is sent in.", field="key_header")
        engine.sealed_key = seal(key) if key else ""
    try:
        with transaction.atomic():
            engine.save()
            # Without the templates, which may be long, and without the key.
            record_action(engine.collection, user, action, engine.name, origin=settings.origin)
            if engine.every_hours != interval:
                begin_schedule(engine)
    except IntegrityError:
        problem = f"Engine “{engine.name}” already exists. Choose another name."
        raise InputError(problem, field="name", conflict=True) from None
    return engine


@when("restored", Engine)
def _ask_again(engine: Engine, by: User | None) -> None:
    begin_schedule(engine)
