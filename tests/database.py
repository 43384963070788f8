"""A database that is migrated once for all workers of a run, and kept for the next: workers copy it.

Its name is made of the texts of all migrations and of what makes triggers after them. Where one has changed,
and in a fresh clone, `manage.py migrate` makes it from nothing, and the run ends where that fails. On SQLite
it is a file in pytest's cache, on PostgreSQL a template beside the test databases.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django
from django.apps import apps
from django.conf import settings
from django.core.management.color import no_style
from django.db import connection, transaction

from tests.soundings.processes import manage

FILLED_BY_MIGRATIONS = {"auth_permission", "django_content_type", "django_migrations"}


def make_migrated_databases(kept: Path) -> None:
    """Make those that are missing: an SQLite file in the folder `kept`, and the template on PostgreSQL.

    Of the processes that find none, one makes it and the others wait.
    """
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not migrated_file(kept).exists():
            _make_file(kept)
        if connection.vendor == "postgresql":
            _make_template(kept)


def migrated_file(kept: Path) -> Path:
    """The SQLite database with every migration applied and nothing in it."""
    return kept / f"{_stem()}{_fingerprint()}.sqlite3"


@contextmanager
def database_for_tests(kept: Path, name: str) -> Iterator[None]:
    """Django's connections lead to a fresh copy called `name`; on PostgreSQL it is dropped at the end."""
    given, template = connection.settings_dict["NAME"], _template()
    if connection.vendor == "postgresql":
        with _server() as server:
            server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
            server.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    else:
        shutil.copy(migrated_file(kept), name)
        # Nothing here must outlast a power failure.
        connection.settings_dict["OPTIONS"]["init_command"] = "PRAGMA synchronous=OFF;"
    connection.close()
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = name
    yield
    connection.close()
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = given
    if connection.vendor == "postgresql":
        with _server() as server:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def empty_tables() -> None:
    """After a test that commits. Django's own flush empties also what migrations fill, and fills it again."""
    tables = sorted(set(connection.introspection.django_table_names()) - FILLED_BY_MIGRATIONS)
    if connection.vendor != "postgresql":
        connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), tables))
        return
    # TRUNCATE makes new files for each of a hundred tables, for two seconds; few of them have a row.
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute("; ".join(f"DELETE FROM {connection.ops.quote_name(table)}" for table in tables))


def _make_file(kept: Path) -> None:
    for older in kept.glob(f"{_stem()}*.sqlite3"):
        older.unlink()
    folder = kept / "being-made"
    shutil.rmtree(folder, ignore_errors=True)
    _migrate(folder)
    # Whoever closes an SQLite database last leaves everything in this one file.
    os.replace(folder / "soundings.sqlite3", migrated_file(kept))
    shutil.rmtree(folder)


def _make_template(kept: Path) -> None:
    template, stem = _template(), f"{settings.DATABASES['default']['NAME']}_{_stem()}"
    with _server() as server:
        found = server.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [stem])
        names = {name for (name,) in found}
        if template in names:
            return
        for older in names:
            server.execute(f'DROP DATABASE "{older}" WITH (FORCE)')
        being_made = f"{stem}being_made"
        server.execute(f'CREATE DATABASE "{being_made}"')
        url = urlsplit(os.environ["DATABASE_URL"])
        _migrate(kept / "being-made", DATABASE_URL=url._replace(path=f"/{being_made}").geturl())
        shutil.rmtree(kept / "being-made")
        server.execute(f'ALTER DATABASE "{being_made}" RENAME TO "{template}"')


def _migrate(folder: Path, **variables: str) -> None:
    done = manage(folder, "migrate", DJANGO_SETTINGS_MODULE=os.environ["DJANGO_SETTINGS_MODULE"], **variables)
    assert done.returncode == 0, done.stderr


def _template() -> str:
    return f"{settings.DATABASES['default']['NAME']}_{_stem()}{_fingerprint()}"


def _stem() -> str:
    """How the names begin: other settings have other tables."""
    return os.environ["DJANGO_SETTINGS_MODULE"].rpartition(".")[2] + "_"


def _server() -> Any:
    """A connection to the PostgreSQL server that is none of Django's: a template must have no other."""
    import psycopg

    return psycopg.connect(os.environ["DATABASE_URL"], dbname="postgres", autocommit=True)


def _fingerprint() -> str:
    """Of every installed app's migrations, and of the Django that applies them."""
    digest = sha256(django.__version__.encode())
    for config in sorted(apps.get_app_configs(), key=lambda config: config.label):
        folder = Path(config.path)
        for path in (*sorted(folder.glob("migrations/*.py")), *folder.glob("items/counts.py")):
            digest.update(f"\n{config.label} {path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]
