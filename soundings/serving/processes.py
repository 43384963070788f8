"""One process that looks after four: gunicorn, which answers requests, and three workers.

One worker asks models, one sends messages, and one does everything else, so that none waits for another. A
worker is started again when it ends by itself; when gunicorn ends, everything ends. In containers, one
process looks after gunicorn and others, as many as are needed, after workers.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.db import DatabaseError, connections

from evaluation.canaries.deliveries import resume_messages
from evaluation.canaries.watching import resume_watching
from labeling.prelabels.passes import SHORT_SILENCE, pause_abandoned_passes
from pooling.engines.schedule import resume_schedules
from pooling.jobs.running import end_abandoned_jobs, enqueue_lost_jobs
from pooling.tidying.erasing import erase_in_background
from soundings.operations.figures import SHARED_FOLDER

# A child gets this long to finish what it is doing; then it is told again, which ends a job half way.
GRACE_SECONDS = 20.0
LAST_GRACE_SECONDS = 5.0
# A site that gives no page of its own for this long after it was started will not get better by waiting.
START_SECONDS = 120.0
# A worker that ends more often than this within a minute will not get better by being started again.
RESTARTS_PER_MINUTE = 5
# What was deleted more than thirty days ago is looked for as often.
ERASING_SECONDS = 3600.0
# Work whose worker was stopped, here or elsewhere, is looked for as often.
REAPING_SECONDS = 15.0
# Somebody waits for each request and nobody for the worker, which takes what is left of a busy machine.
WORKER_NICENESS = 10
LEAST_PRIORITY = 19

# What means every address of the machine, and where that is reached from here.
EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  recognised, never the default

# The halves that containers start on their own.
WEB, WORKER = "web", "worker"

Child = subprocess.Popen[bytes]


class AddressError(ValueError):
    """The address cannot be had; the message says why."""


def require_free_port(host: str, port: int) -> None:
    """Raise `AddressError` when nothing can listen at `host:port`."""
    if not 0 < port < 65536:
        raise AddressError(f"{port} is not a port; choose one from 1 to 65535 with --port.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise AddressError(_why_not(host, port, error)) from None


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use by another program. Choose another with --port."
    return f"Cannot listen on {host}, port {port}: {error.strerror or error}."


class Server:
    """gunicorn and the background workers as children of this process; `run` returns when all have ended.

    only: WEB or WORKER for one half of these.
    """

    def __init__(
        self, host: str, port: int, processes: int, say: Callable[[str], None], *, only: str = ""
    ) -> None:
        self.host, self.port = host, port
        self.processes = processes
        self.say = say
        self.only = only
        self.stops = 0
        self.restarts: list[float] = []
        self.erased_at = -ERASING_SECONDS
        self.reaped_at = -REAPING_SECONDS
        self.web: Child | None = None
        self.workers: dict[str, Child] = {}

    def run(self, when_ready: Callable[[], None]) -> int:
        """Serve until told to stop (exit code 0) or until a child cannot be kept alive (1)."""
        # A closed terminal stops the site as well, unless it was started to outlive it (nohup).
        hangs_up = [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else []
        handled = (signal.SIGINT, signal.SIGTERM, *hangs_up)
        previous = {number: signal.signal(number, self._stop) for number in handled}
        try:
            if self.only != WORKER:
                self.web = _start(self._web_command(), **self._counted_in())
            if self.only != WEB and _has_own_workers():
                self.workers = {lane: _start_worker(lane) for lane in settings.TASKS["default"]["QUEUES"]}
            return self._watch(when_ready)
        finally:
            self._end_children()
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stops += 1

    def _web_command(self) -> list[str]:
        host = f"[{self.host}]" if ":" in self.host else self.host
        config = ["--config", "python:soundings.serving.gunicorn_settings"]
        bound = ["--bind", f"{host}:{self.port}", "--workers", str(self.processes)]
        return ["soundings.serving.web", *config, *bound]

    def _counted_in(self) -> dict[str, str]:
        """The empty folder in which the web processes count together, where figures are wanted."""
        if not settings.METRICS:
            return {}
        folder = Path(settings.DERIVED_DIR) / "metrics" / f"{socket.gethostname()}-{self.port}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return {SHARED_FOLDER: str(folder)}

    def _watch(self, when_ready: Callable[[], None]) -> int:
        ready = False
        deadline = time.monotonic() + START_SECONDS
        while not self.stops:
            if self.web is not None and self.web.poll() is not None:
                self.say(
                    f"The web server stopped unexpectedly (code {self.web.returncode}), so everything stops."
                )
                return 1
            if not self._keep_workers():
                return 1
            self._erase_old()
            self._end_abandoned()
            if not ready and self.web is None:
                ready = True
                when_ready()
            if not ready:
                answer = self._answer()
                ready = answer.is_ours
                if ready:
                    when_ready()
                elif answer.is_final or time.monotonic() > deadline:
                    self.say(f"{answer.problem} So everything stops.")
                    return 1
            time.sleep(0.1)
        return 0

    def _keep_workers(self) -> bool:
        """Start an ended worker again; False when it keeps ending."""
        for lane, worker in list(self.workers.items()):
            if worker.poll() is None:
                continue
            now = time.monotonic()
            self.restarts = [moment for moment in self.restarts if now - moment < 60] + [now]
            if len(self.restarts) > RESTARTS_PER_MINUTE:
                self.say("The background worker keeps failing, so everything stops; its errors are above.")
                return False
            self.say(f"The background worker stopped (code {worker.returncode}); restarting it.")
            self.workers[lane] = _start_worker(lane)
        return True

    def _erase_old(self) -> None:
        """Have the worker erase what was deleted long ago, when it starts and every hour."""
        if self.workers and time.monotonic() - self.erased_at > ERASING_SECONDS:
            self.erased_at = time.monotonic()
            with contextlib.suppress(DatabaseError):  # away or busy: the next hour does it
                erase_in_background.enqueue()
            connections.close_all()

    def _end_abandoned(self) -> None:
        """Tell who waits for work that its worker will not end, wherever that worker was."""
        if time.monotonic() - self.reaped_at > REAPING_SECONDS:
            self.reaped_at = time.monotonic()
            with contextlib.suppress(DatabaseError):  # away or busy: asked again soon
                end_abandoned()
            connections.close_all()

    def _answer(self) -> Answer:
        """What the page /health/ of the site is now."""
        connection = HTTPConnection(EVERY_ADDRESS.get(self.host, self.host), self.port, timeout=5)
        try:
            connection.request("GET", "/health/", headers={"Host": known_host()})
            response = connection.getresponse()
            return Answer(response.status, response.read().decode(errors="replace"))
        except (OSError, HTTPException) as error:
            return Answer(None, str(error))
        finally:
            connection.close()

    def _end_children(self) -> None:
        """Ask, ask again, then end them with their own children; being stopped twice skips the waiting."""
        children = [child for child in (self.web, *self.workers.values()) if child is not None]
        for grace in (GRACE_SECONDS, LAST_GRACE_SECONDS):
            for child in children:
                child.terminate()
            self._wait_for(children, grace)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()

    def _wait_for(self, children: list[Child], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.stops < 2:
            if all(child.poll() is not None for child in children):
                return
            time.sleep(0.05)


@dataclass(frozen=True)
class Answer:
    """What came back for /health/: its status and text, or no status and why not."""

    status: int | None
    text: str

    @property
    def is_ours(self) -> bool:
        """Whether our view gave it, and has nothing to complain of."""
        try:
            return self.status == HTTPStatus.OK and json.loads(self.text)["status"] == "ok"
        except (ValueError, KeyError, TypeError):
            return False

    @property
    def is_final(self) -> bool:
        """Whether waiting changes nothing: what starts or waits for its database is not there yet."""
        return self.status not in (None, HTTPStatus.SERVICE_UNAVAILABLE) and not self.is_ours

    @property
    def problem(self) -> str:
        """What is wrong with the site, in one sentence."""
        if self.status is None:
            return f"The site does not answer: {self.text}."
        return f"The site's page /health/ answers with status {self.status}; the errors above say why."


def known_host() -> str:
    """A name under which the site lets itself be asked."""
    named = [host.removeprefix(".") for host in settings.ALLOWED_HOSTS if host != "*"]
    return named[0] if named else "localhost"


def serve_site(host: str, port: int, processes: int, say: Callable[[str], None], *, only: str = "") -> None:
    """Serve until told to stop, and say where; `SystemExit` with 1 when that was not somebody's wish."""

    def say_address() -> None:
        if only == WORKER:
            say("The background workers run   (Ctrl+C stops them)")
            return
        shown = "localhost" if host in (*EVERY_ADDRESS, "127.0.0.1", "::1") else host
        say(f"Soundings is at http://{shown}:{port}/   (Ctrl+C stops it)")
        if host in EVERY_ADDRESS and settings.ALLOWED_HOSTS == settings.LOCAL_HOSTS:
            say("To reach it from other machines, add its host names to SOUNDINGS_HOSTS.")

    connections.close_all()
    code = Server(host, port, processes, say, only=only).run(say_address)
    if code:
        sys.exit(code)
    say("Stopped.")


