"""The web server's process: threads serve, and never wait for somebody's bytes.

One thread of its own accepts connections, collects requests until they are whole, and sends what remains of
answers; who is too slow is dropped. Large uploads are read by a few further threads, with a deadline.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

from soundings.serving.line import Arrival, Line

# Threads that read the bodies of large uploads, and do what follows.
UPLOAD_THREADS = 4
# How long a connection that is over is still read from, so that the last answer arrives.
LEAVING_SECONDS = 2.0
# Requests and answers on their way may take so much memory in all.
MOST_BUFFERED_BYTES = 256_000_000
READ_BYTES = 64 * 1024
LOOK_SECONDS = 0.5
TOO_MANY = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # untyped
    """gunicorn's worker with threads, whose threads get whole requests only."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # The connections that no thread is at, in the order in which they came.
        self.waiting: dict[Line, int] = {}
        self.looked_at = 0.0

    def init_process(self) -> None:
        """Start the threads for uploads, too; then serve."""
        self.uploads = ThreadPoolExecutor(UPLOAD_THREADS, thread_name_prefix="upload")
        super().init_process()

    def accept(self, listener: Any) -> None:
        """Take a connection; where there are too many, the one that has waited longest goes."""
        try:
            accepted, client = listener.accept()
        except OSError as error:
            if error.errno in TOO_MANY:
                self._drop_oldest()
            return
        self.nr_conns += 1
        self._wait_for(Line(self.cfg, accepted, client, listener.getsockname()), EVENT_READ)
        if self.nr_conns >= self.worker_connections:
            self._drop_oldest()

    def finish_request(self, conn: Line, fs: Future[bool]) -> None:
        """A thread is done with a request: send the rest of the answer, then wait for the next one."""
        conn.is_kept = not fs.cancelled() and fs.exception() is None and bool(fs.result())
        conn.begin()
        self._go_on(conn)

    def murder_pending(self) -> None:
        """Twice a second: drop who is too slow, and what is too much for the memory."""
        now = time.monotonic()
        if now - self.looked_at < LOOK_SECONDS:
            return
        self.looked_at = now
        for line in [line for line in self.waiting if line.deadline < now]:
            if line.received:
                with contextlib.suppress(OSError):
                    line.refuse("408 Request Timeout")
            self._drop(line)
        if not self.alive:
            for line in [line for line in self.waiting if not line.buffered_bytes]:
                line.deadline = min(line.deadline, now + LEAVING_SECONDS)
        buffered = sum(line.buffered_bytes for line in self.waiting)
        for line in [line for line in self.waiting if line.buffered_bytes]:
            if buffered <= MOST_BUFFERED_BYTES:
                break
            buffered -= line.buffered_bytes
            self._drop(line)

    def _wait_for(self, line: Line, event: int) -> None:
        """Wait, without a thread, until a connection can be read from or written to."""
        line.sock.setblocking(False)
        self.waiting[line] = event
        self.poller.register(line.sock, event, partial(self._on_event, line))

    def _on_event(self, line: Line, sock: Any) -> None:
        event = self._stop_waiting(line)
        if event == EVENT_WRITE:
            self._go_on(line)
        elif event == EVENT_READ:
            self._read(line)
        # Otherwise it was dropped since the system told of it.

    def _read(self, line: Line) -> None:
        try:
            data = line.sock.recv(READ_BYTES)
        except (BlockingIOError, InterruptedError):
            self._wait_for(line, EVENT_READ)
            return
        except OSError:
            data = b""
        if not data:
            self._drop(line)
        elif line.is_leaving:
            self._wait_for(line, EVENT_READ)
        else:
            line.receive(data)
            self._take_up(line)

    def _take_up(self, line: Line) -> None:
        try:
            arrival = line.arrival()
        except OSError:
            self._drop(line)
            return
        if arrival is Arrival.PART:
            self._wait_for(line, EVENT_READ)
        elif arrival is Arrival.TOO_LONG:
            with contextlib.suppress(OSError):
                line.refuse("431 Request Header Fields Too Large")
            self._leave(line)
        else:
            line.hand_over()
            threads = self.tpool if arrival is Arrival.WHOLE else self.uploads
            done = threads.submit(self.handle, line)
            done.add_done_callback(lambda done: self.method_queue.defer(self.finish_request, line, done))

    def _go_on(self, line: Line) -> None:
        """Send what is left of an answer; behind it comes the next request, or the end."""
        try:
            line.move(line.sock.flush())
        except OSError:
            self._drop(line)
            return
        if line.sock.unsent:
            self._wait_for(line, EVENT_WRITE)
        elif not line.is_kept:
            self._leave(line)
        else:
            # Clients may send the next request before they have the answer.
            line.begin(self.cfg.keepalive)
            if ahead := line.parser.unreader.take_buffered():
                line.receive(ahead)
                self._take_up(line)
            else:
                self._wait_for(line, EVENT_READ)

    def _leave(self, line: Line) -> None:
        """End a connection so that its last answer arrives: nothing more is sent, and what comes is read."""
        line.is_leaving = True
        line.received.clear()
        line.begin(LEAVING_SECONDS)
        try:
            line.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(line)
            return
        self._wait_for(line, EVENT_READ)

    def _stop_waiting(self, line: Line) -> int | None:
        event = self.waiting.pop(line, None)
        if event is not None:
            self.poller.unregister(line.sock)
        return event

    def _drop(self, line: Line) -> None:
        self._stop_waiting(line)
        self.nr_conns -= 1
        line.sock.close()

    def _drop_oldest(self) -> None:
        if self.waiting:
            self._drop(next(iter(self.waiting)))
