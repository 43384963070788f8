"""`python -m soundings.serving.keeping PLAN`: a small process that starts the others and keeps each running.

It loads neither Django nor a database driver, so a database that is away or a full disk cannot end it. A
process that ends is started again by itself, after a pause that doubles while it keeps ending; the others go
on. PLAN is a `Plan` as JSON, written by `serve` when everything is prepared.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from threading import Event
from types import FrameType

from soundings.serving.keeper import KEEPER

# A process gets this long to finish what it is doing; then it is told again, which ends a job half way.
GRACE_SECONDS = 20.0
LAST_GRACE_SECONDS = 5.0
# A site that gives no page of its own for this long after it was started will not get better by waiting.
START_SECONDS = 120.0
# How long a process that ended by itself is left alone: at first, and at most.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 60.0
# After so long without ending, a process starts with the first pause again.
SETTLED_SECONDS = 60.0
# How often processes are looked at while the site starts, and later.
STARTING_SECONDS, WATCHING_SECONDS = 0.1, 0.5
# Somebody waits for each request and nobody for the worker, which takes what is left of a busy machine.
WORKER_NICENESS = 10
LEAST_PRIORITY = 19


@dataclass(frozen=True)
class Child:
    """A process to keep: what it is called in messages, the module that `python -m` runs, its arguments."""

    title: str
    command: list[str]
    niceness: int = 0


@dataclass(frozen=True)
class Plan:
    """Processes to keep, and sentences once they run. web: host, port, name for the first child, or None."""

    children: list[Child]
    web: tuple[str, int, str] | None
    sentences: list[str]
    variables: dict[str, str] = field(default_factory=dict)

    def written(self) -> str:
        """The plan as one argument of a command."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Plan:
        """From the text of `written`."""
        plan = json.loads(text)
        children = [Child(**child) for child in plan.pop("children")]
        web = plan.pop("web")
        return cls(children=children, web=tuple(web) if web else None, **plan)


class KeptProcess:
    """One child: its process while it runs, and when it may be started again."""

    def __init__(self, child: Child, variables: dict[str, str]) -> None:
        self.child = child
        self.variables = variables
        self.process: subprocess.Popen[bytes] | None = None
        self.pause = FIRST_PAUSE_SECONDS
        self.started_at = 0.0
        self.due_at = 0.0

    def start(self) -> None:
        """Start it in a process group of its own, so that Ctrl+C reaches only the keeper.

        The session is the same: Linux may share processors out by sessions, and priorities count within one.
        """
        self.started_at = time.monotonic()
        command = [sys.executable, "-m", *self.child.command]
        environment = os.environ | self.variables | {KEEPER: str(os.getpid())}
        # What they write is for this account alone.
        self.process = subprocess.Popen(command, env=environment, process_group=0, umask=0o077)  # noqa: S603
        if self.child.niceness:
            with contextlib.suppress(OSError):  # it has ended already
                ours = os.getpriority(os.PRIO_PROCESS, 0)
                priority = min(ours + self.child.niceness, LEAST_PRIORITY)
                os.setpriority(os.PRIO_PROCESS, self.process.pid, priority)

    def look(self) -> str:
        """Start it where its pause is over; a sentence when it has ended since the last look."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.due_at:
                return self._try_to_start()
            return ""
        if self.process.poll() is None:
            return ""
        code, self.process = self.process.returncode, None
        return self._wait(now, f"{self.child.title} stopped (code {code})")

    def _try_to_start(self) -> str:
        try:
            self.start()
        except OSError as error:  # no memory for another process
            return self._wait(time.monotonic(), f"{self.child.title} cannot be started ({error.strerror})")
        return ""

    def _wait(self, now: float, what: str) -> str:
        settled = now - self.started_at > SETTLED_SECONDS
        pause = FIRST_PAUSE_SECONDS if settled else self.pause
        self.due_at = now + pause
        self.pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        return f"{what}; starting it again in {pause:.0f} s."


class Keeper:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.kept = [KeptProcess(child, plan.variables) for child in plan.children]
        self.stops = 0
        self.woken = Event()

    def run(self) -> int:
        """0 when told to stop; 1 when its page /health/ never said that all is well."""
        # A closed terminal stops the site as well, unless it was started to outlive it (nohup).
        hangs_up = [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else []
        for number in (signal.SIGINT, signal.SIGTERM, *hangs_up):
            signal.signal(number, self._stop)
        try:
            code = 0 if self._start() else 1
            while not code and not self.stops:
                self._look()
                self.woken.wait(WATCHING_SECONDS)
        finally:
            self._end()
        if not code:
            say("Stopped.")
        return code

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stops += 1
        self.woken.set()

    def _start(self) -> bool:
        """Start everything and say where it is; False when that will not get better by waiting."""
        for kept in self.kept:
            kept.start()
        deadline = time.monotonic() + START_SECONDS
        while self.plan.web and not self.stops:
            web = self.kept[0].process
            if web is not None and web.poll() is not None:
                say(f"{self.kept[0].child.title} did not start (code {web.returncode}), so everything stops.")
                return False
            answer = ask(*self.plan.web)
            if answer.is_ours:
                break
            if answer.is_final or time.monotonic() > deadline:
                say(f"{answer.problem} So everything stops.")
                return False
            self._look()
            self.woken.wait(STARTING_SECONDS)
        if not self.stops:
            for sentence in self.plan.sentences:
                say(sentence)
        return True

    def _look(self) -> None:
        for kept in self.kept:
            if sentence := kept.look():
                say(sentence)

    def _end(self) -> None:
        """Ask, ask again, then end them with their own children; being stopped twice skips the waiting."""
        processes = [kept.process for kept in self.kept if kept.process is not None]
        for grace in (GRACE_SECONDS, LAST_GRACE_SECONDS):
            for process in processes:
                process.terminate()
            self._wait_for(processes, grace)
        for process in processes:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _wait_for(self, processes: list[subprocess.Popen[bytes]], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.stops < 2:
            if all(process.poll() is not None for process in processes):
                return
            time.sleep(0.05)


@dataclass(frozen=True)
class Answer:
    """Answer of /health/: its status and text, or no status and why not."""

    status: int | None
    text: str

    @property
    def is_ours(self) -> bool:
        """Our view answered, and has nothing to complain of."""
        try:
            return self.status == HTTPStatus.OK and json.loads(self.text)["status"] == "ok"
        except (ValueError, KeyError, TypeError):
            return False

    @property
    def is_final(self) -> bool:
        """Waiting changes nothing: what starts or waits for its database is not there yet."""
        return self.status not in (None, HTTPStatus.SERVICE_UNAVAILABLE) and not self.is_ours

    @property
    def problem(self) -> str:
        if self.status is None:
            return f"The site does not answer: {self.text}."
        return f"The site's page /health/ answers with status {self.status}; the errors above say why."


def ask(host: str, port: int, name: str) -> Answer:
    """The page /health/ of a site now, asked under one of its names."""
    connection = HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/health/", headers={"Host": name})
        response = connection.getresponse()
        return Answer(response.status, response.read().decode(errors="replace"))
    except (OSError, HTTPException) as error:
        return Answer(None, str(error))
    finally:
        connection.close()


def say(sentence: str) -> None:
    """Print a sentence at once; nobody may be left to read it."""
    with contextlib.suppress(OSError, ValueError):
        print(sentence, flush=True)


if __name__ == "__main__":
    sys.exit(Keeper(Plan.read(sys.argv[1])).run())
