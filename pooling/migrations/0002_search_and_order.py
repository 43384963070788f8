"""What models cannot say: PostgreSQL's words and order of numbers, SQLite's virtual table of texts.

In SQLite a function orders; see `pooling/tables/rows.py`.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

SQLITE = (
    "CREATE VIRTUAL TABLE pooling_textsearch USING fts5"
    "(title, text, tokenize = 'unicode61 remove_diacritics 2')",
    """CREATE TRIGGER forget_text AFTER DELETE ON pooling_indexedtext BEGIN
        DELETE FROM pooling_textsearch WHERE rowid = old.document_id;
    END""",
)
POSTGRESQL = (
    "ALTER TABLE pooling_indexedtext ADD COLUMN words tsvector NOT NULL DEFAULT ''",
    "CREATE INDEX words_of_texts ON pooling_indexedtext USING gin (words)",
)
HAS_UNICODE = "SELECT 1 FROM pg_collation WHERE collprovider = 'i' LIMIT 1"
NATURAL = "CREATE COLLATION IF NOT EXISTS soundings_natural (provider = icu, locale = 'und-u-kn-true')"
# A server that was built without Unicode collations sorts bytewise.
BYTEWISE = 'CREATE COLLATION IF NOT EXISTS soundings_natural FROM "C"'


def create(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "sqlite":
        for statement in SQLITE:
            schema_editor.execute(statement)
        return
    for statement in POSTGRESQL:
        schema_editor.execute(statement)
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(HAS_UNICODE)
        cursor.execute(NATURAL if cursor.fetchone() else BYTEWISE)


def drop(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER forget_text")
        schema_editor.execute("DROP TABLE pooling_textsearch")
        return
    schema_editor.execute("ALTER TABLE pooling_indexedtext DROP COLUMN words")
    schema_editor.execute("DROP COLLATION IF EXISTS soundings_natural")


class Migration(migrations.Migration):
    dependencies = [("pooling", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
