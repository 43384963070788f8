"""Faults done to `serve`: what ends is started again by itself, the rest goes on, and nothing outlives it."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.faults import postgres
from tests.faults.site import Site, running
from tests.patience import wait_until
from tests.soundings.processes import command_of, is_alive

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes where Linux shows them"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Iterator[Site]:
    """A whole site on SQLite."""
    site = Site(tmp_path_factory.mktemp("site"), {"SOUNDINGS_GOLD_SHARE": "0.1"})
    shutil.copy(migrated_database, site.folder / "soundings.sqlite3")
    site.prepare(documents=10)
    with running(site, whole=True):
        yield site


def process(site: Site, module: str) -> int:
    """The one that `serve` keeps; of gunicorn's the first, which starts the other."""
    return min(pid for pid in site.processes() if module in command_of(pid))


def is_restarted(site: Site, before: int, module: str = "serving.work") -> bool:
    """Whether a process has ended and another one is in its place."""
    return not is_alive(before) and any(module in command_of(pid) for pid in site.processes())


def test_a_variable_that_is_no_setting_is_named_at_the_start(site: Site) -> None:
    assert "SOUNDINGS_GOLD_SHARE is set and is no setting" in site.log()


def test_a_web_server_that_is_killed_is_started_again_and_the_worker_goes_on(site: Site) -> None:
    worker, web = process(site, "serving.work"), process(site, "serving.web")
    os.kill(web, signal.SIGKILL)
    wait_until(lambda: "The web server stopped (code -9); starting it again in 1 s." in site.log())
    wait_until(lambda: is_restarted(site, web, "serving.web"))
    wait_until(site.answers)
    assert process(site, "serving.work") == worker


def test_a_worker_that_is_killed_while_the_database_is_locked_is_started_again_and_works(site: Site) -> None:
    worker = process(site, "serving.work")
    lock = sqlite3.connect(site.folder / "soundings.sqlite3", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    try:
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: is_restarted(site, worker))
        assert site.answers()  # it only reads
    finally:
        lock.close()
    # Handed over only now: a task that was taken before the lock would be lost with the worker.
    site.wait_for(site.work())


def test_a_site_on_a_full_disk_goes_on_and_works_when_there_is_room_again(site: Site) -> None:
    assert site.server is not None
    keeper, worker = site.server.pid, process(site, "serving.work")

    def room(bytes_each: int) -> None:
        """As much as each file may have, of all processes and of those that are started from now on."""
        for pid in (keeper, *site.processes()):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (bytes_each, resource.RLIM_INFINITY))

    room(1)
    assert site.post("claim", {"count": 1}).status == 503
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: is_restarted(site, worker))
    room(resource.RLIM_INFINITY)
    assert site.post("claim", {"count": 1}).status == 200
    task = site.work()
    site.wait_for(task)
    assert site.server.poll() is None


@pytest.mark.skipif(bool(postgres.missing()), reason=postgres.missing())
def test_a_site_whose_database_is_away_goes_on_when_it_is_back(tmp_path: Path) -> None:
    with postgres.own_server() as server:
        site = Site(tmp_path, {"DATABASE_URL": server.url})
        site.prepare(documents=10)
        with running(site, whole=True):
            assert sum("serving.work" in command_of(pid) for pid in site.processes()) == 3
            server.stop("immediate")
            wait_until(lambda: site.log().count("looking for work: ") >= 3)  # each of the three has noticed
            for module in ("serving.web", "serving.work"):
                ended = process(site, module)
                os.kill(ended, signal.SIGKILL)
                wait_until(partial(is_restarted, site, ended, module))
            server.start()
            wait_until(site.answers)
            task = site.work()
            site.wait_for(task)


@pytest.mark.parametrize("whom", ["serve", "serve and gunicorn"])
def test_nothing_outlives_a_serve_that_is_killed(whom: str, tmp_path: Path, migrated_database: Path) -> None:
    site = Site(tmp_path)
    shutil.copy(migrated_database, site.folder / "soundings.sqlite3")
    with running(site, whole=True):
        assert site.server is not None
        kept, web = site.processes(), process(site, "serving.web")
        assert len(kept) == 3
        os.kill(site.server.pid, signal.SIGKILL)
        if whom == "serve and gunicorn":
            os.kill(web, signal.SIGKILL)
        site.server.wait()
        site.server = None
        wait_until(lambda: not any(map(is_alive, kept)))
        site.serve()  # the folder is free again
