"""One connection of the web server: what of a request has arrived, and what of an answer is still to be sent.

A thread never waits for somebody who takes an answer slowly: what the system does not take at once is kept,
and sent while others are served. Where a thread must wait, for the body of a large upload, it waits with a
deadline.
"""

from __future__ import annotations

import errno
import os
import re
import select
import socket
import time
from collections import deque
from enum import Enum
from typing import Any, BinaryIO

from gunicorn.workers.gthread import TConn

# The head of a request has to be there after so long; so has the next piece of anything that is on its way.
STALL_SECONDS = 20.0
# A body or an answer on its way gets more time for each of its bytes: as many as this in a second will do.
LEAST_RATE = 8_000
# Requests up to this size wait outside threads until they are whole.
SMALL_BYTES = 256 * 1024
HEAD_BYTES = 64 * 1024
# So much of an answer waits outside threads; what a file has still to give is not counted.
KEPT_BYTES = 4_000_000
PIECE_BYTES = 256 * 1024

# Instead of the length of a request.
UNKNOWN, IN_CHUNKS = -1, -2

HEAD_END = b"\r\n\r\n"
CHUNKS_END = b"0\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
CHUNKED = re.compile(rb"\r\ntransfer-encoding[ \t]*:", re.IGNORECASE)
EXPECTS = re.compile(rb"\r\nexpect[ \t]*:[ \t]*100-continue[ \t]*(?=\r\n)", re.IGNORECASE)


class Arrival(Enum):
    PART = "part"
    WHOLE = "whole"
    # The head and enough of the body to begin with; a thread reads the rest.
    LARGE = "large"
    TOO_LONG = "too long"


class TooSlowError(ConnectionResetError):
    """The other side took or sent too little for too long; treated as if it had gone."""

    def __init__(self) -> None:
        super().__init__(errno.ECONNRESET, "the other side is too slow")


class Part:
    """A stretch of a file that is still to be sent, with its own descriptor."""

    def __init__(self, file: BinaryIO, offset: int, count: int) -> None:
        self.descriptor = os.dup(file.fileno())
        self.offset, self.left = offset, count

    def close(self) -> None:
        """Nothing of it is to be sent any more."""
        os.close(self.descriptor)


class TimedSocket(socket.socket):
    """A socket whose reading has a deadline, and whose writing leaves for later what is not taken at once."""

    def __init__(self, accepted: socket.socket) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        self.unsent: deque[memoryview | Part] = deque()
        self.unsent_bytes = 0
        self.waited, self.passed_bytes = 0.0, 0

    def setblocking(self, flag: bool) -> None:
        self.settimeout(STALL_SECONDS if flag else 0.0)
        self.waited, self.passed_bytes = 0.0, 0

    def recv(self, *arguments: Any) -> bytes:
        """`TooSlowError` when nothing comes, or too little in all of the time that was spent waiting."""
        begun = time.monotonic()
        try:
            data = super().recv(*arguments)
        except TimeoutError:
            raise TooSlowError from None
        self.passed_bytes += len(data)
        self._wait(begun)
        return data

    def sendall(self, data: Any, *flags: Any) -> None:
        """Send what is taken at once and keep the rest; wait first where too much was kept before."""
        while self.unsent_bytes > KEPT_BYTES:
            self._wait_until_taken()
        view = memoryview(data).cast("B")
        self.unsent.append(view)
        self.unsent_bytes += len(view)
        self.flush()

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> int:
        """Send of a file what is taken at once, behind what was sent before; keep a handle for the rest."""
        left = os.fstat(file.fileno()).st_size - offset if count is None else count
        self.unsent.append(Part(file, offset, left))
        self.flush()
        return left

    def flush(self) -> int:
        """Send of what is left as much as is taken without waiting; how many bytes that were."""
        whole = 0
        while self.unsent:
            part = self.unsent[0]
            if isinstance(part, Part):
                taken = self._taken_of_file(part)
                part.offset, part.left = part.offset + taken, part.left - taken
                if not part.left:
                    part.close()
                left = part.left
            else:
                taken = self._taken(part)
                self.unsent[0] = part[taken:]
                self.unsent_bytes -= taken
                left = len(part) - taken
            whole += taken
            if not left:
                self.unsent.popleft()
            elif not taken:
                break
        return whole

    def close(self) -> None:
        """Close, with the files that were still to be sent."""
        for left in self.unsent:
            if isinstance(left, Part):
                left.close()
        self.unsent.clear()
        self.unsent_bytes = 0
        super().close()

    def _taken(self, view: memoryview) -> int:
        """Number of bytes that the system takes now."""
        timeout = self.gettimeout()
        self.settimeout(0.0)
        try:
            return self.send(view[:PIECE_BYTES])
        except (BlockingIOError, InterruptedError):
            return 0
        finally:
            self.settimeout(timeout)

    def _taken_of_file(self, part: Part) -> int:
        if not part.left:
            return 0
        try:
            taken = os.sendfile(self.fileno(), part.descriptor, part.offset, min(part.left, PIECE_BYTES))
        except (BlockingIOError, InterruptedError):
            return 0
        if not taken:  # the file has become shorter than was announced
            raise ConnectionResetError(errno.ECONNRESET, "the file has changed")
        return taken

    def _wait_until_taken(self) -> None:
        """Let this thread wait until the other side takes something; `TooSlowError` when it does not."""
        begun = time.monotonic()
        poll = select.poll()
        poll.register(self, select.POLLOUT)
        if not poll.poll(STALL_SECONDS * 1000):
            raise TooSlowError
        self.passed_bytes += self.flush()
        self._wait(begun)

    def _wait(self, begun: float) -> None:
        """Count the time since then as waiting; `TooSlowError` when too few bytes passed in all of it."""
        self.waited += time.monotonic() - begun
        if self.waited > STALL_SECONDS + self.passed_bytes / LEAST_RATE:
            raise TooSlowError


