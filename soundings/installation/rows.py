"""Rows as both databases have them, written as JSON: what one database stored, the other can read."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from uuid import UUID

from django.db import connection
from django.db.models import BinaryField, Field, JSONField, Model

from pooling.storage.storing import insert_rows

AT_ONCE = 2_000
# Signed with the secret key, or computed from the rest: people sign in again, texts are indexed again, and
# the database counts the items that come.
LEFT_OUT = {"django_session", "pooling_seensession", "pooling_indexedtext", "labeling_itemcount"}
# Said for every row of a table instead of what it has.
INSTEAD: dict[str, dict[str, object]] = {"pooling_textindex": {"is_behind": True}}


def models_of(apps: object) -> list[type[Model]]:
    models = [
        model
        for model in apps.get_models(include_auto_created=True)  # type: ignore[attr-defined]
        if model._meta.managed and not model._meta.proxy and model._meta.db_table not in LEFT_OUT
    ]
    return sorted(models, key=lambda model: model._meta.db_table)


def fields_of(model: type[Model]) -> list[Field]:  # type: ignore[type-arg]
    return list(model._meta.local_concrete_fields)


def written_rows(model: type[Model]) -> Iterator[bytes]:
    """The rows of a table, a line of JSON for each, ordered by key."""
    names = [field.attname for field in fields_of(model)]
    instead = {names.index(name): value for name, value in INSTEAD.get(model._meta.db_table, {}).items()}
    for row in model._base_manager.order_by("pk").values_list(*names).iterator(AT_ONCE):
        values = list(row)
        for place, value in instead.items():
            values[place] = value
        yield json.dumps(values, ensure_ascii=False, default=_plain).encode() + b"\n"


def _plain(value: object) -> object:
    """A value as JSON; `store_rows` reads it back by its column."""
    match value:
        case datetime() | date():
            return value.isoformat()
        case Decimal() | UUID():
            return str(value)
        case bytes() | memoryview():
            return b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is not written")


def store_rows(model: type[Model], rows: Iterable[list[object]]) -> int:
    """Insert rows as `written_rows` has them; how many those were."""
    fields = fields_of(model)
    names = [field.name for field in fields]
    stored = 0
    rows = iter(rows)
    while batch := list(islice(rows, AT_ONCE)):
        insert_rows(
            model, names, [[_stored(f, v) for f, v in zip(fields, row, strict=True)] for row in batch]
        )
        stored += len(batch)
    return stored


def _stored(field: Field, value: object) -> object:  # type: ignore[type-arg]
    if isinstance(field, JSONField):
        if value is None and field.null:
            return None
        return field.get_db_prep_value(value, connection) if value is not None else _json_null(field)
    if value is None:
        return None
    value = b64decode(str(value)) if isinstance(field, BinaryField) else field.to_python(value)
    return field.get_db_prep_save(value, connection)


def _json_null(field: JSONField) -> object:
    """JSON's own null, which Django reads as None as well."""
    return connection.ops.adapt_json_value(None, field.encoder)
