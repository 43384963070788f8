"""The web server under people who are idle, slow, or gone: everybody else is served meanwhile."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from http.client import HTTPConnection, HTTPResponse

import pytest

from soundings.serving import gunicorn_settings, line, patient
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.soundings.processes import ROOT, free_port
from tests.soundings.serving.talking import content

# More than a server has threads, and than it may have connections.
CROWD, CONNECTIONS = 40, 60


@contextmanager
def server(**variables: str) -> Iterator[int]:
    """A server with two threads for requests, on a port of this machine."""
    port = free_port()
    options = ["--worker-class", gunicorn_settings.worker_class, "--threads", "2", "--keep-alive", "900"]
    options += [
        "--no-control-socket",
        "--worker-connections",
        str(CONNECTIONS),
        "--bind",
        f"127.0.0.1:{port}",
    ]
    command = [sys.executable, "-m", "gunicorn", *options, "tests.soundings.serving.talking:application"]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | variables)
    try:
        wait_until(lambda: is_listening(port))
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server whose deadlines no test reaches."""
    with server(STALL_SECONDS="900") as port:
        yield port


@pytest.fixture(scope="module")
def hasty() -> Iterator[int]:
    """A server that gives up soon."""
    with server(STALL_SECONDS="1") as port:
        yield port


def connected(port: int, sent: bytes = b"") -> socket.socket:
    """A connection that takes little at once and has sent this."""
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    opened.settimeout(PATIENCE_SECONDS)
    opened.connect(("127.0.0.1", port))
    opened.sendall(sent)
    return opened


def received(opened: socket.socket) -> bytes:
    """All that comes until the other side closes the connection."""
    found = bytearray()
    try:
        while data := opened.recv(65536):
            found += data
    except ConnectionResetError:
        pass
    return bytes(found)