class Line(TConn):  # type: ignore[misc]  # untyped
    """A connection, with what has arrived of its next request, and until when more has to come or go."""

    def __init__(self, cfg: Any, accepted: socket.socket, client: Any, server: Any) -> None:
        super().__init__(cfg, TimedSocket(accepted), client, server)
        self.received = bytearray()
        self.is_kept = self.is_leaving = False
        self.length = UNKNOWN
        self.begin()

    def begin(self, seconds: float | None = None) -> None:
        """Give the other side so long for its next move."""
        self.deadline = time.monotonic() + (STALL_SECONDS if seconds is None else seconds)
        self.budget = self.deadline

    def move(self, count: int) -> None:
        """Bytes that came or went give it more time, though never more than the next may take."""
        self.budget += count / LEAST_RATE
        self.deadline = min(self.budget, time.monotonic() + STALL_SECONDS)

    @property
    def buffered_bytes(self) -> int:
        """Memory that waits for the other side."""
        unsent: int = self.sock.unsent_bytes
        return len(self.received) + unsent

    def receive(self, data: bytes) -> None:
        """Add bytes of a request; blank lines before it do not count."""
        if not self.received:
            self.begin()
            data = data.lstrip(b"\r\n")
        self.received += data
        self.move(len(data))

    def arrival(self) -> Arrival:
        if self.length == UNKNOWN and not self._read_head():
            return Arrival.TOO_LONG if len(self.received) > HEAD_BYTES else Arrival.PART
        if self.length == IN_CHUNKS:
            # They may end here; a thread that waits with a deadline sees whether they do.
            is_there = self.received.endswith(CHUNKS_END) or len(self.received) > SMALL_BYTES
            return Arrival.LARGE if is_there else Arrival.PART
        if len(self.received) >= self.length:
            return Arrival.WHOLE
        return Arrival.LARGE if len(self.received) > HEAD_BYTES + SMALL_BYTES else Arrival.PART

    def _read_head(self) -> bool:
        """Find how long the request is, False while its head is not there; gunicorn's parser judges it."""
        end = self.received.find(HEAD_END, 0, HEAD_BYTES)
        if end < 0:
            return False
        end += len(HEAD_END)
        head = bytes(self.received[:end])
        length = LENGTH.search(head)
        self.length = IN_CHUNKS if CHUNKED.search(head) else end + (int(length[1]) if length else 0)
        expects = EXPECTS.search(head)
        if expects and not len(self.received) >= self.length > 0:
            # The client waits to be asked for the body; the parser would ask again.
            del self.received[expects.start() : expects.end()]
            if self.length != IN_CHUNKS:
                self.length -= len(expects[0])
            self.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        return True

    def hand_over(self) -> None:
        self.init()
        self.parser.unreader.unread(bytes(self.received))
        self.received.clear()
        self.length = UNKNOWN

    def refuse(self, status: str) -> None:
        """Say why no more is read, if that can be said at once."""
        self.sock.sendall(f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())
