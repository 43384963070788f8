"""Changes tables and rows, as a migration that works."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models

from tests.soundings.installation.later_migrations import LAST


def rename(apps: Any, schema_editor: Any) -> None:
    apps.get_model("pooling", "Collection").objects.update(name="renamed")


class Migration(migrations.Migration):
    dependencies = [("evaluation", LAST), ("pooling", "0001_initial")]
    operations = [
        migrations.CreateModel("another", [("id", models.BigAutoField(primary_key=True))]),
        migrations.RunPython(rename),
    ]
