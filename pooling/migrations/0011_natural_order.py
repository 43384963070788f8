"""A collation for PostgreSQL in which q2 comes before q10; SQLite gets a function, see pooling/tables/natural.py."""

from __future__ import annotations

from typing import Any

from django.db import migrations

_HAS_UNICODE = "SELECT 1 FROM pg_collation WHERE collprovider = 'i' LIMIT 1"
_NATURAL = "CREATE COLLATION IF NOT EXISTS soundings_natural (provider = icu, locale = 'und-u-kn-true')"
# A server that was built without Unicode collations sorts bytewise.
_BYTEWISE = 'CREATE COLLATION IF NOT EXISTS soundings_natural FROM "C"'


def create(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(_HAS_UNICODE)
        cursor.execute(_NATURAL if cursor.fetchone() else _BYTEWISE)


def drop(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP COLLATION IF EXISTS soundings_natural")


class Migration(migrations.Migration):
    dependencies = [("pooling", "0010_kept")]
    operations = [migrations.RunPython(create, drop)]
