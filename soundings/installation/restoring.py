"""A backup put into an empty installation: all of it, or nothing.

Everything is read and checked before anything is written. Tables, rows and migrations are one transaction,
which ends after the files are in place; where something fails, the files go again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation, ValidationError
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.management.color import no_style
from django.db import DataError, IntegrityError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model

from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.storage.storing import disk_errors_named, tell_the_planner
from soundings.installation.archive import FILES, JOURNALS, Archive, damaged, newer, open_archive
from soundings.installation.migrating import (
    MigrationName,
    apply_migrations,
    check_references_at_once,
    whole_or_nothing,
)
from soundings.installation.rows import fields_of, models_of, store_rows
from soundings.installation.sign_in import LIBRARY, OTHER_SETTINGS
from soundings.installation.taking import secret_key_sign

# Rows that migrations make by themselves.
MADE_BY_DJANGO = {"django_content_type", "auth_permission"}
# SQLite's table of words, which no model knows; its trigger goes with the other.
SEARCHED = "pooling_textsearch"
# How far the bar is after reading, the tables, and the rows.
READ, MADE, FILLED = 0.2, 0.4, 0.9


@dataclass(frozen=True)
class RestoreSummary:
    """Numbers of a restore; `migrations` that the backup was behind, and files that it did not have."""

    rows: int
    files: int
    migrations: int
    missing: list[str]
    altered: list[str]
    same_key: bool


def restore_backup(path: Path, progress: Progress) -> RestoreSummary:
    """Put a backup into this installation; `InputError` where this is not empty, or the backup not whole."""
    with open_archive(path) as archive:
        archive.require_whole(lambda share, detail: progress(READ * share, detail))
        _require_migrations(path, archive)
        stored: list[str] = []
        try:
            with disk_errors_named(), whole_or_nothing():
                _clear_empty_database(_migrations(archive))
                rows = _rows(path, archive, progress)
                _files(path, archive, stored)
                check_references_at_once()
                behind = apply_migrations(None, lambda share, detail: progress(FILLED, detail))
        except BaseException as error:
            for name in stored:
                default_storage.delete(name)
            if isinstance(error, IntegrityError | DataError | ValidationError):
                raise damaged(path, str(error).strip()) from error
            raise
        _journals(archive)
        same_key = archive.contents["secret_key"] == secret_key_sign()
        contents = archive.contents
        return RestoreSummary(
            rows, len(contents["files"]), behind, contents["missing"], contents["altered"], same_key
        )


def _require_migrations(path: Path, archive: Archive) -> None:
    ours = MigrationExecutor(connection).loader.disk_migrations
    unknown = _migrations(archive) - set(ours)
    if {app for app, _ in unknown} & set(LIBRARY):
        raise InputError(f"{path} has {OTHER_SETTINGS}, then restore.", field="file")
    if unknown:
        raise newer(path, archive.contents)


def _migrations(archive: Archive) -> set[MigrationName]:
    return {(app, name) for app, name in archive.contents["migrations"]}


def _clear_empty_database(had: set[MigrationName]) -> None:
    """Remove an empty installation's tables unless they are the backup's; `InputError` if it is not empty."""
    there = set(connection.introspection.table_names())
    loader = MigrationExecutor(connection).loader
    applied = [key for key in loader.applied_migrations if key in loader.graph.nodes]
    models = loader.project_state(applied).apps.get_models(include_auto_created=True)
    tables = {model._meta.db_table: model for model in models}
    for name in sorted(there & tables.keys() - MADE_BY_DJANGO):
        if tables[name]._base_manager.exists():
            raise InputError(
                "This installation is not empty. Restore into a new one: name an empty data folder in "
                "SOUNDINGS_DATA, and an empty database in DATABASE_URL if you set it."
            )
    if set(loader.applied_migrations) == had:
        return
    virtual = [SEARCHED] if connection.vendor == "sqlite" and SEARCHED in there else []
    cascade = " CASCADE" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        for name in [*virtual, *sorted(there & {*tables, "django_migrations"})]:
            cursor.execute(f"DROP TABLE {connection.ops.quote_name(name)}{cascade}")


def _rows(path: Path, archive: Archive, progress: Progress) -> int:
    """Make the tables as the backup had them, and fill them; how many rows those were."""
    had = _migrations(archive)
    executor = MigrationExecutor(connection)
    parents = {parent.key for key in had for parent in executor.loader.graph.node_map[key].parents}
    ends = sorted(had - parents)
    apply_migrations(ends, lambda share, detail: progress(READ + (MADE - READ) * share, detail))
    models = {m._meta.db_table: m for m in models_of(executor.loader.project_state(ends).apps)}
    # Rows may come before those that they refer to.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    _empty(models)
    done, total = 0, sum(table["rows"] for table in archive.contents["tables"]) or 1
    for table in archive.contents["tables"]:
        model = models.get(table["table"])
        if model is None or [field.column for field in fields_of(model)] != table["columns"]:
            raise damaged(path, table["name"])
        done += store_rows(model, archive.lines(table))
        progress(MADE + (FILLED - MADE) * done / total, table["table"])
    _continue_numbers(list(models.values()))
    return done


def _empty(tables: Iterable[str]) -> None:
    """Remove what migrations put there themselves, and nothing that refers to it."""
    with connection.cursor() as cursor:
        for name in tables:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(name)}")  # noqa: S608  no values


def _continue_numbers(models: list[type[Model]]) -> None:
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
    for model in models:
        tell_the_planner(model, model._base_manager.count())


def _files(path: Path, archive: Archive, stored: list[str]) -> None:
    """Store every file under its own name; `stored` gets what was not there before."""
    for part in archive.contents["files"]:
        name = part["name"].removeprefix(f"{FILES}/")
        try:
            if default_storage.exists(name):
                with default_storage.open(name, "rb") as file:
                    digest = hashlib.sha256()
                    for chunk in file.chunks():
                        digest.update(chunk)
                if digest.hexdigest() == part["sha256"]:  # of a restore that was killed
                    continue
                raise InputError(f"The file storage is not empty: it has another {name}. Use an empty one.")
            with archive.open(part) as source:
                saved = default_storage.save(name, File(source))
        except SuspiciousFileOperation:
            raise damaged(path, part["name"]) from None
        stored.append(saved)
        if saved != name:
            raise damaged(path, part["name"])


def _journals(archive: Archive) -> None:
    folder = Path(settings.LLM_JOURNAL_DIR)
    for part in archive.contents["journals"]:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = folder / Path(part["name"].removeprefix(f"{JOURNALS}/")).name
        with archive.open(part) as source:
            target.write_bytes(source.read())
        target.chmod(0o600)
