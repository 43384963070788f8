"""Fixtures for every test: the world, and settings that keep tests quick and away from the real data."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import shutil
import sys
import tempfile
from asyncio import events
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from django.conf import settings as settings_now
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.middleware.csrf import CSRF_SECRET_LENGTH
from django.test import Client, TransactionTestCase, override_settings
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis.internal.conjecture import providers
from pytest_django import DjangoDbBlocker, Settings

from tests.database import database_for_tests, empty_tables, make_migrated_databases, migrated_file
from tests.evaluation.cast import make_report
from tests.ground import Ground, made_once, makes_of
from tests.processor_time import OPTION, ProcessorTime, longest
from tests.reading import Reading
from tests.soundings.processes import manage
from tests.world import World, make_world

# What was compiled is kept, also where the environment says otherwise: each worker would compile all tests
# for ten seconds, and each command that a test starts would compile the site.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# ranx, with which our figures are compared, would compile for twenty seconds to compute for a millisecond.
os.environ["NUMBA_DISABLE_JIT"] = "1"
# Workers share the cores already, and tables of tests are small.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

# A busy machine is no reason to fail: no example of a property test is held against the clock. The examples
# are the same in each run, so that no change fails by chance, and few; `make fuzz` tries fresh and more.
hypothesis_settings.register_profile("fresh", deadline=None, suppress_health_check=[HealthCheck.too_slow])
FRESH = hypothesis_settings.get_profile("fresh")
hypothesis_settings.register_profile("same", FRESH, derandomize=True, max_examples=30)
hypothesis_settings.load_profile("same")
# Hypothesis would read all modules that are loaded, for seconds, and try their constants too: the examples
# would hang on every change of the code, and on which tests ran before.
providers._get_local_constants = lambda: providers._local_constants


GROUND = pytest.StashKey[Ground]()
ASK_DATABASE = {"db", "transactional_db", "live_server"}
# How many of the tests that took the most processor time are named at the end.
NAMED = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="A test that takes more and is not slow fails.")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessorTime())
    config.pluginmanager.register(Reading())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What asks for the database is what another database can break, unless the test says otherwise."""
    for item in items:
        is_asked = item.get_closest_marker("django_db") or ASK_DATABASE & set(
            getattr(item, "fixturenames", ())
        )
        if is_asked and not item.get_closest_marker("anywhere"):
            item.add_marker("database")
    # Within a file, those that begin with the same follow each other: it is made once.
    files = {item.path: number for number, item in reversed(list(enumerate(items)))}
    items.sort(key=lambda item: (files[item.path], [make.__qualname__ for make in makes_of(item)]))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before the test's own transaction begins."""
    ground = item.config.stash.get(GROUND, None)
    if ground and "django_db_blocker" in getattr(item, "fixturenames", ()):
        ground.stand_on(makes_of(item))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption(OPTION):
        terminalreporter.section("most processor time")
        reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
        terminalreporter.write_line("\n".join(longest(reports, NAMED)))


@pytest.fixture(scope="session", autouse=True)
def _alike(django_test_environment: None) -> Iterator[None]:
    """Set once what is the same for all tests: each fixture here takes time for each test, and all parts of
    Django hear of each change of a setting.
    """
    tasks = settings_now.TASKS["default"] | {"BACKEND": "django_tasks.backends.immediate.ImmediateBackend"}
    quick = override_settings(
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        LLM_API_KEY="",
        JOB_BEAT_SECONDS=0,
        TASKS={"default": tasks},
        # Each client has middleware of its own, which need not look at all static files when it starts.
        WHITENOISE_AUTOREFRESH=True,
    )
    with quick, pytest.MonkeyPatch.context() as patch:
        # A page's hidden token spells nothing: a test looked for `n1` on a page, and a random token held it.
        patch.setattr("django.middleware.csrf._get_new_csrf_string", lambda: "A" * CSRF_SECRET_LENGTH)
        # A browser that is signed in needs no session from before, which would be thrown away.
        patch.setattr(Client, "_login", _signed_in)
        # A test that commits leaves no row, and no table is filled anew.
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: empty_tables())
        # Reports of the one collection have the same pictures again and again; no library draws them twice.
        for name in ("vegalite_to_svg", "vegalite_to_png", "vegalite_to_pdf"):
            patch.setattr(vl_convert, name, _kept(getattr(vl_convert, name)))
        yield


