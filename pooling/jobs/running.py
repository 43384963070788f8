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
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone
from django_tasks import TaskResultStatus, task
from django_tasks.exceptions import TaskResultDoesNotExist

from pooling.interface.problems import InputError, is_disk_full, is_outage, refusals
from pooling.interface.results import Result
from pooling.jobs.kinds import WORK, kind_of
from pooling.jobs.workers import SILENCE, beating, is_gone, take
from pooling.models import Collection, Job, JobCancellation

logger = logging.getLogger(__name__)

CANCELLED = "Cancelled; nothing was saved."
STOPPED = "The server was stopped"
WENT_AWAY = "The database or the file storage went away"
# A worker waits for its database this long before it ends.
OUTAGE_SECONDS = 60
# The file of an interrupted import is kept for this long, so that the import can be started again.
RESTARTABLE = timedelta(days=7)


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
    transaction.on_commit(lambda: _enqueue(job))
    return job


def start_once(collection: Collection, kind: str, arguments: Mapping[str, Any], user: User | None) -> Job:
    """`start_job`, or the job that does just that already: a second click starts nothing."""
    with transaction.atomic():
        Collection.everything.select_for_update(no_key=True).get(pk=collection.pk)
        unfinished = Job.objects.filter(
            collection=collection, kind=kind, state__in=(Job.State.QUEUED, Job.State.RUNNING)
        )
        same = unfinished.filter(arguments=dict(arguments)).first()
        return same or start_job(collection, kind, arguments, user)


def _enqueue(job: Job) -> None:
    task = run_job.using(queue_name=kind_of(job).line).enqueue(job.pk)
    Job.objects.filter(pk=job.pk).update(task=task.id)


@task()
def run_job(job_id: int) -> None:
    """Do one job. Refused input ends it with that sentence; anything else with a general one and a log."""
    end_abandoned_jobs()
    job = Job.objects.select_related("collection", "created_by").get(pk=job_id)
    if not take(job):
        return
    try:
        with beating(job):
            result = WORK[job.kind](job, lambda share, detail: _go_on(job, share, detail))
    except JobCancelledError:
        _end(job, Job.State.CANCELLED, CANCELLED)
    except Exception as error:
        _end_after(job, error)
    else:
        _end(job, Job.State.DONE, "Done.", progress=1.0, result=result)


def _end_after(job: Job, error: Exception) -> None:
    """End a failed job with the refusal, or with a log; interrupted where database or storage went away."""
    if is_outage(error) and not is_disk_full(error):
        logger.warning("job %s (%s): %s", job.pk, job.kind, type(error).__name__)
        _when_the_database_is_back(lambda: _interrupt(job, WENT_AWAY))
    elif isinstance(error, refusals()):
        _end(job, Job.State.FAILED, str(error))
    else:
        logger.error("job %s (%s) failed", job.pk, job.kind, exc_info=error)
        detail = f"Something went wrong; the server log has the details under job {job.pk}."
        _end(job, Job.State.FAILED, detail)


def _when_the_database_is_back(store: Callable[[], object]) -> None:
    """Store something that must not be lost; a worker without its database has nothing else to do."""
    for last in (False,) * OUTAGE_SECONDS + (True,):
        try:
            store()
            return
        except (OperationalError, InterfaceError):
            if last:
                raise
            connection.close()
            time.sleep(1)


def jobs_before(job: Job) -> int:
    unfinished = Job.objects.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING))
    return unfinished.filter(pk__lt=job.pk).count() if job.state == Job.State.QUEUED else 0


def can_be_cancelled(job: Job) -> bool:
    """Once its end was asked for, it need not be asked again."""
    return not job.is_finished and kind_of(job).can_be_cancelled and not is_being_cancelled(job)


def is_being_cancelled(job: Job) -> bool:
    return job.state == Job.State.RUNNING and JobCancellation.objects.filter(job=job).exists()


def cancel_job(job: Job, user: User | None) -> None:
    """Ask for the end of a job: at once while it waits, otherwise when its work next tells how far it is.

    Work that is done before it looks stays done, and the job says so. `InputError` for a finished job and for
    a kind that cannot be cancelled.
    """
    if not (kind_of(job).can_be_cancelled or job.is_finished):
        problem = "This job saves its results step by step and cannot be cancelled."
        raise InputError(problem, conflict=True)
    end_abandoned_jobs()
    now = timezone.now()
    if _changed(job, Job.State.QUEUED, state=Job.State.CANCELLED, detail=CANCELLED, finished_at=now):
        if upload := job.arguments.get("upload"):
            default_storage.delete(upload)
        return
    job.refresh_from_db()
    if job.is_finished:
        problem = f"This job is already {job.state}."
        raise InputError(problem, conflict=True)
    JobCancellation.objects.get_or_create(job=job, defaults={"asked_by": user})


