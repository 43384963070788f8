"""Asking an engine: what all kinds share, and patience with one that is busy or away.

Nothing here, and nothing that asks, logs: what an engine says may hold what it was sent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Protocol, TypeVar

from pooling.engines.answers import Answer
from pooling.engines.templates import Question
from pooling.interface.problems import InputError

TRIES = 4
LONGEST_WAIT = 60.0  # seconds, whatever a server asks for
Key = TypeVar("Key")


class EngineError(InputError):
    """An engine gave no usable answer; the sentence says why, without any key."""


class PassingError(EngineError):
    """It may work a little later; wait: seconds, as the server asks for."""

    def __init__(self, message: str, *, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class StoppedError(Exception):
    """Nobody wants the answer any more."""


class Asker(Protocol):
    """A connection to an engine. It answers one question at a time, from any thread."""

    def ask(self, question: Question) -> Answer:
        """The answer; `EngineError` where there is none."""
        ...

    def close(self) -> None: ...


class Pace:
    """Speed of asking an engine, over all threads; counts requests and retries.

    per_second: requests at most; None for no bound. sleep, clock: other ones in tests.
    """

    def __init__(
        self,
        per_second: float | None = None,
        *,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._stopped = threading.Event()
        self._sleep, self._clock = sleep or self._stopped.wait, clock
        self._lock = threading.Lock()
        self._next = 0.0
        self.requests = self.retries = 0

    def take_turn(self) -> None:
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._gap
            self.requests += 1
        self.rest(start - now)

    def rest(self, seconds: float) -> None:
        """Wait; `StoppedError` once `stop` was called."""
        if seconds > 0:
            self._sleep(seconds)
        if self._stopped.is_set():
            raise StoppedError

    def note_retry(self) -> None:
        with self._lock:
            self.retries += 1

    def counted(self) -> tuple[int, int]:
        with self._lock:
            counts = self.requests, self.retries
            self.requests = self.retries = 0
        return counts

    def stop(self) -> None:
        self._stopped.set()


def patient_answer(asker: Asker, question: Question, pace: Pace, *, tries: int = TRIES) -> Answer:
    """The answer, asked for again with growing pauses while the engine is busy or away."""
    for attempt in range(1, tries + 1):
        pace.take_turn()
        try:
            return asker.ask(question)
        except PassingError as error:
            if attempt == tries:
                raise
            pace.note_retry()
            pace.rest(min(error.wait if error.wait is not None else 2.0 ** (attempt - 1), LONGEST_WAIT))
    raise AssertionError("at least one try")


def answers(
    askers: Sequence[Asker], questions: Iterable[tuple[Key, Question]], pace: Pace
) -> Generator[tuple[Key, Answer], None, None]:
    """Answers as they come, a question at a time for each asker, until the first `EngineError` or closing."""
    idle: SimpleQueue[Asker] = SimpleQueue()
    for one in askers:
        idle.put(one)

    def answered(key: Key, question: Question) -> tuple[Key, Answer]:
        asker = idle.get()
        try:
            return key, patient_answer(asker, question, pace)
        finally:
            idle.put(asker)

    waiting = iter(questions)
    running: set[Future[tuple[Key, Answer]]] = set()
    pool = ThreadPoolExecutor(len(askers))
    try:
        while True:
            while len(running) < len(askers) and (next_question := next(waiting, None)) is not None:
                running.add(pool.submit(answered, *next_question))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            failed = [future for future in done if future.exception() is not None]
            yield from (future.result() for future in done if future not in failed)
            for future in failed:
                future.result()
    finally:
        pace.stop()
        pool.shutdown(cancel_futures=True)
