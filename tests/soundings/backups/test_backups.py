"""The commands backup and restore: everything comes back, on either database, or nothing does."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from pooling.models import Collection
from soundings.backups.archive import LIST
from tests.soundings.processes import manage
from tests.world import World

DUMPS = sorted(Path(__file__).parent.glob("version-*.zip"))
RELEASED = DUMPS[-1]


def contents_of(path: Path) -> Any:
    return json.loads(zipfile.ZipFile(path).read(LIST))


def rows_of(path: Path) -> dict[str, list[Any]]:
    """Every row of a backup; PostgreSQL keeps no order of the keys in JSON."""
    archive = zipfile.ZipFile(path)
    tables = contents_of(path)["tables"]
    return {t["table"]: [json.loads(line) for line in archive.open(t["name"])] for t in tables}


def changed(path: Path, target: Path, name: str, content: bytes) -> Path:
    """A backup with another content of one part, and its checksum with it where it has one."""
    contents = contents_of(path)
    for part in (*contents["tables"], *contents["files"]):
        if part["name"] == name:
            part["sha256"] = hashlib.sha256(content).hexdigest()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as archive:
        for info in source.infolist():
            if info.filename != LIST:
                archive.writestr(info, content if info.filename == name else source.read(info))
        archive.writestr(LIST, content if name == LIST else json.dumps(contents))
    return target


def refused(path: Path) -> str:
    with pytest.raises(CommandError) as refusal:
        call_command("restore", str(path))
    return str(refusal.value)


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: path.stem)
def test_the_dump_of_every_version_comes_back_with_every_row_and_file(dump: Path, data_folder: Path) -> None:
    done = manage(data_folder, "restore", str(dump))
    assert done.returncode == 0, done.stderr
    again = data_folder / "again.zip"
    assert manage(data_folder, "backup", str(again)).returncode == 0
    assert contents_of(again)["files"] == contents_of(dump)["files"]
    before, after = rows_of(dump), rows_of(again)
    assert len(after["labeling_judgmentevent"]) == len(before["labeling_judgmentevent"]) > 0
    if contents_of(again)["migrations"] == contents_of(dump)["migrations"]:
        assert after == before
    refusal = manage(data_folder, "restore", str(again))
    assert refusal.returncode == 2
    assert refusal.stderr.startswith("This installation is not empty.")


def test_rows_that_do_not_fit_together_leave_nothing(data_folder: Path, tmp_path: Path) -> None:
    name = "tables/labeling_judgment.jsonl"
    rows = zipfile.ZipFile(RELEASED).read(name).splitlines()
    first = json.loads(rows[0])
    first[contents_columns(name).index("query_id")] = 987654321
    broken = changed(RELEASED, tmp_path / "broken.zip", name, json.dumps(first).encode() + b"\n")
    done = manage(data_folder, "restore", str(broken))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"{broken} is damaged" in done.stderr
    with sqlite3.connect(data_folder / "soundings.sqlite3") as database:
        assert database.execute("SELECT count(*) FROM auth_user").fetchone() == (0,)
    assert [path for path in (data_folder / "files").rglob("*") if path.is_file()] == []


def contents_columns(name: str) -> list[str]:
    return next(table["columns"] for table in contents_of(RELEASED)["tables"] if table["name"] == name)


def test_a_backup_that_was_cut_off_is_told_in_one_sentence(tmp_path: Path, db: None) -> None:
    cut = tmp_path / "cut.zip"
    cut.write_bytes(RELEASED.read_bytes()[:-500])
    assert refused(cut).startswith(f"{cut} is not a backup, or not all of it")


def test_a_file_that_changed_is_named(tmp_path: Path, db: None) -> None:
    contents = contents_of(RELEASED)
    part = contents["files"][0]
    part["sha256"] = "0" * 64
    bad = changed(RELEASED, tmp_path / "bad.zip", LIST, json.dumps(contents).encode())
    assert refused(bad) == f"{bad} is damaged at {part['name']}. Nothing was restored. Use another copy."


def test_a_backup_of_a_newer_version_is_refused(tmp_path: Path, db: None) -> None:
    contents = contents_of(RELEASED)
    contents |= {"version": "9.0", "migrations": [*contents["migrations"], ["pooling", "0999_later"]]}
    later = changed(RELEASED, tmp_path / "later.zip", LIST, json.dumps(contents).encode())
    assert refused(later).startswith(f"{later} was made by a newer version of Soundings (9.0).")


@pytest.mark.django_db(transaction=True)
def test_a_backup_does_not_replace_a_file_and_has_no_sessions(world: World, tmp_path: Path) -> None:
    path = tmp_path / "taken.zip"
    default_storage.save("runs/one.parquet", ContentFile(b"bytes"))
    call_command("backup", str(path))
    assert path.stat().st_mode & 0o077 == 0
    assert "django_session" not in rows_of(path)
    assert [part["name"] for part in contents_of(path)["files"]].count("files/runs/one.parquet") == 1
    assert len(rows_of(path)["pooling_collection"]) == Collection.everything.count()
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", str(path))
    assert refused(path).startswith("This installation is not empty.")


@pytest.mark.skipif(not os.environ.get("DATABASE_URL", "").startswith("postgres"), reason="needs PostgreSQL")
def test_a_backup_goes_from_sqlite_to_postgresql_and_back(tmp_path: Path) -> None:
    server, _, name = os.environ["DATABASE_URL"].rpartition("/")
    other = f"{name}_restored_{os.getpid()}"
    import psycopg

    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {other}")
        try:
            url = f"{server}/{other}"
            done = manage(tmp_path / "there", "restore", str(RELEASED), DATABASE_URL=url)
            assert done.returncode == 0, done.stderr
            taken = tmp_path / "taken.zip"
            assert manage(tmp_path / "there", "backup", str(taken), DATABASE_URL=url).returncode == 0
            done = manage(tmp_path / "back", "restore", str(taken))
            assert done.returncode == 0, done.stderr
            assert manage(tmp_path / "back", "backup", str(tmp_path / "again.zip")).returncode == 0
            assert rows_of(tmp_path / "again.zip") == rows_of(taken)
        finally:
            connection.execute(f"DROP DATABASE {other} WITH (FORCE)")
