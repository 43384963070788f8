"""Rows of models by a statement written as SQL, for the few statements that everybody waits for.

Like `Model.objects.raw`, but a statement names its columns with `columns_of`: a row is read by places, and
nobody has to find out what the database called them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model
from django.db.models.base import ModelState

Row = TypeVar("Row", bound=Model)
Convert = Callable[[Any, Any, Any], Any]
Prepare = Callable[[Any, BaseDatabaseWrapper], Any]


class _Layout(NamedTuple):
    """Columns of a table as an instance: names in order, fields, conversions."""

    names: list[str]
    fields: frozenset[str]
    conversions: list[tuple[int, Any, list[Convert]]]


@cache
def columns_of(model: type[Model], alias: str) -> str:
    """The columns of a table, in the order in which `rows` reads them; the statement calls it `alias`."""
    return ", ".join(f"{alias}.{field.column}" for field in model._meta.concrete_fields)


def rows(
    statement: str,
    values: Sequence[Any] | Mapping[str, Any],
    model: type[Row],
    *,
    related: Mapping[str, type[Model]] | None = None,
    extra: Sequence[str] = (),
) -> list[Any]:
    """The instances that a statement gives.

    Its columns are those of `model`, then those of each model of `related`, which is set as the instance's
    attribute of that name, then one for each name of `extra`, set in the same way.
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        records, database = cursor.fetchall(), cursor.db
    instances = []
    fields = _layout(model, database.vendor).fields
    for row in records:
        instance, place = _instance(database, model, row, 0)
        for name, other in (related or {}).items():
            value, place = _instance(database, other, row, place)
            if name in fields:  # what assigning it would check, the statement's joins have made sure of
                instance._state.fields_cache[name] = value
            else:
                setattr(instance, name, value)
        for name, fact in zip(extra, row[place:], strict=True):
            setattr(instance, name, fact)
        instances.append(instance)
    return instances


def add_rows(instances: Sequence[Model]) -> None:
    """Store instances of one model as new rows with keys; `bulk_create` without signals, and quicker."""
    if not instances:
        return
    insertion, row, fields = _insertion(type(instances[0]), connection.vendor)
    with connection.cursor() as cursor:
        values = [
            None if (value := getattr(instance, name)) is None else prepare(value, cursor.db)
            for instance in instances
            for name, prepare in fields
        ]
        cursor.execute(insertion.format(rows=", ".join([row] * len(instances))), values)
        for instance, (key,) in zip(instances, cursor.fetchall(), strict=True):
            instance.pk = key
            instance._state.adding, instance._state.db = False, cursor.db.alias


@cache
def _insertion(model: type[Model], vendor: str) -> tuple[str, str, list[tuple[str, Prepare]]]:
    """The statement, the places of one of its `rows`, and the attributes there, with what stores each."""
    name_of, key = connection.ops.quote_name, model._meta.pk
    fields = [field for field in model._meta.concrete_fields if field is not key]
    columns = ", ".join(name_of(str(field.column)) for field in fields)
    into = f"INSERT INTO {name_of(model._meta.db_table)} ({columns})"
    row = f"({', '.join(['%s'] * len(fields))})"
    prepared: list[tuple[str, Prepare]] = [(field.attname, field.get_db_prep_save) for field in fields]
    return f"{into} VALUES {{rows}} RETURNING {name_of(str(key.column))}", row, prepared


def _instance(
    database: BaseDatabaseWrapper, model: type[Row], row: Sequence[Any], start: int
) -> tuple[Row, int]:
    """The instance whose columns begin at `start`, and where the next ones begin."""
    layout = _layout(model, database.vendor)
    end = start + len(layout.names)
    values = list(row[start:end])
    for place, column, conversions in layout.conversions:
        for convert in conversions:
            values[place] = convert(values[place], column, database)
    # As `Model.from_db`, without signals that nobody awaits and without looking at each field again.
    instance = model.__new__(model)
    instance.__dict__.update(zip(layout.names, values, strict=True))
    instance._state = ModelState()
    instance._state.adding, instance._state.db = False, database.alias
    return instance, end


@cache
def _layout(model: type[Model], vendor: str) -> _Layout:
    fields = model._meta.concrete_fields
    conversions = []
    for place, field in enumerate(fields):
        column = field.get_col(model._meta.db_table)
        converters = [*connection.ops.get_db_converters(column), *field.get_db_converters(connection)]
        if converters:
            conversions.append((place, column, converters))
    names = frozenset(field.name for field in fields)
    return _Layout([field.attname for field in fields], names, conversions)