@pytest.fixture(autouse=True)
def _apart(settings: Settings, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    translation.deactivate()  # what the test before in this process spoke
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DERIVED_DIR = tmp_path.with_name(f"{tmp_path.name}-derived")
    settings.DERIVED_DIR.mkdir()
    charts = tmp_path_factory.getbasetemp() / "charts"  # a script that takes seconds to make
    charts.mkdir(exist_ok=True)
    (settings.DERIVED_DIR / "charts").symlink_to(charts)
    settings.LLM_JOURNAL_DIR = tmp_path / "prelabels"


def pytest_collection_finish() -> None:
    """Python looks for garbage less often, and never among modules: a seventh of the processor time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _signed_in(client: Client, user: User, backend: str | None = None) -> None:
    """Sign in as Django's test client does, but for the session that it makes first and deletes."""
    request = HttpRequest()
    engine = import_module(settings_now.SESSION_ENGINE)
    is_new = settings_now.SESSION_COOKIE_NAME not in client.cookies
    request.session = engine.SessionStore() if is_new else client.session
    login(request, user, backend)
    request.session.save()
    client._set_login_cookies(request)


def _kept(draw: Callable[..., Any]) -> Callable[..., Any]:
    drawn: dict[str, Any] = {}

    def kept(specification: Any, **options: Any) -> Any:
        name = json.dumps([specification, options])
        if name not in drawn:
            drawn[name] = draw(specification, **options)
        return drawn[name]

    return kept


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


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Before the first worker starts: no two of them migrate at the same moment."""
    node.workerinput["migrated"] = str(_migrated(node.config))


def _migrated(config: pytest.Config) -> Path:
    """The folder with the migrated database, which a run without workers makes when it is first asked for."""
    if given := getattr(config, "workerinput", {}).get("migrated"):
        return Path(given)
    # Without the plugin (`-p no:cacheprovider`) nothing is kept for the next run.
    cache = getattr(config, "cache", None)
    kept = cache.mkdir("migrated") if cache else Path(tempfile.mkdtemp())
    make_migrated_databases(kept)
    return kept


@pytest.fixture(scope="session")
def migrated_database(pytestconfig: pytest.Config) -> Path:
    """An SQLite database with every migration applied and nothing in it, to be copied."""
    return migrated_file(_migrated(pytestconfig))


@pytest.fixture
def data_folder(tmp_path: Path, migrated_database: Path) -> Path:
    """A data folder whose database is migrated, for a command that a test starts."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(migrated_database, folder / "soundings.sqlite3")
    return folder


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> tuple[Path, str]:
    """The data folder of one demo for all workers, to be copied, and what the demo printed."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, printed = base / "demo", base / "demo.txt"
    with (base / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            folder.mkdir()
            shutil.copy(migrated_database, folder / "soundings.sqlite3")
            done = manage(folder, "demo", "--no-serve")
            assert (done.returncode, done.stderr) == (0, "")
            printed.write_text(done.stdout)
    return folder, printed.read_text()


@pytest.fixture(scope="session")
def django_db_setup(
    pytestconfig: pytest.Config,
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """This worker's database is a copy of the migrated one.

    On SQLite a file: threads and the live server need connections of their own.
    """
    from django.db import connection

    worker = getattr(pytestconfig, "workerinput", {}).get("workerid", "alone")
    name = f"test_{connection.settings_dict['NAME']}_{worker}"
    if connection.vendor == "sqlite":
        name = str(tmp_path_factory.mktemp("database") / "test.sqlite3")
    with django_db_blocker.unblock(), database_for_tests(_migrated(pytestconfig), name):
        ground = pytestconfig.stash[GROUND] = Ground(django_db_blocker.unblock)
        yield
        ground.stand_on([])


@pytest.fixture(scope="session")
def ground(django_db_setup: None, pytestconfig: pytest.Config) -> Ground:
    return pytestconfig.stash[GROUND]


def _world(ground: Ground, db: None, tmp_path: Path) -> World:
    """The cast and their tiny collection; see `tests/world.py`."""
    if ground.has(make_world):
        return ground.give(make_world, tmp_path)
    folder = tmp_path / "world"
    folder.mkdir()
    return make_world(folder)


_world.make = make_world
world = pytest.fixture(name="world")(_world)
# On both runs, with a label for every pair.
report = made_once(make_report)
