"""What compose.yaml starts, by its own commands and variables, on a database and a cache of this machine."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from threading import Event, Thread

import pytest
import yaml

from tests.faults import postgres
from tests.faults.site import Site, running
from tests.patience import PATIENCE_SECONDS
from tests.soundings.processes import ROOT, manage, start

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(postgres.missing()), reason=postgres.missing()),
]
# A site whose cache is away computes anew.
CACHE = os.environ.get("SOUNDINGS_TEST_REDIS", "redis://127.0.0.1:6379/9")
HOST = "labels.example.org"


def test_a_site_of_containers_works_and_its_backup_under_load_has_every_verdict(tmp_path: Path) -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    web, worker = services["web"], services["worker"]
    assert web["environment"] == worker["environment"]
    with postgres.own_server() as server:
        here = {"DATABASE_URL": server.url, "CACHE_URL": CACHE, "SOUNDINGS_HOSTS": HOST}
        assert here.keys() < web["environment"].keys()
        variables = {name: str(value) for name, value in web["environment"].items()} | here
        # As the proxy asks.
        site = Site(tmp_path, variables, headers={"Host": HOST, "X-Forwarded-Proto": "https"})
        with running(site, command=web["command"][1:]):
            site.prepare(documents=40)
            working = start(tmp_path, *worker["command"][1:], **variables)
            try:
                task = site.work()
                stored = backed_up(site, tmp_path / "taken.zip", variables)
                site.wait_for(task)
            finally:
                working.terminate()
                working.communicate(timeout=PATIENCE_SECONDS)
    restored = tmp_path / "restored"
    done = manage(restored, "restore", str(tmp_path / "taken.zip"))
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(restored / "soundings.sqlite3") as database:
        keys = {key for (key,) in database.execute("SELECT key FROM labeling_judgmentevent")}
    assert len(stored) >= 5
    assert stored <= keys


def backed_up(site: Site, file: Path, variables: dict[str, str]) -> set[str]:
    """Take a backup while somebody judges; the keys of verdicts that were acknowledged before it."""
    acknowledged: list[str] = []
    some, end = Event(), Event()

    def judge() -> None:
        while not end.is_set() and (items := site.claim(size=5)):
            for number, item in enumerate(items, len(acknowledged)):
                assert site.submit(item, key=f"key-{number}").body["results"][0]["status"] == "stored"
                acknowledged.append(f"key-{number}")
            some.set()

    judging = Thread(target=judge)
    judging.start()
    try:
        assert some.wait(PATIENCE_SECONDS)
        before = set(acknowledged)
        done = manage(site.folder, "backup", str(file), **variables)
    finally:
        end.set()
        judging.join()
    assert done.returncode == 0, done.stderr
    return before