def answered(port: int, path: str = "/", body: bytes | None = None) -> bytes:
    """The answer to one request."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("POST" if body is not None else "GET", path, body)
        return connection.getresponse().read()
    finally:
        connection.close()


def told(body: bytes) -> bytes:
    """What the application says of a body."""
    return f"{len(body)} {sha256(body).hexdigest()}".encode()


HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
IDLE = b""
HALF_HEAD = HEAD[:-2]
HALF_BODY = HEAD + b"Content-Length: 1000\r\n\r\nno more than this"
HALF_CHUNK = HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\nno more than this"
TAKES_NOTHING = b"GET /3000000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
TAKES_NO_FILE = b"GET /file/4000000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
NEVER_CLOSES = b"GET /10 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LARGE = HEAD + b"Content-Length: 9000000\r\n\r\n" + bytes(line.SMALL_BYTES + line.HEAD_BYTES + 1)


@pytest.mark.parametrize(
    "sent", [IDLE, HALF_HEAD, HALF_BODY, HALF_CHUNK, TAKES_NOTHING, TAKES_NO_FILE, NEVER_CLOSES, LARGE]
)
def test_forty_who_are_slow_keep_nobody_waiting(port: int, sent: bytes) -> None:
    with ExitStack() as opened:
        for _ in range(CROWD):
            opened.enter_context(connected(port, sent))
        assert answered(port) == told(b"")
        assert answered(port, body=b"a verdict") == told(b"a verdict")
        assert answered(port, "/file/1000") == content(1000)


@pytest.mark.parametrize("sent", [IDLE, HALF_HEAD])
def test_more_connections_than_there_may_be_shut_nobody_out(port: int, sent: bytes) -> None:
    with ExitStack() as opened:
        for _ in range(3 * CONNECTIONS):
            opened.enter_context(connected(port, sent))
        assert answered(port) == told(b"")


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (IDLE, b""),
        (HALF_HEAD, b"HTTP/1.1 408 Request Timeout"),
        (HALF_BODY, b"HTTP/1.1 408 Request Timeout"),
        (HALF_CHUNK, b"HTTP/1.1 408 Request Timeout"),
        (LARGE, b""),
    ],
)
def test_a_request_that_does_not_come_is_given_up(hasty: int, sent: bytes, answer: bytes) -> None:
    with connected(hasty, sent) as opened:
        assert received(opened).partition(b"\r\n")[0] == answer


@pytest.mark.parametrize("path", ["/3000000", "/pieces/30000000", "/file/30000000"])
def test_an_answer_that_nobody_takes_is_given_up(hasty: int, path: str) -> None:
    with connected(hasty, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()) as opened:
        # The server has closed its end when writing to it fails.
        wait_until(lambda: is_closed(opened))
        assert len(received(opened)) < int(path.rpartition("/")[2])


def is_closed(opened: socket.socket) -> bool:
    try:
        opened.sendall(b"\r\n")
    except OSError:
        return True
    return False


def test_uploads_that_stall_make_room_for_others(hasty: int) -> None:
    with ExitStack() as opened:
        for _ in range(2 * patient.UPLOAD_THREADS):
            opened.enter_context(connected(hasty, LARGE))
        body = content(2_000_000)
        assert answered(hasty, body=body) == told(body)


@pytest.mark.parametrize("path", ["/20000000", "/pieces/20000000", "/file/20000000"])
def test_a_large_answer_arrives_whole_and_the_connection_stays(port: int, path: str) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    for _ in range(2):
        connection.request("GET", path)
        before = connection.sock
        assert in_small_pieces(connection.getresponse()) == content(20_000_000)
        assert connection.sock is before
    connection.close()


def in_small_pieces(answer: HTTPResponse) -> bytes:
    return b"".join(iter(lambda: answer.read(10_007), b""))


@pytest.mark.parametrize("size", [0, 1, 200_000, 300_000, 5_000_000])
def test_a_body_of_any_size_arrives_whole_in_one_piece_and_in_chunks(port: int, size: int) -> None:
    body = content(size)
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    for sent in (body, iter([body[: size // 2], body[size // 2 :]])):
        connection.request("POST", "/", sent)
        assert connection.getresponse().read() == told(body)
    connection.close()


def test_a_request_that_comes_byte_by_byte_is_answered(port: int) -> None:
    with connected(port) as opened:
        for byte in HEAD + b"Connection: close\r\nContent-Length: 3\r\n\r\nabc":
            opened.sendall(bytes([byte]))
        assert received(opened).endswith(told(b"abc"))


def test_requests_that_are_sent_ahead_are_answered_in_their_order(port: int) -> None:
    ahead = b"".join(b"GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % size for size in (3, 2_000_000, 5))
    last = HEAD + b"Connection: close\r\nContent-Length: 3\r\n\r\n"
    with connected(port, ahead + last) as opened:
        opened.sendall(b"abc")
        bodies = [part.partition(b"\r\n\r\n")[2] for part in received(opened).split(b"HTTP/1.1 200 OK")[1:]]
    assert bodies == [content(3), content(2_000_000), content(5), told(b"abc")]


@pytest.mark.parametrize("how", [b"Content-Length: 3\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"])
def test_a_client_that_waits_to_be_asked_for_the_body_is_asked_once(port: int, how: bytes) -> None:
    with connected(port, HEAD + b"Connection: close\r\nExpect: 100-continue\r\n" + how) as opened:
        asked = b"HTTP/1.1 100 Continue\r\n\r\n"
        assert opened.recv(len(asked), socket.MSG_WAITALL) == asked
        opened.sendall(b"abc" if b"Length" in how else b"3\r\nabc\r\n0\r\n\r\n")
        answer = received(opened)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(told(b"abc"))


def test_a_head_without_end_is_refused(port: int) -> None:
    with connected(port, b"GET / HTTP/1.1\r\nX: " + bytes([97]) * (2 * line.HEAD_BYTES)) as opened:
        assert received(opened).startswith(b"HTTP/1.1 431 ")


def test_what_is_no_request_is_refused(port: int) -> None:
    with connected(port, b"\r\n\r\nThis is not HTTP.\r\n\r\n") as opened:
        assert received(opened).startswith(b"HTTP/1.1 400 ")