def _worker_command(lane: str) -> list[str]:
    command = ["django", "db_worker", "--queue-name", lane, "--no-startup-delay", "--no-reload"]
    return [*command, "--interval", "0.5", "--verbosity", "0"]


def _has_own_workers() -> bool:
    return "django_tasks_db" in settings.TASKS["default"]["BACKEND"]


def _start_worker(lane: str) -> Child:
    """Start the worker of a queue of tasks, and take up what the one before did not end."""
    end_abandoned()
    resume_watching()
    resume_messages()
    resume_schedules()
    connections.close_all()
    worker = _start(_worker_command(lane))
    with contextlib.suppress(ProcessLookupError):  # it has ended already
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, worker.pid, min(ours + WORKER_NICENESS, LEAST_PRIORITY))
    return worker


def end_abandoned() -> None:
    """End the jobs, and pause the passes, whose worker was stopped; hand out again what its task lost."""
    end_abandoned_jobs()
    pause_abandoned_passes(SHORT_SILENCE)
    enqueue_lost_jobs()


def _start(command: list[str], **variables: str) -> Child:
    """Start `python -m command` in a process group of its own, so that Ctrl+C reaches only this process.

    The session is the same: Linux may share processors out by sessions, and priorities count within one.
    """
    paths = [str(settings.BASE_DIR), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": os.environ.get("DJANGO_SETTINGS_MODULE", "soundings.settings"),
        # Nothing is imported from the folder that the site was started in: an empty part would mean it.
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTHONSAFEPATH": "1",
        **variables,
    }
    whole = [sys.executable, "-m", *command]
    # What they write is for this account alone.
    return subprocess.Popen(whole, env=environment, process_group=0, umask=0o077)  # noqa: S603
