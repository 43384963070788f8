"""A whole site in processes of its own, with temporary data, that faults can be done to."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_SECONDS, wait_until
from tests.soundings.processes import ROOT, children_of, environment, free_port

PREPARE = Path(__file__).with_name("prepare.py")
_keys = count(1)


@dataclass
class Answer:
    """A status and the JSON object that came with it."""

    status: int
    body: Any


@dataclass
class Site:
    """A folder, a database address (SQLite in the folder without one) and, while it runs, a server."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    port: int = 0
    server: subprocess.Popen[bytes] | None = None
    tokens: dict[str, str] = field(default_factory=dict)
    queue: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def run(self, code: str) -> Any:
        """Run Python with Django set up on the site's database; what it prints is JSON."""
        command = [sys.executable, "-c", f"import django; django.setup()\n{code}"]
        done = subprocess.run(
            command, capture_output=True, text=True, env=self._environment(), timeout=PATIENCE_SECONDS
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def copy(self, folder: Path) -> Site:
        """The same site, prepared and not running, in a folder that is made for it (SQLite)."""
        shutil.copytree(self.folder, folder)
        return Site(folder, tokens=self.tokens, queue=self.queue)

    def prepare(self, documents: int) -> None:
        """Make the tables, people and a queue."""
        facts = self.run(f"documents_each = {documents}\n{PREPARE.read_text()}")
        self.tokens, self.queue = facts["tokens"], facts["queue"]

    def start(self, *prefix: str) -> None:
        """Start the web server as `serve` does, and wait until it answers."""
        self.port = free_port()
        command = [
            *prefix,
            sys.executable,
            "-m",
            "soundings.serving.web",
            "--config",
            "python:soundings.serving.gunicorn_settings",
        ]
        command += ["--bind", f"127.0.0.1:{self.port}", "--workers", "2"]
        self._start(command)

    def serve(self, *prefix: str) -> None:
        """Start everything with `serve`, and wait until it says where it is."""
        self.port = free_port()
        command = [*prefix, sys.executable, str(ROOT / "manage.py"), "serve", "--no-migrate"]
        self._start([*command, "--port", str(self.port), "--workers", "1"])
        wait_until(lambda: "Soundings is at" in self.log())

    def log(self) -> str:
        """What the server has written so far."""
        return (self.folder / "server.log").read_text(errors="replace")

    def processes(self) -> set[int]:
        """The processes that `serve` keeps, and theirs."""
        assert self.server is not None
        return children_of(self.server.pid)

    def command(self, arguments: list[str]) -> None:
        """Start what a container does: a command of ours, at a port of this machine."""
        self.port = free_port()
        command = [sys.executable, str(ROOT / "manage.py"), *arguments, "--host", "127.0.0.1"]
        self._start([*command, "--port", str(self.port)])

    def _start(self, command: list[str]) -> None:
        with (self.folder / "server.log").open("ab") as log:
            self.server = subprocess.Popen(
                command, cwd=ROOT, env=self._environment(), start_new_session=True, stdout=log, stderr=log
            )
        wait_until(self.answers)

    def kill(self) -> None:
        """SIGKILL to the server and all of its processes: nobody gets to finish anything."""
        assert self.server is not None
        for pid in {self.server.pid, *children_of(self.server.pid)}:
            os.kill(pid, signal.SIGKILL)
        self.server.wait(PATIENCE_SECONDS)
        self.server = None

    def post(self, path: str, body: Any, person: str = "ben") -> Answer:
        """Send `body` to an address below the queue's; `OSError` or `HTTPException` when no answer comes."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        headers = {"Content-Type": "application/json", "Authorization": f"Token {self.tokens[person]}"}
        headers |= self.headers
        try:
            connection.request("POST", f"/api/queues/{self.queue}/{path}/", json.dumps(body), headers)
            response = connection.getresponse()
            return Answer(response.status, json.loads(response.read()))
        finally:
            connection.close()

    def claim(self, person: str = "ben", size: int = 10) -> list[dict[str, Any]]:
        """The items that a claim gives."""
        items: list[dict[str, Any]] = self.post("claim", {"count": size}, person).body["items"]
        return items

    def submit(self, item: dict[str, Any], person: str = "ben", key: str = "") -> Answer:
        """Send a verdict on a claimed item."""
        verdict = {"item": item["item"], "lease": item["lease"], "version": item["version"]}
        body = verdict | {"key": key or new_key(), "verdict": "relevant"}
        return self.post("judgments", [body], person)

    def stored(self) -> dict[str, Any]:
        """What the database says: event keys, judgments, and the items whose counters are not true."""
        facts: dict[str, Any] = self.run(LOOK)
        return facts

    def work(self) -> str:
        """Hand a task to the background worker; its key."""
        key: str = self.run(HAND_OVER)
        return key

    def wait_for(self, key: str) -> None:
        """Until the background worker has done a task."""
        self.run(f"task = {key!r}\n{WAIT_FOR_TASK}")

    def _environment(self) -> dict[str, str]:
        paths = {"PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "soundings.settings"}
        return environment(self.folder, **paths, **self.variables)

    def answers(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request("GET", "/health/", headers=self.headers)
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()


# A counter is true when it says what judgments and leases say; an item that has more than it needs is not.
LOOK = """
import json
from collections import Counter
from labeling.models import Item, Judgment, JudgmentEvent, Lease
judged = Counter(Judgment.objects.values_list("query", "document"))
leased = Counter(Lease.objects.values_list("item", flat=True))

def is_true(item):
    done = min(item.needed, judged[item.query_id, item.document_id])
    return (item.done, item.leased) == (done, leased[item.pk]) and done + item.leased <= item.needed

events = JudgmentEvent.objects.filter(kind="verdict")
print(json.dumps({
    "keys": list(events.values_list("key", flat=True)),
    "judgments": list(Judgment.objects.values_list("event__key", flat=True)),
    "untrue": [item.pk for item in Item.objects.all() if not is_true(item)],
}))
"""


HAND_OVER = """
import json
from pooling.tidying.erasing import erase_in_background
print(json.dumps(erase_in_background.enqueue().id))
"""
WAIT_FOR_TASK = """
import time
from django_tasks_db.models import DBTaskResult
while DBTaskResult.objects.get(pk=task).status != "SUCCESSFUL":
    time.sleep(0.1)
print("true")
"""


def new_key() -> str:
    """A key that no other verdict of this process has."""
    return f"key-{os.getpid()}-{next(_keys)}"


@contextmanager
def running(
    site: Site, *prefix: str, whole: bool = False, command: list[str] | None = None
) -> Iterator[Site]:
    """Start the web server of a site, `serve` as a whole, or a command of ours; what is left is killed."""
    if command:
        site.command(command)
    elif whole:
        site.serve()
    else:
        site.start(*prefix)
    try:
        yield site
    finally:
        if site.server is not None:
            site.kill()