def note_stored(job: Job, stored: Result | None) -> None:
    """Note what of a running job is stored, `detail` and `url`, or None; resuming finds it as `stored`."""
    Job.objects.filter(pk=job.pk).update(result=stored)


def can_be_resumed(job: Job) -> bool:
    """The job was interrupted or failed behind what it noted, can be done again, and was not taken up."""
    if job.state != Job.State.FAILED or "resumed" in (job.result or {}):
        return False
    if not job.was_interrupted and not job.result:
        return False
    upload = job.arguments.get("upload")
    return not upload or default_storage.exists(upload)


def resume_job(job: Job, user: User | None) -> Job:
    """Take up a job again behind what is stored of it, as a new job; `InputError` unless `can_be_resumed`."""
    with transaction.atomic():
        failed = Job.objects.select_for_update().get(pk=job.pk)
        if not can_be_resumed(failed):
            problem = "This job cannot be resumed. Start it again."
            raise InputError(problem, conflict=True)
        stored = failed.result or {}
        arguments = {**failed.arguments, "stored": stored} if stored else failed.arguments
        resumed = start_job(failed.collection, failed.kind, arguments, user)
        Job.objects.filter(pk=job.pk).update(result={**stored, "resumed": resumed.pk})
    return resumed


def _go_on(job: Job, share: float, detail: str) -> None:
    """Store how far a job is, or raise `JobCancelledError` where its end was asked for or it was given up."""
    running = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, cancellation=None)
    if not running.update(progress=share, detail=detail):
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


def end_abandoned_jobs() -> int:
    """End the jobs whose worker was stopped, on any machine, and return how many those were.

    A job stores what it makes in one transaction, so nothing of an abandoned one is there but what it noted.
    Any process may do this at any time: one that lives says so.
    """
    running = Job.objects.filter(state=Job.State.RUNNING).select_related("beat").defer("arguments")
    return sum(_end_if_gone(job) for job in running)


def _end_if_gone(job: Job) -> bool:
    beat = getattr(job, "beat", None)
    if not is_gone(job.worker, beat.seen_at if beat else job.created_at):
        return False
    if JobCancellation.objects.filter(job=job).exists():
        detail = job.result["detail"] if job.result else CANCELLED
        return _changed(
            job, Job.State.RUNNING, state=Job.State.CANCELLED, detail=detail, finished_at=timezone.now()
        )
    return _interrupt(job, STOPPED)


def _interrupt(job: Job, what: str) -> bool:
    """End a job by what interrupted it, with what is stored of it; whether it was still running."""
    stored = Job.objects.values_list("result", flat=True).filter(pk=job.pk).first()
    detail = (
        f"{what} during this job. {stored['detail']}"
        if stored
        else f"{what} during this job; nothing was saved. Start it again."
    )
    return _changed(
        job,
        Job.State.RUNNING,
        state=Job.State.FAILED,
        detail=detail,
        finished_at=timezone.now(),
        was_interrupted=True,
    )


def enqueue_lost_jobs() -> int:
    """Hand out again jobs whose worker stopped between taking the task and beginning; how many."""
    if not run_job.get_backend().supports_get_result:
        return 0
    since = timezone.now() - SILENCE
    waiting = Job.objects.filter(state=Job.State.QUEUED, created_at__lt=since).defer("arguments")
    lost = [job for job in waiting if not _is_ready(job.task)]
    for job in lost:
        _enqueue(job)
    return len(lost)


def _is_ready(task_id: str) -> bool:
    try:
        return run_job.get_result(task_id).status == TaskResultStatus.READY
    except TaskResultDoesNotExist:
        return False


def discard_interrupted_uploads() -> int:
    """Remove the files of imports that were interrupted long ago, and return how many those were."""
    old = Job.objects.filter(was_interrupted=True, finished_at__lt=timezone.now() - RESTARTABLE)
    waiting = Job.objects.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING))
    needed = {job.arguments.get("upload") for job in waiting}
    uploads = {job.arguments.get("upload") for job in old} - needed - {None}
    present = [name for name in uploads if default_storage.exists(name)]
    for name in present:
        default_storage.delete(name)
    return len(present)
