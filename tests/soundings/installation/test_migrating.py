"""An upgrade is whole or has not happened."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import Settings

from pooling.interface.problems import InputError
from pooling.models import Collection
from soundings.installation.first_use import missing_migrations, prepare_database
from tests.soundings.processes import ROOT, environment
from tests.world import World

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_migration_that_fails_leaves_the_version_before(world: World, settings: Settings) -> None:
    settings.MIGRATION_MODULES = {"evaluation": "tests.soundings.installation.failing_migrations"}
    told: list[str] = []
    with pytest.raises(InputError, match=r"evaluation\.m0901_fails: a row that nobody thought of\. Nothing"):
        prepare_database(lambda share, migration: told.append(migration))
    assert told == ["evaluation.m0900_another_table", "evaluation.m0901_fails"]
    assert missing_migrations() == 2
    assert "evaluation_another" not in connection.introspection.table_names()
    assert Collection.objects.get().name == world.collection.name


def told_by_migrate() -> str:
    told = StringIO()
    call_command("migrate", "contenttypes", fake=True, stdout=told)
    return told.getvalue()


def test_migrate_says_first_that_it_creates_the_tables_where_there_are_none() -> None:
    assert "Creating" not in told_by_migrate()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_migrations RENAME TO put_aside")
        try:
            assert told_by_migrate().startswith("Creating the tables in an empty database")
        finally:
            cursor.execute("DROP TABLE IF EXISTS django_migrations")
            cursor.execute("ALTER TABLE put_aside RENAME TO django_migrations")


# Django's own command, which no module of ours has changed.
ONE_BY_ONE = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "soundings.settings"
import django
django.setup()
from django.core.management import call_command
from django.core.management.commands import migrate
from django.db.migrations.executor import MigrationExecutor
assert migrate.MigrationExecutor is MigrationExecutor
call_command(migrate.Command(), verbosity=0)
"""


@pytest.mark.slow
def test_new_models_created_together_have_the_tables_that_they_have_one_by_one(
    tmp_path: Path, migrated_database: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ONE_BY_ONE], env=environment(tmp_path), check=False, cwd=ROOT
    )
    assert done.returncode == 0
    tables = []
    for path in (tmp_path / "soundings.sqlite3", migrated_database):
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2")
            tables.append(list(rows))

    assert tables[0] == tables[1]
