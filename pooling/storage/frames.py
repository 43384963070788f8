"""Many rows of the database as one frame, by one statement, without an object of Python for each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from django.db import connection

from pooling.heavy import pl


def frame_of(statement: str, values: Sequence[Any], schema: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """The rows of a SELECT as a frame with the columns and types of `schema`.

    Numbers and text only: what is true or false is chosen as 1 or 0. On PostgreSQL the rows come as CSV, so
    that no object of Python is made for each value.
    """
    if connection.vendor != "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            rows = cursor.fetchall()
        columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
        named = zip(schema.items(), columns, strict=True)
        return pl.DataFrame([pl.Series(name, found, kind) for (name, kind), found in named])
    text = BytesIO()
    # What is copied takes no parameters of its own.
    chosen = connection.ops.compose_sql(statement, values)  # type: ignore[attr-defined]
    command = f"COPY ({chosen}) TO STDOUT (FORMAT csv)"
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(command) as copy,
    ):
        for block in copy:
            text.write(block)
    text.seek(0)
    if not text.getbuffer().nbytes:
        return pl.DataFrame(schema=dict(schema))
    return pl.read_csv(text, has_header=False, schema=dict(schema))
