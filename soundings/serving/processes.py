"""Processes of `serve`: gunicorn, which answers requests, and workers; `keeping` looks after them.

On SQLite there is one process of each kind. Elsewhere there are as many web processes as processors, up to
four, and a worker for each queue of tasks, so that none takes the processor of another. In containers, one
`serve` has gunicorn and others, as many as are needed, have workers.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn

from django.conf import settings
from django.db import connection, connections

from pooling.formats.wording import counted
from soundings.installation.data_folder import OWN_FILE, unwritable
from soundings.serving.figures import SHARED_FOLDER
from soundings.serving.keeper import IN_WEB
from soundings.serving.keeping import WORKER_NICENESS, Child, Plan

# What means every address of the machine, and where that is reached from here.
EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  recognised, never the default

# The halves that containers start on their own.
WEB, WORKER = "web", "worker"


class AddressError(ValueError):
    """The address cannot be had; the message says why."""


@contextmanager
def served_once(host: str, port: int, only: str = "") -> Iterator[None]:
    """Serve a database of SQLite, or one half, as the only one: `AddressError` where somebody else does.

    The system lets go of it when this process ends, and not when it becomes the one that keeps the site.
    """
    database = str(connection.settings_dict["NAME"])
    halves = [only] if only else [WEB, WORKER]
    if connection.vendor != "sqlite" or "memory" in database:
        halves = []
    with ExitStack() as stack:
        for half in halves:
            try:
                opened = os.open(f"{database}.{half}", os.O_RDWR | os.O_CREAT, OWN_FILE)
            except OSError as error:
                raise unwritable(Path(database).parent, error) from None
            file = stack.enter_context(os.fdopen(opened, "r+"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                folder, by = Path(database).parent, file.read() or "another process"
                raise AddressError(
                    f"{folder} is served already, by {by}: stop that first, or name another folder with "
                    "SOUNDINGS_DATA."
                ) from None
            at = "" if only == WORKER else f" at {host}, port {port}"
            file.truncate()
            file.write(f"process {os.getpid()}{at}")
            file.flush()
            os.set_inheritable(opened, True)
        yield


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


def serve_site(host: str, port: int, processes: int, only: str = "") -> NoReturn:
    """Keep the site until told to stop; exit code 1 if it does not start. only: WEB or WORKER for a half."""
    connections.close_all()
    plan = plan_of(host, port, processes, only)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    paths = [str(settings.BASE_DIR), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": os.environ.get("DJANGO_SETTINGS_MODULE", "soundings.settings"),
        # Nothing is imported from the folder that the site was started in: an empty part would mean it.
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTHONSAFEPATH": "1",
    }
    command = [sys.executable, "-m", "soundings.serving.keeping", plan.written()]
    os.execve(sys.executable, command, environment)  # noqa: S606  this program, without all that it loaded


def starting(only: str) -> str:
    """What is about to start, in a sentence: it takes a while until that answers."""
    workers = len(_worker_commands()) if _has_own_workers() and only != WEB else 0
    halves = ["the web server"] if only != WORKER else []
    halves += [counted(workers, "background worker")] if workers else []
    return f"Starting {' and '.join(halves)} …"


def plan_of(host: str, port: int, processes: int, only: str) -> Plan:
    children = []
    variables = {}
    if only != WORKER:
        variables = _counted_in(port)
        children.append(Child("The web server", _web_command(host, port, processes)))
    workers = [] if only == WEB or not _has_own_workers() else _worker_commands()
    children += [Child("The background worker", command, WORKER_NICENESS) for command in workers]
    if not workers:
        variables[IN_WEB] = "true"
    if only == WORKER:
        return Plan(children, None, ["The background workers run   (Ctrl+C stops them)"], variables)
    return Plan(children, (EVERY_ADDRESS.get(host, host), port, own_host()), _address(host, port), variables)


def _address(host: str, port: int) -> list[str]:
    name = "localhost" if host in (*EVERY_ADDRESS, "127.0.0.1", "::1") else host
    sentences = [f"Soundings is at http://{name}:{port}/   (Ctrl+C stops it)"]
    if host in EVERY_ADDRESS and settings.ALLOWED_HOSTS == settings.LOCAL_HOSTS:
        sentences.append("To reach it from other machines, add its host names to SOUNDINGS_HOSTS.")
    return sentences


def own_host() -> str:
    """A name under which the site lets itself be asked."""
    named = [host.removeprefix(".") for host in settings.ALLOWED_HOSTS if host != "*"]
    return named[0] if named else "localhost"


def _web_command(host: str, port: int, processes: int) -> list[str]:
    host = f"[{host}]" if ":" in host else host
    config = ["--config", "python:soundings.serving.gunicorn_settings"]
    # Several processes are copies of one that has loaded the site; one loads it by itself.
    shared = ["--preload"] if processes > 1 else []
    bound = ["--bind", f"{host}:{port}", "--workers", str(processes)]
    return ["soundings.serving.web", *config, *bound, *shared]


def _worker_commands() -> list[list[str]]:
    """The commands of the workers, which share the queues of tasks."""
    queues = list(settings.TASKS["default"]["QUEUES"])
    count = min(settings.WORKER_PROCESSES, len(queues))
    return [["soundings.serving.worker", *queues[first::count]] for first in range(count)]


def _has_own_workers() -> bool:
    return "django_tasks_db" in settings.TASKS["default"]["BACKEND"]


def _counted_in(port: int) -> dict[str, str]:
    """The empty folder in which the web processes count together, where figures are wanted."""
    if not settings.METRICS:
        return {}
    folder = Path(settings.DERIVED_DIR) / "metrics" / f"{socket.gethostname()}-{port}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return {SHARED_FOLDER: str(folder)}
