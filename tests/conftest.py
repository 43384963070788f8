"""Fixtures for every test: the world, and settings that keep tests quick and away from the real data."""

from __future__ import annotations

import os
import shutil
import sys
from asyncio import events
from collections.abc import Generator
from pathlib import Path

import pytest
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django import Settings

from tests.database import copy_migrated_database
from tests.world import World, make_world

# What was compiled is kept, also where the environment says otherwise: each worker would compile all tests
# for ten seconds, and each command that a test starts would compile the site.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A busy machine is no reason to fail: no example of a property test is held against the clock.
hypothesis_settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _quick_and_apart(settings: Settings, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    translation.deactivate()  # what the test before in this process spoke
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DERIVED_DIR = tmp_path.with_name(f"{tmp_path.name}-derived")
    settings.DERIVED_DIR.mkdir()
    charts = tmp_path_factory.getbasetemp() / "charts"  # a script that takes seconds to make
    charts.mkdir(exist_ok=True)
    (settings.DERIVED_DIR / "charts").symlink_to(charts)
    settings.LLM_JOURNAL_DIR = tmp_path / "prelabels"
    settings.LLM_API_KEY = ""
    settings.JOB_BEAT_SECONDS = 0
    immediate = {"BACKEND": "django_tasks.backends.immediate.ImmediateBackend"}
    settings.TASKS = {"default": settings.TASKS["default"] | immediate}
    # Each client of a test has middleware of its own, which need not look at all static files when it starts.
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture
def everyone_creates(settings: Settings) -> None:
    """Everyone with an account may create collections."""
    settings.COLLECTION_CREATORS = "everyone"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hide the loop of an open browser, which goes on in this thread, from the tests without one.

    No other loop could start beside it. From before a test's fixtures until after them, because Django keeps
    one connection for code with a loop and another for code without.
    """
    loop = None if "browser" in getattr(item, "fixturenames", ()) else events._get_running_loop()
    if loop is None:
        return (yield)
    events._set_running_loop(None)
    try:
        return (yield)
    finally:
        events._set_running_loop(None if loop.is_closed() else loop)


@pytest.fixture(scope="session")
def migrated_database(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite database with every migration applied and nothing in it, to be copied."""
    copied = tmp_path_factory.mktemp("migrated") / "migrated.sqlite3"
    # Without the plugin (`-p no:cacheprovider`) nothing is kept for the next run.
    cache = getattr(pytestconfig, "cache", None)
    kept = cache.mkdir("migrated") if cache else tmp_path_factory.mktemp("kept")
    copy_migrated_database(kept, copied)
    return copied


@pytest.fixture
def data_folder(tmp_path: Path, migrated_database: Path) -> Path:
    """A data folder whose database is migrated, for a command that a test starts."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(migrated_database, folder / "soundings.sqlite3")
    return folder


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, request: pytest.FixtureRequest) -> None:
    """Keep SQLite's test database in a file: threads and the live server need connections of their own."""
    from django.db import connection

    if connection.vendor == "sqlite":
        path = request.getfixturevalue("migrated_database").with_name("test.sqlite3")
        shutil.copy(path.with_name("migrated.sqlite3"), path)
        connection.settings_dict["TEST"]["NAME"] = str(path)


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb: bool) -> bool:
    """The copy on SQLite is used as it is; `migrate` runs on it as well, and finds nothing to do."""
    from django.db import connection

    return django_db_keepdb or connection.vendor == "sqlite"


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """The cast and their tiny collection; see `tests/world.py`."""
    folder = tmp_path / "world"
    folder.mkdir()
    return make_world(folder)
