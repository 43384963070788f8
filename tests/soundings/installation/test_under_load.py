"""A backup taken while people judge has every verdict that was acknowledged before it began."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from soundings.client.client import Client
from soundings.client.problems import Problem
from tests.patience import PATIENCE_SECONDS
from tests.soundings.processes import children_of, free_port, manage, start


@pytest.fixture
def data_folder(demo: tuple[Path, str], tmp_path: Path) -> Path:
    return shutil.copytree(demo[0], tmp_path / "data")


@pytest.fixture
def site(demo: tuple[Path, str], data_folder: Path) -> Iterator[tuple[Client, int]]:
    """The demo, served: a client of its annotator, and the process."""
    (password,) = re.findall(r"demo-annotator\s+password (\S+)", demo[1])
    port = free_port()
    process = start(data_folder, "serve", "--port", str(port))
    try:
        assert process.stdout is not None
        next(line for line in process.stdout if f":{port}" in line)
        with Client.signed_in(f"http://127.0.0.1:{port}", "demo-annotator", password) as client:
            yield client, process.pid
    finally:
        kill(process.pid)
        process.communicate()


def kill(pid: int) -> None:
    for each in {pid, *children_of(pid)}:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            continue


@pytest.mark.slow
def test_acknowledged_verdicts_outlive_a_killed_site(
    site: tuple[Client, int], data_folder: Path, tmp_path: Path
) -> None:
    client, pid = site
    queue = client.collection("demo").queue("lsa-2 and deeper")
    acknowledged: list[str] = []
    some, end = Event(), Event()

    def judge() -> None:
        for item in iter(lambda: next(iter(queue.claim(1)), None), None):
            key = f"key-{item['item']}"
            verdict = {"item": item["item"], "version": item["version"], "lease": item["lease"], "key": key}
            try:
                (outcome,) = queue.judge([{**verdict, "verdict": "relevant"}])  # type: ignore[typeddict-item]
            except (Problem, OSError):
                return
            assert outcome["status"] == "stored"
            acknowledged.append(key)
            if len(acknowledged) == 5:
                some.set()
            if end.wait(0.2):
                return
        some.set()

    judging = Thread(target=judge)
    judging.start()
    assert some.wait(PATIENCE_SECONDS)
    before = list(acknowledged)
    backup = tmp_path / "taken.zip"
    done = manage(data_folder, "backup", str(backup))
    end.set()
    judging.join()
    kill(pid)
    assert done.returncode == 0, done.stderr
    restored = tmp_path / "restored"
    done = manage(restored, "restore", str(backup))
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(restored / "soundings.sqlite3") as database:
        stored = {key for (key,) in database.execute("SELECT key FROM labeling_judgmentevent")}
    assert len(before) >= 5
    assert set(before) <= stored
