"""Starting `manage.py` as a user would, with a data folder of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parent.parent.parent
_ports = count()


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """This process's environment with SQLite in `folder` and `variables`, without the test run's settings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SOUNDINGS_") and name not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")
    }
    return kept | {"SOUNDINGS_DATA": str(folder), "PYTHONUNBUFFERED": "1"} | variables


def manage(
    folder: Path, *arguments: str, given: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; it reads what is `given`."""
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.run(
        command,
        input=given,
        capture_output=True,
        text=True,
        env=environment(folder, **variables),
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def start(folder: Path, *arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.Popen[str]:
    """Start a command that stays."""
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=cwd,
        env=environment(folder, **variables),
    )


def free_port() -> int:
    """A port that nobody listens on at the moment. Runs beside each other ask for others, and no connection
    gets one by itself: the system gives those out above 32767.
    """
    while True:
        port = 10_000 + (os.getpid() * 101 + next(_ports)) % 20_000
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def children_of(pid: int) -> set[int]:
    """Every process below `pid` (Linux)."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # of one that ended meanwhile
            for child in map(int, task.read_text().split()):
                found |= {child} | children_of(child)
    return found


def command_of(pid: int) -> str:
    """What a process was started with; nothing of one that has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return ""


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended may wait to be counted by the process above it."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
