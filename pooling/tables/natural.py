"""Natural order of ids and names for people, in Python and both databases: q2 before q10."""

from __future__ import annotations

import re
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.backends.sqlite3.base import DatabaseWrapper as SQLite
from django.db.models import CharField, Func
from django.db.models.expressions import Combinable
from django.db.models.sql.compiler import SQLCompiler

#: Numbers with more digits than this are compared like words.
DIGITS = 20

_NUMBER = re.compile("[0-9]+")


def natural_key(text: str) -> str:
    """A text that sorts bytewise as `text` sorts for people: every number has as many digits.

    >>> sorted(["q10", "q2", "Q1", "q2b10", "q2b9"], key=natural_key)
    ['Q1', 'q2', 'q2b9', 'q2b10', 'q10']
    """
    return _NUMBER.sub(lambda number: number[0].lstrip("0").rjust(DIGITS, "0"), text)


class NaturalKey(Func):
    """Sort key of a database for natural order: `natural_key` of an expression, or its collation."""

    function = "natural_key"
    arity = 1
    output_field = CharField()

    def __init__(self, expression: Combinable | str) -> None:
        super().__init__(expression)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Any:
        """By a collation that a migration creates; making keys took 100 times as long."""
        return self.as_sql(compiler, connection, template='%(expressions)s COLLATE "soundings_natural"')


def _add_to_sqlite(connection: BaseDatabaseWrapper, **_: object) -> None:
    if isinstance(connection, SQLite):
        connection.connection.create_function("natural_key", 1, _or_null, deterministic=True)


def _or_null(text: str | None) -> str | None:
    return None if text is None else natural_key(str(text))


connection_created.connect(_add_to_sqlite, dispatch_uid="natural_key")
