"""Many rows of the database as one frame, by one statement, without an object of Python for each value."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import (
    BooleanField,
    DateTimeField,
    Field,
    FloatField,
    ForeignKey,
    IntegerField,
    QuerySet,
)

from pooling.heavy import pl

MOMENT = "%Y-%m-%d %H:%M:%S%.f"
#: Rows that are objects of Python at a time.
AT_ONCE = 50_000
#: The pair of a row by the ids that its collection has for query and document.
PAIR_IDS = {"query_id": "query__external_id", "document_id": "document__external_id"}


def rows_frame(rows: QuerySet[Any], *names: str, **columns: str) -> pl.DataFrame:
    """Rows as a frame with these columns: whole numbers, Float64, Boolean, Datetime in UTC, or text."""
    columns = {**{name: name for name in names}, **columns}
    compiler = rows.values_list(*columns.values()).query.get_compiler(rows.db)
    try:
        statement, values = compiler.as_sql()
    except EmptyResultSet:
        statement, values = "", ()
    fields = {
        name: field.target_field if isinstance(field := chosen[0].output_field, ForeignKey) else field
        for name, chosen in zip(columns, compiler.select, strict=True)
    }
    schema = {name: _kind_of(field) for name, field in fields.items()}
    return _frame_of(statement, values, schema) if statement else pl.DataFrame(schema=schema)


def _kind_of(field: Field[Any, Any]) -> pl.DataType:
    if isinstance(field, BooleanField):
        return pl.Boolean()
    if isinstance(field, DateTimeField):
        return pl.Datetime("us", "UTC")
    if isinstance(field, FloatField):
        return pl.Float64()
    return pl.Int64() if isinstance(field, IntegerField) else pl.String()


def _frame_of(statement: str, values: Sequence[Any], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    if connection.vendor != "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            chunks = [pl.DataFrame(schema=schema)]
            while rows := cursor.fetchmany(AT_ONCE):
                # True and false come as 1 and 0, and times without their zone.
                chunks.append(pl.DataFrame(rows, schema=schema, orient="row", strict=False))
            return pl.concat(chunks)
    text = BytesIO()
    # What is copied takes no parameters of its own.
    chosen = connection.ops.compose_sql(statement, values)  # type: ignore[attr-defined]
    command = f"COPY ({chosen}) TO STDOUT (FORMAT csv)"
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(command) as copy:
        for block in copy:
            text.write(block)
    text.seek(0)
    if not text.getbuffer().nbytes:
        return pl.DataFrame(schema=schema)
    as_text = {name: kind for name, kind in schema.items() if kind == pl.Boolean or kind == pl.Datetime}
    frame = pl.read_csv(text, has_header=False, schema=schema | dict.fromkeys(as_text, pl.String()))
    return frame.with_columns(
        pl.col(name) == "t"
        if kind == pl.Boolean
        else pl.col(name).str.strip_suffix("+00").str.to_datetime(MOMENT, time_unit="us", time_zone="UTC")
        for name, kind in as_text.items()
    )
