"""Long work: a job is a row with progress, done by the background worker through Django's task interface.

A kind of job is a function `(job, report) -> result`, registered under a name; `report(share, detail)` stores
how far it is.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django_tasks import task

from pooling.models import Collection, Job
from pooling.problems import refusals

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

Report = Callable[[float, str], None]
Work = Callable[[Job, Report], dict[str, Any]]

WORK: dict[str, Work] = {}


def job_kind(name: str) -> Callable[[Work], Work]:
    """Register a function as the work of jobs of kind `name`."""

    def register(work: Work) -> Work:
        WORK[name] = work
        return work

    return register


def start_job(collection: Collection, kind: str, arguments: dict[str, Any], user: User | None) -> Job:
    """Store a job and hand it to the background worker once the transaction around it is committed."""
    job = Job.objects.create(
        collection=collection,
        kind=kind,
        arguments=arguments,
        created_by=user,
        detail="Waiting for the worker.",
    )
    transaction.on_commit(lambda: run_job.enqueue(job.pk))
    return job


@task()
def run_job(job_id: int) -> None:
    """Do one job. Refused input ends it with that sentence; anything else with a general one and a log."""
    job = Job.objects.select_related("collection", "created_by").get(pk=job_id)
    if job.state in (Job.State.DONE, Job.State.FAILED):
        return
    _update(job, state=Job.State.RUNNING, detail="Started.", worker=f"{socket.gethostname()}:{os.getpid()}")
    try:
        result = WORK[job.kind](job, lambda share, detail: _update(job, progress=share, detail=detail))
    except refusals() as error:
        _update(job, state=Job.State.FAILED, detail=str(error), finished_at=timezone.now())
    except Exception:
        logger.exception("job %s (%s) failed", job.pk, job.kind)
        detail = f"Something went wrong on our side; the server's log has the details under job {job.pk}."
        _update(job, state=Job.State.FAILED, detail=detail, finished_at=timezone.now())
    else:
        now = timezone.now()
        _update(job, state=Job.State.DONE, progress=1.0, detail="Done.", result=result, finished_at=now)


def end_abandoned_jobs() -> int:
    """End the jobs that a worker of this machine was killed over, and return how many those were.

    A job stores what it makes in one transaction, so nothing of an abandoned one is there.
    """
    abandoned = [job for job in Job.objects.filter(state=Job.State.RUNNING) if _is_abandoned(job)]
    for job in abandoned:
        detail = "The server was stopped in the middle of it; nothing of it was stored. Start it again."
        _update(job, state=Job.State.FAILED, detail=detail, finished_at=timezone.now())
        if upload := job.arguments.get("upload"):
            default_storage.delete(upload)
    return len(abandoned)


def _is_abandoned(job: Job) -> bool:
    host, _, process = job.worker.rpartition(":")
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _update(job: Job, **values: Any) -> None:
    for name, value in values.items():
        setattr(job, name, value)
    job.save(update_fields=list(values))
