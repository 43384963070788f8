"""One process that does the background work of several queues.

Each queue of tasks has a thread, so that none waits for another. One more thread asks every half second which
queues have work, and keeps house. A database that is away or locked is waited for. Where it went away in the
middle of a task, the process ends and is started again, so that everybody sees that nobody does that task.
"""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Iterable, Sequence
from threading import Event, Thread
from types import FrameType
from typing import Any

from django.db import Error, close_old_connections, connections
from django.utils.crypto import get_random_string
from django_tasks_db.compat import DEFAULT_TASK_BACKEND_ALIAS, DEFAULT_TASK_QUEUE_NAME, TASKS_LOGGER
from django_tasks_db.management.commands.db_worker import Worker
from django_tasks_db.models import DBTaskResult

from soundings.serving.housekeeping import Housekeeping
from soundings.serving.keeper import keeper_is_gone

BACKEND, FIRST_QUEUE = DEFAULT_TASK_BACKEND_ALIAS, DEFAULT_TASK_QUEUE_NAME

# Jobs tell themselves what became of them.
for name in (TASKS_LOGGER, "django_tasks_db"):
    logging.getLogger(name).setLevel(logging.CRITICAL)


def waiting_queues(queues: Iterable[str]) -> list[str]:
    """Those of these queues in which a task can begin now."""
    ready = DBTaskResult.objects.ready().filter(backend_name=BACKEND, queue_name__in=list(queues))
    return list(ready.order_by().values_list("queue_name", flat=True).distinct())


class OneTask(Worker):
    def __init__(self, queue: str) -> None:
        super().__init__(
            queue_names=[queue],
            excluded_queue_names=[],
            backend_name=BACKEND,
            interval=0.5,
            batch=True,
            max_tasks=1,
            startup_delay=False,
            worker_id=get_random_string(32),
        )
        self.has_done_one = self.is_unfinished = False

    def run_task(self, db_task_result: Any) -> None:
        """Do it and store how it ended; it stays unfinished where that cannot be stored."""
        self.is_unfinished = True
        super().run_task(db_task_result)
        self.is_unfinished = False
        self.has_done_one = True


logger = logging.getLogger(__name__)

# Work is looked for as often; while the database is away, less and less often.
ASKING_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 10.0
# A process that ends without its keeper gives its tasks so long: the keeper would have asked a second time.
FAREWELL_SECONDS = 20.0


class Lane(Thread):
    """Does the tasks of one queue, one after another, each time that `woken` is set."""

    def __init__(self, queue: str) -> None:
        super().__init__(name=queue, daemon=True)
        self.queue = queue
        self.woken, self.stopped = Event(), Event()
        self.is_broken = False

    def stop(self) -> None:
        """End behind the task at hand."""
        self.stopped.set()
        self.woken.set()

    def run(self) -> None:
        """Wait for `woken`, and do what there is, until stopped or until a task's end could not be stored."""
        pause = ASKING_SECONDS
        while not (self.stopped.is_set() or self.is_broken):
            self.woken.wait()
            self.woken.clear()
            try:
                self._work()
                pause = ASKING_SECONDS
            except Exception as error:
                log(error, f"tasks of {self.queue}")
                self.stopped.wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            finally:
                connections.close_all()

    def _work(self) -> None:
        while not self.stopped.is_set():
            worker = OneTask(self.queue)
            try:
                worker.run()
            finally:
                self.is_broken = worker.is_unfinished
            if not worker.has_done_one:
                return


def log(error: Exception, what: str) -> None:
    """One line for a database that is away, locked or full; everything for what nobody expects."""
    if isinstance(error, Error):
        logger.warning("%s: %s", what, " ".join(str(error).split()))
    else:
        logger.error("%s", what, exc_info=error)


class Work:
    def __init__(self, queues: Sequence[str]) -> None:
        self.lanes = [Lane(queue) for queue in queues]
        self.looking = Thread(target=self._look, daemon=True)
        self.stops = 0
        self.woken = Event()

    def run(self) -> int:
        """0 when told to stop and what was at hand is done; 1 when something was left in the middle."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        for thread in (*self.lanes, self.looking):
            thread.start()
        while not (self.stops or self._is_broken() or keeper_is_gone()):
            self.woken.wait(ASKING_SECONDS)
        return 0 if self._end() and not self._is_broken() else 1

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stops += 1
        self.woken.set()

    def _is_broken(self) -> bool:
        return any(lane.is_broken for lane in self.lanes)

    def _end(self) -> bool:
        """All lanes have ended; told twice, or without a keeper that would, it does not wait much longer."""
        for lane in self.lanes:
            lane.stop()
        deadline = time.monotonic() + FAREWELL_SECONDS
        while any(lane.is_alive() for lane in self.lanes):
            is_alone = self._is_broken() or keeper_is_gone()
            if self.stops > 1 or (is_alone and time.monotonic() > deadline):
                return False
            time.sleep(0.05)
        return True

    def _look(self) -> None:
        """Tell lanes of their work, and keep house."""
        lanes = {lane.queue: lane for lane in self.lanes}
        house = Housekeeping(takes_up=True, erases=FIRST_QUEUE in lanes)
        pause = ASKING_SECONDS
        while not (self.stops or self._is_broken()):
            try:
                close_old_connections()
                house.keep()
                for queue in waiting_queues(lanes):
                    lanes[queue].woken.set()
                pause = ASKING_SECONDS
            except Exception as error:
                log(error, "looking for work")
                connections.close_all()
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            self.woken.wait(pause)
        connections.close_all()
