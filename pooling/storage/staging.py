"""A table of this connection alone, filled row by row, from which a few statements then store everything.

Filling it locks nothing that others use: on SQLite, whose one writer everybody waits for, the lock is held
only while rows go from the staged table to where they belong, without a line of Python between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from django.db import connection, transaction

from pooling.heavy import pl
from pooling.storage.storing import copy_frame, copy_rows

# Kinds of columns and what they are to the two databases, as Django's own fields are.
POSTGRESQL = {
    "text": "text",
    "whole": "bigint",
    "number": "double precision",
    "flag": "boolean",
    "json": "jsonb",
}
SQLITE = {"text": "text", "whole": "bigint", "number": "real", "flag": "bool", "json": "text"}


@contextmanager
def staged(name: str, columns: Mapping[str, str]) -> Iterator[Staged]:
    """A table `name` with columns of these kinds, gone when the block ends."""
    on_postgres = connection.vendor == "postgresql"
    kinds = POSTGRESQL if on_postgres else SQLITE
    written = ", ".join(f"{column} {kinds[kind]}" for column, kind in columns.items())
    stage = Staged(name, tuple(columns))
    # PostgreSQL forgets it with the transaction, which an error in it leaves fit for nothing else.
    with transaction.atomic() if on_postgres else nullcontext():
        stage.run(f"DROP TABLE IF EXISTS {name}")
        stage.run(f"CREATE TEMPORARY TABLE {name} ({written})")
        try:
            yield stage
        finally:
            if not on_postgres:
                stage.run(f"DROP TABLE IF EXISTS {name}")
        if on_postgres:
            stage.run(f"DROP TABLE {name}")


class Staged:
    """A staged table; `run` and `rows` are for statements that read it, by its name."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name, self.columns = name, columns

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        """Append rows of plain values, JSON as text."""
        names = ", ".join(self.columns)
        if connection.vendor == "postgresql":
            copy_rows(f"COPY {self.name} ({names}) FROM STDIN", rows)
            return
        places = ", ".join(["%s"] * len(self.columns))
        begun = not connection.in_atomic_block
        if begun:
            # A transaction that takes no lock before it writes, and this one writes nothing of others.
            self.run("BEGIN DEFERRED")
        try:
            with connection.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {self.name} ({names}) VALUES ({places})", rows)  # noqa: S608
        finally:
            if begun:
                self.run("COMMIT")

    def fill(self, frame: pl.DataFrame) -> None:
        """Append the rows of a frame with the table's columns, JSON as text."""
        rows = frame.select(self.columns)
        if connection.vendor == "postgresql":
            copy_frame(self.name, rows)
        else:
            self.add(rows.rows())

    def settle(self) -> None:
        """Let PostgreSQL count the rows before other statements read them; on its own it would not."""
        if connection.vendor == "postgresql":
            self.run(f"ANALYZE {self.name}")

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """Execute a statement and return how many rows it touched."""
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters or None)
            return max(0, int(cursor.rowcount))

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters or None)
            return list(cursor.fetchall())
