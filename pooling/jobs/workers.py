"""The processes that do long work, and whether they are still there.

A process on this machine is looked up by its number. One on another machine, or in a container that was
replaced, is known by the moment when it last said that it lives: a thread says so every few seconds, because
the work may sit in one long statement or hold the row of its job in a long transaction.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from pooling.models import Job, JobBeat

logger = logging.getLogger(__name__)

# A worker elsewhere that was silent for this long is gone.
SILENCE = timedelta(seconds=45)
# SQLite lets nobody else write while one writes: a long transaction keeps its own worker silent.
SILENCE_ON_SQLITE = timedelta(minutes=10)
# The start of a process is known to a tick, the boot of the machine to a second; clocks are set right.
CLOCKS_DIFFER = timedelta(seconds=10)


def this_worker() -> str:
    """This process, by host and number."""
    return f"{socket.gethostname()}:{os.getpid()}"


def is_gone(worker: str, seen_at: datetime) -> bool:
    """A process of this host by its number, another by its silence."""
    host, _, process = worker.rpartition(":")
    if host != socket.gethostname():
        silence = SILENCE_ON_SQLITE if connection.vendor == "sqlite" else SILENCE
        return timezone.now() - seen_at > silence
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return True
    except PermissionError:
        return False
    # A container that is started again counts its processes from the beginning.
    started_at = _started_at(int(process))
    return started_at is not None and started_at - seen_at > CLOCKS_DIFFER


def _started_at(process: int) -> datetime | None:
    """When a process of this machine was started, where the kernel tells (Linux: proc(5))."""
    try:
        after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        lines = Path("/proc/stat").read_text().splitlines()
    except OSError:
        return None
    booted = next(int(line.split()[1]) for line in lines if line.startswith("btime "))
    ticks = int(after_name[19])  # field 22, counted from the state behind the name, which is field 3
    return datetime.fromtimestamp(booted + ticks / os.sysconf("SC_CLK_TCK"), tz=UTC)


def take(job: Job) -> bool:
    """Make this process the worker of a job that waits; False when the job no longer does."""
    values = {"state": Job.State.RUNNING, "detail": "Started.", "worker": this_worker()}
    with transaction.atomic():
        # In one statement, for it may be cancelled at this moment.
        if not Job.objects.filter(pk=job.pk, state=Job.State.QUEUED).update(**values):
            return False
        JobBeat.objects.update_or_create(job=job, defaults={"seen_at": timezone.now()})
    for name, value in values.items():
        setattr(job, name, value)
    return True


@contextmanager
def beating(job: Job) -> Iterator[None]:
    """Say every few seconds that the worker of `job` lives, for as long as the block runs."""
    if not settings.JOB_BEAT_SECONDS:
        yield
        return
    ended = Event()
    thread = Thread(target=_beat, args=(job.pk, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _beat(job_id: int, ended: Event) -> None:
    """Store the moment until `ended`; a database that is away or locked is asked again at the next one."""
    try:
        while not ended.wait(settings.JOB_BEAT_SECONDS):
            try:
                JobBeat.objects.filter(job=job_id).update(seen_at=timezone.now())
            except DatabaseError:
                logger.debug("job %s: its beat could not be stored", job_id, exc_info=True)
                connection.close()
    finally:
        connection.close()
