"""Writing what an import brings in: what no database keeps is refused, and a full disk is one clear error."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import Model

from pooling.formats.bytes.storable import PROBLEM, is_storable, unstorable_in
from pooling.formats.sources import require_file
from pooling.heavy import pl
from pooling.interface.problems import InputError, StorageFullError, is_disk_full

LONGEST_ID = 500
#: From this many on, new rows change which way to find them is fastest.
MANY_ROWS = 10_000
LONGEST_NAME = 200
IDS_AT_ONCE = 1000
# What every SQLite takes in a statement.
MOST_VALUES = 999


def sha256_of(path: Path) -> str:
    """The checksum of a file's bytes, as they are on disk; FormatError for a device or a pipe."""
    require_file(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keys_of(rows: Any, ids: Iterable[str]) -> dict[str, int]:
    keys: dict[str, int] = {}
    # No row has an id with a NUL, and PostgreSQL cannot be asked for one.
    wanted = (one for one in dict.fromkeys(ids) if "\0" not in one)
    while batch := list(islice(wanted, IDS_AT_ONCE)):
        keys.update(rows.filter(external_id__in=batch).values_list("external_id", "pk"))
    return keys


@contextmanager
def disk_errors_named() -> Iterator[None]:
    """Turn "no space left" of the disk or the database into `StorageFullError`; other errors pass."""
    try:
        yield
    except (OSError, OperationalError) as error:
        if is_disk_full(error):
            raise StorageFullError from error
        raise


def checked_name(name: str, what: str) -> str:
    """Return `name` without surrounding space; `InputError` for an empty, too long or unprintable one."""
    name = name.strip()
    problem = ""
    if not name:
        problem = f"A {what} needs a name."
    elif len(name) > LONGEST_NAME:
        problem = f"The name of a {what} has at most {LONGEST_NAME} characters; this one has {len(name)}."
    elif not name.isprintable():
        problem = f"The name of a {what} cannot hold control characters."
    if problem:
        raise InputError(problem, field="name")
    return name


def check_id(external_id: str, what: str, place: str) -> None:
    """`InputError` for an id the database cannot keep as it is; `place` says where it stands."""
    if len(external_id) > LONGEST_ID:
        start = external_id[:40]
        raise InputError(
            f"{place}: the {what} id “{start}…” has {len(external_id)} characters. Use at most {LONGEST_ID}."
        )
    if not is_storable(external_id):
        raise InputError(f"{place}: the {what} id {external_id!r} {PROBLEM}")


def check_text(place: str, what: str, external_id: str, *texts: str, metadata: dict[str, Any]) -> None:
    """`InputError` for texts or metadata that are too long, or hold what a database cannot keep."""
    if metadata:
        try:
            written = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
        except ValueError:
            problem = f"the metadata of {what} “{external_id}” hold a number that is not finite"
            raise InputError(f"{place}: {problem}. Remove it, or write null.") from None
        texts = (*texts, written)
    longest, bound = max(map(len, texts), default=0), settings.MAX_TEXT_CHARACTERS
    if longest > bound:
        raise InputError(
            f"{place}: a text of {what} “{external_id}” has {longest:,} characters; the most are {bound:,}. "
            "Split or shorten it, or raise SOUNDINGS_MAX_TEXT_CHARACTERS."
        )
    if not all(map(is_storable, texts)):
        raise InputError(f"{place}: {what} “{external_id}” {PROBLEM}")
    if unstorable_in(metadata) is not None:
        raise InputError(f"{place}: the metadata of {what} “{external_id}” hold a NUL. Remove it.")


def insert_rows(model: type[Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows of plain values (JSON as text) by one quick statement; `fields` has all without a null."""
    rows = list(rows)  # before the statement begins, for they may come from the database themselves
    if connection.vendor == "postgresql":
        table, names = _names(model, fields)
        copy_rows(f"COPY {table} ({names}) FROM STDIN", rows)
        return
    with connection.cursor() as cursor:
        cursor.executemany(_insertion(model, fields), rows)


def insert_frame(model: type[Model], frame: pl.DataFrame) -> None:
    """Insert the rows of a frame, whose columns are named as those of the table, JSON as text."""
    insert_into(connection.ops.quote_name(model._meta.db_table), frame)


def insert_into(table: str, frame: pl.DataFrame) -> None:
    if connection.vendor == "postgresql":
        copy_frame(table, frame)
        return
    names = ", ".join(map(connection.ops.quote_name, frame.columns))
    row = f"({', '.join(['%s'] * frame.width)})"
    with connection.cursor() as cursor:
        # Many rows in a statement: one each takes SQLite five times as long where a trigger counts them.
        for some in frame.iter_slices(MOST_VALUES // frame.width):
            rows = ", ".join([row] * some.height)
            values = list(chain.from_iterable(some.rows()))
            cursor.execute(f"INSERT INTO {table} ({names}) VALUES {rows}", values)  # noqa: S608


def upsert_frame(model: type[Model], frame: pl.DataFrame, *, unique: Sequence[str]) -> None:
    """`insert_frame`, giving other values to rows that are there already by the columns `unique`."""
    quoted = connection.ops.quote_name
    table, names = quoted(model._meta.db_table), ", ".join(map(quoted, frame.columns))
    others = [quoted(name) for name in frame.columns if name not in unique]
    changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in others)
    ending = f"ON CONFLICT ({', '.join(map(quoted, unique))}) DO UPDATE SET {changes}"
    with connection.cursor() as cursor:
        # By way of a table of its own: SQLite takes four times as long for one statement a row.
        cursor.execute(f"CREATE TEMPORARY TABLE upserted AS SELECT {names} FROM {table} LIMIT 0")  # noqa: S608
        insert_into("upserted", frame)
        cursor.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM upserted WHERE true {ending}")  # noqa: S608
        cursor.execute("DROP TABLE upserted")


def plain_rows(fields: Sequence[str], instances: Sequence[Model]) -> list[list[Any]]:
    """Rows of instances for `upsert_rows`, made before a transaction begins, so that nobody waits for it."""
    if not instances:
        return []
    columns = [instances[0]._meta.get_field(name) for name in fields]
    return [
        [column.get_db_prep_save(getattr(each, column.attname), connection) for column in columns]  # type: ignore[union-attr]
        for each in instances
    ]


def upsert_rows(
    model: type[Model], fields: Sequence[str], rows: Sequence[Sequence[Any]], *, unique: Sequence[str]
) -> None:
    """Insert rows as `plain_rows` makes them; one that is there already by `unique` gets the other values."""
    _, key = _names(model, unique)
    others = [_column(model, name) for name in fields if name not in unique]
    changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in others)
    with connection.cursor() as cursor:
        statement = f"{_insertion(model, fields)} ON CONFLICT ({key}) DO UPDATE SET {changes}"
        cursor.executemany(statement, rows)


def _insertion(model: type[Model], fields: Sequence[str]) -> str:
    table, names = _names(model, fields)
    places = ", ".join(["%s"] * len(fields))
    return f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608  no values


def _names(model: type[Model], fields: Sequence[str]) -> tuple[str, str]:
    table = connection.ops.quote_name(model._meta.db_table)
    return table, ", ".join(_column(model, name) for name in fields)


def _column(model: type[Model], name: str) -> str:
    return connection.ops.quote_name(str(model._meta.get_field(name).column))  # type: ignore[union-attr]


def tell_the_planner(model: type[Model], rows: int) -> None:
    """Let PostgreSQL look at a table that got many rows, or else it reads a whole collection for few ids."""
    if rows > MANY_ROWS and connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


def copy_rows(statement: str, rows: Iterable[Sequence[Any]]) -> None:
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def copy_frame(table: str, frame: pl.DataFrame) -> None:
    """Send a frame with the table's columns through PostgreSQL's COPY, as CSV; JSON is text."""
    names = ", ".join(connection.ops.quote_name(name) for name in frame.columns)
    statement = f"COPY {table} ({names}) FROM STDIN (FORMAT csv)"
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for some in frame.iter_slices(MANY_ROWS):
            copy.write(some.write_csv(include_header=False))
