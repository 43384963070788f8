"""What an installation keeps is for the account alone that it runs under."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from soundings.installation import data_folder
from soundings.installation.data_folder import close_folder, close_tree, stored_secret_key
from tests.soundings.processes import ROOT, environment

OPEN = 0o077
BUSY = """
import sqlite3, sys
from django.db import connection
connection.ensure_connection()
with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE IF NOT EXISTS kept (number INTEGER)")
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
default_storage.save("runs/one.parquet", ContentFile(b"1"))
from pathlib import Path
for path in [settings.DATA_DIR, *Path(settings.DATA_DIR).rglob("*")]:
    if path.stat().st_mode & 0o077:
        print(path.name)
print(len(list(settings.DATA_DIR.glob("soundings.sqlite3*"))))
"""


def opened(folder: Path) -> set[str]:
    """The names of what others may do anything with."""
    return {path.name for path in [folder, *folder.rglob("*")] if stat.S_IMODE(path.stat().st_mode) & OPEN}


def run(folder: Path, *arguments: str) -> str:
    """Run Python in an account whose files are open to everybody unless it says otherwise."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment(folder, DJANGO_SETTINGS_MODULE="soundings.settings"),
        umask=0o022,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_new_data_folder_is_its_owner_s_with_the_open_database_s_files(tmp_path: Path) -> None:
    assert run(tmp_path / "data", "-c", f"import django; django.setup(){BUSY}") == "3\n"


def test_a_data_folder_that_was_open_is_closed_with_all_in_it(
    tmp_path: Path, migrated_database: Path
) -> None:
    folder = tmp_path / "data"
    (folder / "files" / "runs").mkdir(parents=True)
    (folder / "files" / "runs" / "one.parquet").write_bytes(b"1")
    shutil.copy(migrated_database, folder / "soundings.sqlite3")
    (folder / "secret_key").write_text("secret" * 10)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    run(folder, "-c", "from django.conf import settings; settings.DEBUG")
    assert opened(folder) == {"files", "runs", "one.parquet"}  # out of reach in a closed folder
    prepare = "from soundings.management.commands.serve import Command, prepare; prepare(Command())"
    run(folder, "-c", f"import django; django.setup(); {prepare}")
    assert opened(folder) == set()


def test_a_folder_for_many_accounts_and_one_of_somebody_else_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    close_folder(shared)
    assert opened(shared) == {"shared"}
    shared.chmod(0o755)

    def refused(path: Path, mode: int) -> None:
        raise PermissionError(os.strerror(1))

    monkeypatch.setattr(Path, "chmod", refused)
    close_folder(shared)
    close_tree(shared)
    assert opened(shared) == {"shared"}


def test_a_process_that_starts_while_another_makes_the_key_gets_the_same_one(tmp_path: Path) -> None:
    """The file is there, and empty, before the key is in it."""
    path = tmp_path / "secret_key"
    path.touch()
    writing = threading.Timer(0.2, path.write_text, ["of the other process"])
    writing.start()
    assert stored_secret_key(tmp_path) == "of the other process"
    writing.join()


def test_a_key_that_was_never_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_folder, "KEY_SECONDS", 0.0)
    (tmp_path / "secret_key").touch()
    with pytest.raises(ImproperlyConfigured, match=r"secret_key is empty\. Delete it"):
        stored_secret_key(tmp_path)
