"""A backup of what one moment had, taken while people judge.

All rows are read in one transaction that sees the database as it was when that began: a read transaction of
SQLite's write-ahead log, or REPEATABLE READ of PostgreSQL. Neither keeps a writer waiting. SQLite's backup
interface begins again whenever another process has written, and makes a file for SQLite alone; rows go to
either database.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import FileField, Model
from django.utils import timezone
from django.utils.crypto import salted_hmac

from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.storage.uploads import PREVIEWED
from soundings import __version__
from soundings.installation.archive import (
    CHUNK,
    FILES,
    FORMAT,
    JOURNALS,
    TABLES,
    ArchiveWriter,
    Contents,
    Part,
    Table,
    new_archive,
)
from soundings.installation.data_folder import why_read_only
from soundings.installation.rows import fields_of, models_of, written_rows
from soundings.installation.sign_in import LIBRARY, OTHER_SETTINGS

# Half of the bar for the rows, half for the files.
ROWS_SHARE = 0.5


@dataclass(frozen=True)
class BackupSummary:
    """Numbers of a backup. missing: files that rows name; altered: files unlike their release."""

    rows: int
    files: int
    size: int
    missing: list[str]
    altered: list[str]


def take_backup(path: Path, progress: Progress) -> BackupSummary:
    """Write the installation to a new file; `InputError` where that exists already."""
    with new_archive(path) as archive, one_moment():
        executor = MigrationExecutor(connection)
        applied = sorted(executor.loader.applied_migrations)
        if unknown := [key for key in applied if key not in executor.loader.graph.nodes]:
            if unknown[0][0] in LIBRARY:
                raise InputError(f"The database has {OTHER_SETTINGS}, then take the backup.")
            raise InputError(
                f"The database was migrated by a newer version of Soundings ({'.'.join(unknown[0])}). "
                "Take the backup with that version."
            )
        models = models_of(executor.loader.project_state(applied).apps)
        tables = [_table(archive, model) for model in _with_progress(models, progress)]
        names, missing = _stored_files(models)
        files, gone = _files(archive, names, progress)
        contents: Contents = {
            "format": FORMAT,
            "version": __version__,
            "taken_at": timezone.now().isoformat(),
            "database": connection.vendor,
            "secret_key": secret_key_sign(),
            "migrations": [list(key) for key in applied],
            "tables": tables,
            "files": files,
            "journals": list(_journals(archive)),
            "missing": sorted({*missing, *gone}),
            "altered": _altered(models, files),
        }
        archive.finish(contents)
    rows = sum(table["rows"] for table in tables)
    return BackupSummary(rows, len(files), path.stat().st_size, contents["missing"], contents["altered"])


def secret_key_sign() -> str:
    """A sign that differs for another secret key, and tells nothing about this one."""
    return salted_hmac("soundings.backups", "which secret key", algorithm="sha256").hexdigest()


@contextmanager
def one_moment() -> Iterator[None]:
    """A transaction that only reads, all of it as the first statement found it."""
    _open_read_only_database()
    connection.ensure_connection()
    if connection.vendor != "sqlite":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
        return
    # As the site begins them, a transaction would be the one writer until its end.
    mode, connection.transaction_mode = connection.transaction_mode, "DEFERRED"  # type: ignore[attr-defined]
    try:
        with transaction.atomic():
            yield
    finally:
        connection.transaction_mode = mode  # type: ignore[attr-defined]


def is_read_only() -> bool:
    """The database is a file of SQLite that cannot be written."""
    return connection.vendor == "sqlite" and bool(why_read_only(_database_file()))


def _database_file() -> Path:
    return Path(settings.DATABASES["default"]["NAME"])


def _open_read_only_database() -> None:
    """Have a database on a read-only disk read by its main file alone; `InputError` if rows are elsewhere."""
    if not is_read_only():
        return
    path = _database_file()
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise InputError(
            f"{path} cannot be written, and {log.name} next to it has rows that must be written there first. "
            "Copy the data folder to a disk that can be written, and take the backup there."
        )
    connection.close()
    connection.settings_dict["NAME"] = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
    connection.settings_dict["OPTIONS"].pop("init_command", None)


def _with_progress(models: list[type[Model]], progress: Progress) -> Iterator[type[Model]]:
    for place, model in enumerate(models):
        progress(ROWS_SHARE * place / len(models), model._meta.db_table)
        yield model


def _table(archive: ArchiveWriter, model: type[Model]) -> Table:
    name, count = model._meta.db_table, 0

    def counted() -> Iterator[bytes]:
        nonlocal count
        for line in written_rows(model):
            count += 1
            yield line

    part = archive.add(f"{TABLES}/{name}.jsonl", counted(), packed=False)
    columns = [str(field.column) for field in fields_of(model)]
    return {**part, "table": name, "columns": columns, "rows": count}


def _stored_files(models: list[type[Model]]) -> tuple[list[str], list[str]]:
    """The names of all stored files, and of those that a row names and that are not there."""
    present = set(_listed(""))
    named: set[str] = set()
    for model in models:
        for field in fields_of(model):
            if isinstance(field, FileField):
                named |= set(
                    model._base_manager.exclude(**{field.name: ""}).values_list(field.name, flat=True)
                )
    return sorted(present), sorted(named - present)


def _listed(folder: str) -> Iterator[str]:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    for name in files:
        yield f"{folder}/{name}".lstrip("/")
    for name in folders:
        below = f"{folder}/{name}".lstrip("/")
        if below != PREVIEWED:
            yield from _listed(below)


def _files(archive: ArchiveWriter, names: list[str], progress: Progress) -> tuple[list[Part], list[str]]:
    parts, gone = [], []
    for place, name in enumerate(names):
        progress(ROWS_SHARE + (1 - ROWS_SHARE) * place / len(names), name)
        try:
            with default_storage.open(name, "rb") as file:
                parts.append(archive.add(f"{FILES}/{name}", file.chunks(CHUNK), packed=True))
        except FileNotFoundError:  # erased since it was listed
            gone.append(name)
    return parts, gone


def _altered(models: list[type[Model]], files: list[Part]) -> list[str]:
    """The files of releases whose checksum is not that of the release.

    A run's checksum is of the file that was imported; what is stored of it was made from that.
    """
    checksums = {part["name"].removeprefix(f"{FILES}/"): part["sha256"] for part in files}
    releases = [model for model in models if model._meta.db_table == "labeling_qrelsrelease"]
    stored = [row for model in releases for row in model._base_manager.values_list("file", "sha256")]
    return sorted(name for name, sha256 in stored if name in checksums and checksums[name] != sha256)


def _journals(archive: ArchiveWriter) -> Iterator[Part]:
    folder = Path(settings.LLM_JOURNAL_DIR)
    for path in sorted(folder.glob("*")) if folder.is_dir() else []:
        if path.is_file():
            yield archive.add(f"{JOURNALS}/{path.name}", [path.read_bytes()], packed=False)
