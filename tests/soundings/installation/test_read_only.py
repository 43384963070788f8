"""A data folder on a disk that cannot be written: one sentence that says so, and a backup all the same."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection

from pooling.interface.problems import InputError
from soundings import cli
from soundings.installation import taking
from soundings.installation.data_folder import why_read_only

SENTENCE = "Read-only file system."


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A database in a folder of which the system says that it is read-only."""
    path = tmp_path / "soundings.sqlite3"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE kept (number INTEGER)")
        database.execute("INSERT INTO kept VALUES (7)")
        database.commit()
    opened = os.open

    def refusing(name: Path, flags: int, *mode: int, **options: Any) -> int:
        if Path(name) == path and flags & (os.O_RDWR | os.O_WRONLY):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return opened(name, flags, *mode, **options)

    monkeypatch.setattr(os, "open", refusing)
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path)
    named = {**settings.DATABASES["default"], "ENGINE": "django.db.backends.sqlite3", "NAME": str(path)}
    monkeypatch.setitem(settings.DATABASES, "default", named)
    return path


def test_a_database_that_can_be_written_is_not_read_only(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite3"
    assert why_read_only(path) == ""  # it is not there: something else is wrong
    path.touch()
    assert why_read_only(path) == ""


def test_a_command_says_which_folder_cannot_be_written(
    disk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Refused:
        def __init__(self, arguments: list[str]) -> None:
            pass

        def execute(self) -> None:
            raise OperationalError("unable to open database file")

    monkeypatch.setattr("soundings.commands.Commands", Refused)
    monkeypatch.setattr("sys.argv", ["soundings", "serve"])
    with pytest.raises(SystemExit) as ended:
        cli.run_command()
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"SOUNDINGS_DATA: cannot write to {disk.parent}: {SENTENCE}\n")


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="a file of SQLite")
def test_a_backup_reads_it_without_writing_next_to_it(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = connection.copy()
    reader.settings_dict["NAME"] = str(disk)
    monkeypatch.setattr(taking, "connection", reader)
    with taking.one_moment(), reader.cursor() as cursor:
        cursor.execute("SELECT number FROM kept")
        assert cursor.fetchone() == (7,)
        assert list(disk.parent.iterdir()) == [disk]
    reader.close()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="a file of SQLite")
def test_rows_that_only_the_log_has_are_not_left_out_unsaid(disk: Path) -> None:
    disk.with_name(f"{disk.name}-wal").write_bytes(b"rows")
    with pytest.raises(InputError, match="has rows that must be written there first"), taking.one_moment():
        pass
