"""A PostgreSQL server of the test's own, in a temporary folder, that can be stopped and started."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE_SECONDS
from tests.soundings.processes import free_port

OWNER = "postgres"
VERSIONED = Path("/usr/lib/postgresql")


def missing() -> str:
    """Why no server can be started here, or nothing."""
    if _program("initdb") is None or _program("pg_ctl") is None:
        return "PostgreSQL's initdb and pg_ctl are not installed."
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(OWNER)
        except KeyError:
            return f"PostgreSQL does not run as root, and there is no user {OWNER}."
    return ""


def _program(name: str) -> str | None:
    beside = sorted(VERSIONED.glob(f"*/bin/{name}"))
    return str(beside[-1]) if beside else shutil.which(name)


@dataclass
class Server:
    """A server on a free port of this machine; `url` is the address of its database."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        """The address that the site takes."""
        return f"postgres://{OWNER}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start, and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        self._control("start", "-o", options, "-l", str(self.folder / "log"))

    def stop(self, mode: str = "immediate") -> None:
        """Stop at once, as a crash does, or by another mode of pg_ctl."""
        self._control("stop", "-m", mode)

    def _control(self, *arguments: str) -> None:
        run("pg_ctl", "--wait", "-D", str(self.folder / "data"), *arguments)


def run(name: str, *arguments: str) -> None:
    program = _program(name)
    assert program is not None
    user = OWNER if os.geteuid() == 0 else None
    subprocess.run(
        [program, *arguments],
        user=user,
        cwd="/",
        check=True,
        timeout=PATIENCE_SECONDS,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def own_server() -> Iterator[Server]:
    """A fresh server; its folder goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="soundings-pg-"))
    if os.geteuid() == 0:
        os.chown(folder, pwd.getpwnam(OWNER).pw_uid, -1)
    server = Server(folder, free_port())
    try:
        run("initdb", "-D", str(folder / "data"), "-U", OWNER, "-A", "trust", "--no-sync")
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
