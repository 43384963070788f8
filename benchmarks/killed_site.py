"""The processes of `bench_kills`, what is asked of them, and what became of it."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import psycopg

from benchmarks.judging_load import Connection
from benchmarks.judging_site import PASSWORD, Site, import_all, make_people
from tests.object_store import BUCKET, KEYS
from tests.soundings.processes import ROOT, free_port

ANNOTATORS = 8
QUERIES, DEPTH = 100, 100
# A corpus that the worker is busy with for some seconds.
IMPORTED = 40_000
DOWN_SECONDS = 5.0
PATIENCE_SECONDS = 10.0
JOB_PATIENCE_SECONDS = 120.0
KINDS = ("web-1", "web-2", "worker", "Redis", "S3", "PostgreSQL")
FINISHED = ("done", "failed", "cancelled")


@dataclass
class Killed:
    """What became of the load around one kill."""

    kind: str
    verdicts: int = 0
    lost: int = 0
    longest_gap: float = 0.0
    jobs: int = 0
    unended: int = 0
    job_seconds: list[float] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    stayed_signed_in: bool = True

    def told(self) -> str:
        """How jobs ended, and what was refused meanwhile."""
        ends = ", ".join(f"{count} {name}" for name, count in sorted(self.ends.items()))
        refused = ", ".join(f"{count} × {name}" for name, count in sorted(self.refused.items()))
        return f"jobs: {ends or 'none'}; refused and tried again: {refused or 'nothing'}"


class Process:
    """A process that is started again when it ends, as a container with `restart: unless-stopped` is."""

    def __init__(self, name: str, command: list[str], log: Path, **variables: str) -> None:
        self.name, self.command, self.log, self.variables = name, command, log, variables
        self.child: subprocess.Popen[bytes] | None = None
        self.may_start_at = 0.0
        self.restarts = 0

    def keep(self) -> None:
        """Start it where it does not run and may."""
        if (self.child is None or self.child.poll() is not None) and time.monotonic() >= self.may_start_at:
            self.restarts += self.child is not None
            with self.log.open("ab") as log:
                self.child = subprocess.Popen(
                    self.command, stdout=log, stderr=log, cwd=ROOT, env=os.environ | self.variables
                )
            self.may_start_at = time.monotonic() + 1

    def kill(self) -> None:
        """End it as a machine that fails does; it is away for some seconds."""
        assert self.child is not None
        self.child.kill()
        self.child.wait()
        self.may_start_at = time.monotonic() + DOWN_SECONDS

    def stop(self) -> None:
        self.may_start_at = float("inf")
        if self.child is not None:
            self.child.kill()
            self.child.wait()


class TeamSite:
    """All processes, and the accounts that use them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = {name: free_port() for name in ("web-1", "web-2", "Redis", "S3", "PostgreSQL")}
        self.processes: dict[str, Process] = {}
        self.tokens: list[str] = []
        self.owner = ""
        self.session = ""
        self.queue = 0
        self.imported = 0

    # --- The processes ---

    def start_services(self) -> None:
        """PostgreSQL, Redis and object storage."""
        binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        data = self.folder / "postgresql"
        data.mkdir()
        shutil.chown(data, "postgres")
        as_owner = ["runuser", "-u", "postgres", "--"]
        made = [*as_owner, str(binaries / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
        # In a namespace of its own, so that all its processes end with it, as in a container.
        served = [*as_owner, str(binaries / "postgres"), "-D", str(data), "-p", str(self.ports["PostgreSQL"])]
        self._add(
            "PostgreSQL", [*contained("database"), *served, "-k", str(data), "-c", "max_connections=200"]
        )
        redis = ["redis-server", "--port", str(self.ports["Redis"]), "--save", "", "--bind", "127.0.0.1"]
        self._add("Redis", redis)
        port = str(self.ports["S3"])
        self._add("S3", [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", port])
        self.keep()
        wait_for("PostgreSQL", self._make_database)
        wait_for("S3", self._make_bucket)

    def start_halves(self) -> None:
        """Two web processes and two workers."""
        serve = [sys.executable, str(ROOT / "manage.py"), "serve", "--no-migrate", "--only"]
        for name in ("web-1", "web-2"):
            self._add(name, [*contained(name), *serve, "web", "--port", str(self.ports[name])])
        for name in ("worker-1", "worker-2"):
            self._add(name, [*contained(name), *serve, "worker"])
        self.keep()
        for name in ("web-1", "web-2"):
            wait_for(name, lambda name=name: self._get(name, "/health/").status_code == 200, seconds=240)

    def _add(self, name: str, command: list[str]) -> None:
        log = self.folder / f"{name}.log"
        self.processes[name] = Process(name, command, log, PYTHONPATH=str(ROOT))

    def keep(self) -> None:
        for process in self.processes.values():
            process.keep()

    def stop(self) -> None:
        for process in reversed(self.processes.values()):
            process.stop()

    def environment(self) -> dict[str, str]:
        """What every process of the site is told."""
        files = self.folder / "data"
        return KEYS | {
            "SOUNDINGS_DATA": str(files),
            "DJANGO_SETTINGS_MODULE": "soundings.settings",
            "DATABASE_URL": f"postgres://postgres@127.0.0.1:{self.ports['PostgreSQL']}/team",
            "CACHE_URL": f"redis://127.0.0.1:{self.ports['Redis']}/0",
            "SOUNDINGS_FILE_STORAGE": f"s3://{BUCKET}?endpoint=http://127.0.0.1:{self.ports['S3']}",
            "SOUNDINGS_BACKGROUND_UPLOAD_BYTES": "100000",
        }

    def _make_database(self) -> bool:
        url = f"postgres://postgres@127.0.0.1:{self.ports['PostgreSQL']}/postgres"
        with psycopg.connect(url, autocommit=True, connect_timeout=2) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'team'").fetchone():
                connection.execute("CREATE DATABASE team")
        return True

    def _make_bucket(self) -> bool:
        url = f"http://127.0.0.1:{self.ports['S3']}/{BUCKET}"
        return httpx2.put(url, timeout=5).status_code == 200

    def _get(self, name: str, path: str, **options: Any) -> httpx2.Response:
        return httpx2.get(f"http://127.0.0.1:{self.ports[name]}{path}", timeout=PATIENCE_SECONDS, **options)

    # --- What is in it ---

    def fill(self) -> None:
        """Accounts, a queue, a session."""
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        from django.contrib.auth.models import User
        from django.db import connections

        from labeling.models import Queue
        from soundings.accounts.tokens import make_token

        site = Site(self.folder, "team")
        collection = make_people(site, ANNOTATORS)
        import_all(collection, self.folder / "files", QUERIES, DEPTH)
        self.tokens = site.tokens
        self.owner = make_token(User.objects.get(username="owner")).token
        self.queue = Queue.objects.get(collection=collection, name="queue").pk
        connections.close_all()

    def sign_in(self) -> None:
        """A session of the owner, as a browser has it."""
        with httpx2.Client(base_url=f"http://127.0.0.1:{self.ports['web-1']}", timeout=30) as browser:
            browser.get("/sign-in/")
            form = {"username": "owner", "password": PASSWORD}
            form["csrfmiddlewaretoken"] = browser.cookies["csrftoken"]
            answer = browser.post("/sign-in/", data=form)
            assert answer.status_code == 302, answer.text
            self.session = browser.cookies["sessionid"]

    def is_signed_in(self) -> bool:
        """Whether the home page of that session is shown by both web processes, within a minute."""

        def shown() -> bool:
            answers = [
                self._get(name, "/", cookies={"sessionid": self.session}) for name in ("web-1", "web-2")
            ]
            if any(answer.status_code == 302 for answer in answers):
                raise PermissionError("signed out")
            return all(answer.status_code == 200 for answer in answers)

        with suppress(SystemExit, PermissionError):
            wait_for("the home page", shown, self.keep)
            return True
        return False

    # --- The load ---

    async def kill_under_load(self, kind: str, seconds: float) -> Killed:
        """Judge and import for some seconds, with a kill after a third of them; then look what is there."""
        found = Killed(kind)
        until = time.monotonic() + seconds
        acknowledged: list[tuple[float, str]] = []
        people = [
            asyncio.create_task(self._judge(number, until, acknowledged, found))
            for number in range(len(self.tokens))
        ]
        jobs = [await asyncio.to_thread(self._start_import, found)]
        await asyncio.sleep(seconds / 3)
        victim = await asyncio.to_thread(self._worker_of, jobs[0]) if kind == "worker" else kind
        killed_at = time.monotonic()
        await asyncio.to_thread(self.processes[victim].kill)
        jobs.append(await asyncio.to_thread(self._start_import, found, again=True))
        while time.monotonic() < until:
            self.keep()
            await asyncio.sleep(0.2)
        await asyncio.gather(*people)
        found.stayed_signed_in = await asyncio.to_thread(self.is_signed_in)
        await asyncio.to_thread(self._look_at_jobs, jobs, killed_at, found)
        await asyncio.to_thread(self._count, acknowledged, found)
        return found

    async def _judge(
        self, number: int, until: float, acknowledged: list[tuple[float, str]], found: Killed
    ) -> None:
        """One annotator, whose browser tries again, at the other web process too, until it is answered."""
        chance = random.Random(number)
        connections = [Connection(self.ports[name], self.tokens[number]) for name in ("web-1", "web-2")]

        async def answer(path: str, body: Any) -> Any:
            while time.monotonic() < until + 60:
                connection = connections[chance.randrange(2)]
                try:
                    status, told = await asyncio.wait_for(connection.post(path, body), PATIENCE_SECONDS)
                except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                    found.refused[type(error).__name__] += 1
                    connection.close()
                    await asyncio.sleep(0.3)
                    continue
                if status == 200:
                    return told
                found.refused[f"status {status}"] += 1
                await asyncio.sleep(0.3)
            return None

        place = 0
        while time.monotonic() < until:
            told = await answer(f"/api/queues/{self.queue}/claim/", {"count": 1})
            if not told or not told["items"]:
                break
            item = told["items"][0]
            place += 1
            key = f"{found.kind}-{number}-{place}-{item['item']}"
            body = {"key": key, "verdict": chance.choice(["relevant", "not_relevant"]), "shown": "passage"}
            body |= {name: item[name] for name in ("item", "version", "lease")}
            told = await answer(f"/api/queues/{self.queue}/judgments/", [body])
            if told and told["results"][0]["status"] != "rejected":
                acknowledged.append((time.monotonic(), key))
            await asyncio.sleep(0.05)
        for connection in connections:
            connection.close()

    def _start_import(self, found: Killed, *, again: bool = False) -> int:
        """Send a corpus whose import takes the worker some seconds, until a job answers for it."""
        self.imported += 1
        count = IMPORTED // 20 if again else IMPORTED
        lines = (
            json.dumps({"_id": f"i{self.imported}-{number}", "title": "", "text": f"tide {number} " * 20})
            for number in range(count)
        )
        content = "\n".join(lines).encode()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            name = random.Random(self.imported).choice(["web-1", "web-2"])
            try:
                answer = httpx2.post(
                    f"http://127.0.0.1:{self.ports[name]}/api/collections/bench/documents/",
                    headers={"Authorization": f"Token {self.owner}"},
                    files={"file": ("corpus.jsonl", content)},
                    timeout=PATIENCE_SECONDS * 3,
                )
            except httpx2.HTTPError as error:
                found.refused[f"import {type(error).__name__}"] += 1
            else:
                if answer.status_code == 202:
                    return int(answer.json()["job"])
                found.refused[f"import {answer.status_code}"] += 1
            self.keep()
            with suppress(httpx2.HTTPError):
                self._make_bucket()  # the server keeps nothing on a disk
            time.sleep(0.5)
        raise SystemExit("No import was taken within a minute.")

    def _worker_of(self, job: int) -> str:
        """The host name of the worker that does a job."""
        from pooling.models import Job

        def taken() -> bool:
            return Job.objects.get(pk=job).worker != ""

        wait_for("a worker that takes the job", taken, self.keep)
        return Job.objects.get(pk=job).worker.partition(":")[0]

    def _look_at_jobs(self, jobs: list[int], killed_at: float, found: Killed) -> None:
        """Wait for the end of each job, and start those again whose worker was killed."""
        from django.db import connections

        waiting = dict.fromkeys(jobs, "")
        deadline = time.monotonic() + JOB_PATIENCE_SECONDS
        while waiting and time.monotonic() < deadline:
            self.keep()
            for job, how in list(waiting.items()):
                told = self._told(job)
                if not told or told["state"] not in FINISHED:
                    continue
                del waiting[job]
                found.jobs += not how
                if not how:
                    found.job_seconds.append(time.monotonic() - killed_at)
                is_interrupted = told["state"] == "failed" and "stopped" in told["detail"]
                found.ends[("interrupted" if is_interrupted else told["state"]) + how] += 1
                if is_interrupted:
                    waiting |= dict.fromkeys(self._resumed(job, found), " when started again")
                elif told["state"] == "failed":
                    found.refused[f"job: {told['detail'][:80]}"] += 1
            time.sleep(0.5)
        found.unended = len(waiting)
        found.ends["not ended"] += len(waiting)
        found.ends += Counter()
        connections.close_all()

    def _told(self, job: int) -> Any:
        with suppress(httpx2.HTTPError, ValueError):
            answer = self._get("web-2", f"/api/jobs/{job}/", headers={"Authorization": f"Token {self.owner}"})
            return answer.json() if answer.status_code == 200 else None

    def _resumed(self, job: int, found: Killed) -> list[int]:
        """The job that takes up an interrupted one."""
        answer = httpx2.post(
            f"http://127.0.0.1:{self.ports['web-1']}/api/jobs/{job}/resume/",
            headers={"Authorization": f"Token {self.owner}"},
            timeout=PATIENCE_SECONDS,
        )
        if answer.status_code != 202:
            found.refused[f"start again: {answer.status_code} {answer.text[:120]}"] += 1
            return []
        return [int(answer.json()["job"])]

    def _count(self, acknowledged: list[tuple[float, str]], found: Killed) -> None:
        """How many verdicts that were acknowledged are not stored exactly once, and the longest silence."""
        from django.db import connections

        from labeling.models import JudgmentEvent

        keys = [key for _, key in acknowledged]
        stored = Counter(JudgmentEvent.objects.filter(key__in=keys).values_list("key", flat=True))
        connections.close_all()
        found.verdicts = len(keys)
        found.lost = sum(1 for key in keys if stored[key] != 1)
        moments = sorted(moment for moment, _ in acknowledged)
        gaps = [later - sooner for sooner, later in pairwise(moments)]
        found.longest_gap = max(gaps, default=0.0)


def contained(host: str) -> list[str]:
    """What gives a command a host name and process numbers of its own; all its processes end with it."""
    inside = ["sh", "-c", f'hostname {host}; exec "$@"', "sh"]
    return ["unshare", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", *inside]


def wait_for(what: str, is_there: Any, meanwhile: Any = lambda: None, seconds: float = 60) -> None:
    """Ask until something is there; a minute at the most, unless it is the start of everything."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        meanwhile()
        with suppress(OSError, httpx2.HTTPError, psycopg.Error):
            if is_there():
                return
        time.sleep(0.3)
    raise SystemExit(f"{what} did not answer within {seconds:.0f} s.")


@contextmanager
def team_site(folder: Path) -> Iterator[TeamSite]:
    """The whole, filled and started."""
    site = TeamSite(folder)
    os.environ |= site.environment()
    with ExitStack() as stack:
        stack.callback(site.stop)
        site.start_services()
        site.fill()
        site.start_halves()
        site.sign_in()
        yield site
