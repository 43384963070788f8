"""The commands backup and restore: everything comes back, on either database, or nothing does."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from pytest_django import Settings

from pooling.models import Collection
from soundings.installation.archive import LIST
from tests.evaluation.cast import make_report
from tests.labeling.helpers import assert_counts_are_true, judge, make_queue, only_lease
from tests.soundings.processes import manage
from tests.world import World

# Of each released version one.
RELEASED = sorted(Path(__file__).parent.glob("version-*.zip"))
WALKED = "SELECT state, COUNT(*) FROM labeling_item GROUP BY state ORDER BY state"
COUNTED = "SELECT state, SUM(many) FROM labeling_itemcount GROUP BY state HAVING SUM(many) > 0 ORDER BY state"
ONE_MORE = {"DJANGO_SETTINGS_MODULE": "tests.soundings.installation.later_settings"}


@pytest.fixture
def dump(transactional_db: None, world: World) -> Path:
    """A backup of the harbour collection with runs, judgments, a release and a report."""
    queue = make_queue(world)
    for person in (world.ben, world.cleo):
        judge(queue, person, only_lease(queue, person).item_id)
    make_report(world)
    path = world.folder / "dump.zip"
    call_command("backup", str(path))
    return path


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
    assert refusal.value.returncode == 2
    return str(refusal.value)


@pytest.fixture
def empty_installation(dump: Path, settings: Settings, tmp_path: Path) -> Path:
    """The folder of files of an installation that holds nothing any more, after `dump` was taken of it."""
    call_command("flush", interactive=False, verbosity=0)
    settings.MEDIA_ROOT = tmp_path / "new"
    return settings.MEDIA_ROOT


def test_a_backup_comes_back_with_every_row_and_file(dump: Path, empty_installation: Path) -> None:
    call_command("restore", str(dump), stdout=io.StringIO())
    again = dump.with_name("again.zip")
    call_command("backup", str(again), stdout=io.StringIO())
    assert contents_of(again)["files"] == contents_of(dump)["files"] != []
    assert rows_of(again) == rows_of(dump)
    assert len(rows_of(again)["labeling_judgmentevent"]) == 2
    assert_counts_are_true("restored")
    assert refused(again).startswith("This installation is not empty.")


@pytest.mark.slow
def test_backups_of_this_and_of_each_released_version_are_upgraded(dump: Path, data_folder: Path) -> None:
    for number, path in enumerate([dump, *RELEASED]):
        folder = data_folder / str(number)
        folder.mkdir()
        shutil.copy(data_folder / "soundings.sqlite3", folder)
        assert manage(folder, "migrate", **ONE_MORE).returncode == 0
        done = manage(folder, "restore", str(path), **ONE_MORE)
        assert done.returncode == 0, done.stderr
        assert "The backup was upgraded (" in done.stdout
        with sqlite3.connect(folder / "soundings.sqlite3") as database:
            assert database.execute("SELECT DISTINCT name FROM pooling_collection").fetchall() == [
                ("renamed",)
            ]
            assert database.execute("SELECT count(*) FROM evaluation_another").fetchone() == (0,)
            assert database.execute("SELECT count(*) FROM labeling_judgmentevent").fetchone() > (0,)
            assert database.execute(COUNTED).fetchall() == database.execute(WALKED).fetchall() != []


def test_rows_that_do_not_fit_together_leave_nothing(
    dump: Path, empty_installation: Path, tmp_path: Path
) -> None:
    name = "tables/labeling_judgment.jsonl"
    rows = zipfile.ZipFile(dump).read(name).splitlines()
    first = json.loads(rows[0])
    first[contents_columns(dump, name).index("query_id")] = 987654321
    broken = changed(dump, tmp_path / "broken.zip", name, json.dumps(first).encode() + b"\n")
    said = refused(broken)
    assert said.startswith(f"{broken} is damaged")
    assert "\n" not in said
    assert not User.objects.exists()
    assert [path for path in empty_installation.rglob("*") if path.is_file()] == []


def contents_columns(path: Path, name: str) -> list[str]:
    return next(table["columns"] for table in contents_of(path)["tables"] if table["name"] == name)


def test_a_backup_that_is_cut_off_or_changed_or_newer_is_refused_in_one_sentence(
    dump: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.zip"
    cut.write_bytes(dump.read_bytes()[:-500])
    assert refused(cut).startswith(f"{cut} is not a backup, or not all of it")

    contents = contents_of(dump)
    part = contents["files"][0]
    part["sha256"] = "0" * 64
    bad = changed(dump, tmp_path / "bad.zip", LIST, json.dumps(contents).encode())
    assert refused(bad) == f"{bad} is damaged at {part['name']}. Nothing was restored. Use another copy."

    contents = contents_of(dump)
    contents |= {"version": "9.0", "migrations": [*contents["migrations"], ["pooling", "0999_later"]]}
    later = changed(dump, tmp_path / "later.zip", LIST, json.dumps(contents).encode())
    assert refused(later).startswith(f"{later} was made by a newer version of Soundings (9.0).")


def test_an_archive_that_would_fill_the_disk_is_refused_before_it_is_read(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(LIST, "[" * 20_000_000)
    assert "unpack to 20,000,000" in refused(path)


def test_a_list_that_would_fill_the_memory_is_refused_before_it_is_read(world: World, tmp_path: Path) -> None:
    """It shrinks less than a table may, and is read at once."""
    path = tmp_path / "bomb.zip"
    of_bytes = Random(0).randbytes(150_000).hex()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(LIST, f'{{"of": "{of_bytes}", "tables": [' + "[]," * 7_000_000 + "[]]}")
    assert "unpack to 21,300," in refused(path)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that takes no file")
def test_a_backup_that_cannot_be_written_names_its_file(world: World) -> None:
    with pytest.raises(CommandError, match=r"^/proc/all\.zip: No such file or directory\.$"):
        call_command("backup", "/proc/all.zip")


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
    with pytest.raises(CommandError, match=f"There is no folder {tmp_path / 'none'}; create it"):
        call_command("backup", str(tmp_path / "none" / "taken.zip"))
    assert refused(path).startswith("This installation is not empty.")


@pytest.mark.skipif(not os.environ.get("DATABASE_URL", "").startswith("postgres"), reason="needs PostgreSQL")
def test_a_backup_goes_from_postgresql_to_sqlite_and_back(dump: Path, tmp_path: Path) -> None:
    server, _, name = os.environ["DATABASE_URL"].rpartition("/")
    other = f"{name}_restored_{os.getpid()}"
    import psycopg

    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {other}")
        try:
            url = f"{server}/{other}"
            path = dump
            for variables in ({}, {"DATABASE_URL": url}):
                folder = tmp_path / str(len(variables))
                done = manage(folder, "restore", str(path), **variables)
                assert done.returncode == 0, done.stderr
                path = folder / "taken.zip"
                assert manage(folder, "backup", str(path), **variables).returncode == 0
                assert rows_of(path) == rows_of(dump)
                database: Any = (
                    psycopg.connect(url) if variables else sqlite3.connect(folder / "soundings.sqlite3")
                )
                with closing(database):
                    assert database.execute(COUNTED).fetchall() == database.execute(WALKED).fetchall() != []
        finally:
            connection.execute(f"DROP DATABASE {other} WITH (FORCE)")
