"""Fails half way."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models


def fail(apps: Any, schema_editor: Any) -> None:
    raise ValueError("a row that nobody thought of")


class Migration(migrations.Migration):
    dependencies = [("evaluation", "m0900_another_table")]
    operations = [
        migrations.AddField("another", "name", models.TextField(default="")),
        migrations.RunPython(fail),
    ]
