"""A server of object storage on this machine, as a process of its own; the first bucket is made."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection

from tests.patience import PATIENCE_SECONDS

BUCKET = "soundings"
# The server asks for no particular ones.
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


def address(port: int) -> str:
    """What SOUNDINGS_FILE_STORAGE says for the server at `port`."""
    return f"s3://{BUCKET}/files?endpoint=http://127.0.0.1:{port}"


@contextmanager
def object_store(port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The server, until the block ends; it keeps everything in memory."""
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _make_bucket(server, port)
        yield server
    finally:
        server.kill()
        server.wait()


def _make_bucket(server: subprocess.Popen[bytes], port: int) -> None:
    while server.poll() is None:
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        try:
            connection.request("PUT", f"/{BUCKET}")
            status = connection.getresponse().status
        except OSError:
            time.sleep(0.1)
            continue
        finally:
            connection.close()
        if status != 200:
            raise RuntimeError(f"the server of object storage answers {status}")
        return
    raise RuntimeError("the server of object storage ended")
