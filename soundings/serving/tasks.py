"""Tasks as `django_tasks_db` stores them, done one at a time by a thread."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from django.utils.crypto import get_random_string
from django_tasks_db.compat import DEFAULT_TASK_BACKEND_ALIAS, DEFAULT_TASK_QUEUE_NAME, TASKS_LOGGER
from django_tasks_db.management.commands.db_worker import Worker
from django_tasks_db.models import DBTaskResult

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
