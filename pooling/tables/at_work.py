"""What a list without rows says while a job makes what it lists; home and overview say the same as *Next*."""

from __future__ import annotations

from django.db.models import QuerySet

from pooling.models import Job

# Kinds of jobs that are at work on a step, and what they make.
MAKING = {
    "queries": "queries",
    "documents": "documents",
    "run": "runs",
    "engine run": "runs",
    "pool": "pool",
    "campaign": "pool",
    "queue": "queue",
    "report": "report",
    "release and measure": "report",
}
SENTENCES = {
    "queries": "Queries are being imported.",
    "documents": "Documents are being imported.",
    "runs": "A run is being imported.",
    "pool": "A pool is being built.",
    "queue": "A queue is being opened.",
    "report": "A report is being made.",
}


def jobs_at_work(made: str = "") -> QuerySet[Job]:
    """Jobs that make this, or anything, and are not finished, the first of them first."""
    kinds = [kind for kind, makes in MAKING.items() if made in ("", makes)]
    states = (Job.State.QUEUED, Job.State.RUNNING)
    return Job.objects.filter(kind__in=kinds, state__in=states).order_by("pk")
