"""Long work: a job is a row with progress, done by the background worker through Django's task interface.

A kind of job is a function `(job, progress) -> result`, registered under a name in `kinds.py`;
`progress(share, detail)` stores how far it is, and raises `JobCancelledError` once somebody has asked for the
end of the job. A cancelled job leaves behind what it leaves after any other error: nothing. Kinds that store
their work in steps, each of which is of use, are registered as not to be cancelled. Work of two parts notes
the first when it is stored (`note_stored`), so that it can be taken up again behind it when the worker was
killed.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django_tasks import task

from pooling.interface.problems import InputError, refusals
from pooling.interface.results import Result
from pooling.jobs.kinds import LASTING, WORK
from pooling.models import Collection, Job, JobCancellation

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

CANCELLED = "Cancelled; nothing was saved."


class JobCancelledError(Exception):
    """Somebody has asked for the end of the job; raised by `progress` in the middle of the work."""


def start_job(collection: Collection, kind: str, arguments: Mapping[str, Any], user: User | None) -> Job:
    """Store a job and hand it to the background worker once the transaction around it is committed."""
    job = Job.objects.create(
        collection=collection,
        kind=kind,
        arguments=dict(arguments),
        created_by=user,
        detail="Waiting for the worker.",
    )
    transaction.on_commit(lambda: run_job.enqueue(job.pk))
    return job


@task()
def run_job(job_id: int) -> None:
    """Do one job. Refused input ends it with that sentence; anything else with a general one and a log."""
    job = Job.objects.select_related("collection", "created_by").get(pk=job_id)
    worker = f"{socket.gethostname()}:{os.getpid()}"
    # In one statement, for it may be cancelled at this moment.
    if not _changed(job, Job.State.QUEUED, state=Job.State.RUNNING, detail="Started.", worker=worker):
        return
    try:
        result = WORK[job.kind](job, lambda share, detail: _go_on(job, share, detail))
    except JobCancelledError:
        _end(job, Job.State.CANCELLED, CANCELLED)
    except refusals() as error:
        _end(job, Job.State.FAILED, str(error))
    except Exception:
        logger.exception("job %s (%s) failed", job.pk, job.kind)
        detail = f"Something went wrong; the server log has the details under job {job.pk}."
        _end(job, Job.State.FAILED, detail)
    else:
        _end(job, Job.State.DONE, "Done.", progress=1.0, result=result)


def jobs_before(job: Job) -> int:
    """How many jobs the worker does before one that waits."""
    unfinished = Job.objects.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING))
    return unfinished.filter(pk__lt=job.pk).count() if job.state == Job.State.QUEUED else 0


def can_be_cancelled(job: Job) -> bool:
    """Whether asking for the end of the job makes sense; once asked, it need not be asked again."""
    return not job.is_finished and job.kind not in LASTING and not is_being_cancelled(job)


def is_being_cancelled(job: Job) -> bool:
    """Whether somebody has asked for the end of a job that still runs."""
    return job.state == Job.State.RUNNING and JobCancellation.objects.filter(job=job).exists()


def cancel_job(job: Job, user: User | None) -> None:
    """Ask for the end of a job: at once while it waits, otherwise when its work next tells how far it is.

    Work that is done before it looks stays done, and the job says so. `InputError` for a finished job and for
    a kind that cannot be cancelled.
    """
    if job.kind in LASTING and not job.is_finished:
        problem = "This job saves its results step by step and cannot be cancelled."
        raise InputError(problem, conflict=True)
    now = timezone.now()
    if _changed(job, Job.State.QUEUED, state=Job.State.CANCELLED, detail=CANCELLED, finished_at=now):
        _discard_upload(job)
        return
    job.refresh_from_db()
    if job.is_finished:
        problem = f"This job is already {job.state}."
        raise InputError(problem, conflict=True)
    JobCancellation.objects.get_or_create(job=job, defaults={"asked_by": user})


def note_stored(job: Job, stored: Result | None) -> None:
    """Note what of a running job is stored for good, with `detail`, a sentence, and `url`; None takes it
    back. Anyone who takes the job up again finds it under `stored` among the arguments.
    """
    Job.objects.filter(pk=job.pk).update(result=stored)


def resume_job(job: Job, user: User | None) -> Job:
    """Take up again a job whose worker was killed, behind what is stored of it; the job that does so.

    `InputError` for a job of which nothing is stored, and for one that was taken up before.
    """
    with transaction.atomic():
        failed = Job.objects.select_for_update().get(pk=job.pk)
        stored = failed.result
        if failed.state != Job.State.FAILED or not stored or "resumed" in stored:
            problem = "This job cannot be resumed. Start it again."
            raise InputError(problem, conflict=True)
        resumed = start_job(job.collection, job.kind, {**job.arguments, "stored": stored}, user)
        Job.objects.filter(pk=job.pk).update(result={**stored, "resumed": resumed.pk})
    return resumed


def _go_on(job: Job, share: float, detail: str) -> None:
    """Store how far a job is, or raise `JobCancelledError`."""
    if not Job.objects.filter(pk=job.pk, cancellation=None).update(progress=share, detail=detail):
        raise JobCancelledError


def _changed(job: Job, still: str, /, **values: Any) -> bool:
    """Change a job if its state is `still` that one; whether it was."""
    if not Job.objects.filter(pk=job.pk, state=still).update(**values):
        return False
    for name, value in values.items():
        setattr(job, name, value)
    return True


def _end(job: Job, state: str, detail: str, **values: Any) -> None:
    _changed(job, Job.State.RUNNING, state=state, detail=detail, finished_at=timezone.now(), **values)


def _discard_upload(job: Job) -> None:
    if upload := job.arguments.get("upload"):
        default_storage.delete(upload)


def end_abandoned_jobs() -> int:
    """End the jobs that a worker of this machine was killed over, and return how many those were.

    A job stores what it makes in one transaction, so nothing of an abandoned one is there but what it noted.
    """
    abandoned = [job for job in Job.objects.filter(state=Job.State.RUNNING) if _is_abandoned(job)]
    for job in abandoned:
        detail = (
            f"The server was stopped during this job. {job.result['detail']}"
            if job.result
            else "The server was stopped during this job; nothing was saved. Start it again."
        )
        _end(job, Job.State.FAILED, detail)
        _discard_upload(job)
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
