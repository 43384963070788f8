"""The background worker: a thread for each kind of work, which waits for a database that is busy or away."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest
from django.db import OperationalError
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from pooling.tidying import erasing
from pooling.tidying.erasing import erase_in_background
from soundings.serving.work import Lane, Work, waiting_queues
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _stored_tasks(settings: Settings) -> None:
    stored = {"BACKEND": "django_tasks_db.DatabaseBackend"}
    settings.TASKS = {"default": settings.TASKS["default"] | stored}


@pytest.fixture
def lane() -> Iterator[Lane]:
    """The thread for ordinary work, which ends with the test."""
    lane = Lane("default")
    lane.start()
    yield lane
    lane.stop()
    lane.join()


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> tuple[Event, list[str]]:
    """What a lane writes to the log, and an event for when it has written."""
    lines: list[str] = []
    written = Event()

    def write(message: str, *values: object, **options: object) -> None:
        lines.append(message % values)
        written.set()

    logger = logging.getLogger("soundings.serving.work")
    monkeypatch.setattr(logger, "warning", write)
    monkeypatch.setattr(logger, "error", write)
    return written, lines


def state_of(task: Any) -> str:
    state: str = DBTaskResult.objects.get(pk=task.id).status
    return state


def do(lane: Lane, done: Event) -> None:
    """Tell a lane of work, and wait until it is done."""
    lane.woken.set()
    assert done.wait(PATIENCE_SECONDS)


def test_a_lane_does_all_that_waits_in_its_queue(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [erase_in_background.enqueue() for _ in range(3)]
    other = erase_in_background.using(queue_name="models").enqueue()
    assert sorted(waiting_queues(["default", "models", "messages"])) == ["default", "models"]
    calls, done = [], Event()

    def count() -> None:
        calls.append(1)
        if len(calls) == len(tasks):
            done.set()

    monkeypatch.setattr(erasing, "erase_old", count)
    do(lane, done)
    lane.stop()
    lane.join()
    assert [state_of(task) for task in tasks] == ["SUCCESSFUL"] * 3
    assert state_of(other) == "READY"


def test_a_database_that_is_locked_for_long_ends_no_worker(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, logged: tuple[Event, list[str]]
) -> None:
    task = erase_in_background.enqueue()
    done = Event()
    monkeypatch.setattr(erasing, "erase_old", done.set)
    with monkeypatch.context() as patch:

        def locked(*given: object, **named: object) -> None:
            raise OperationalError("database is locked")

        patch.setattr("django_tasks_db.management.commands.db_worker.exclusive_transaction", locked)
        do(lane, logged[0])
    assert logged[1] == ["tasks of default: database is locked"]
    do(lane, done)
    lane.stop()
    lane.join()
    assert state_of(task) == "SUCCESSFUL"
    assert not lane.is_broken


def test_a_task_whose_end_cannot_be_stored_ends_the_worker_so_that_everybody_sees_it(
    monkeypatch: pytest.MonkeyPatch, logged: tuple[Event, list[str]]
) -> None:
    def away(*given: object) -> None:
        raise OperationalError("the server closed the connection")

    task = erase_in_background.using(queue_name="messages").enqueue()
    monkeypatch.setattr(erasing, "erase_old", away)
    monkeypatch.setattr(DBTaskResult, "set_failed", away)
    whole = Work(["models", "messages"])
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        assert whole.run() == 1
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    whole.looking.join()
    assert logged[1] == ["tasks of messages: the server closed the connection"]
    assert state_of(task) == "RUNNING"
    assert not any(lane.is_alive() for lane in whole.lanes)
