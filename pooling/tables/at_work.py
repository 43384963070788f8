"""What a list without rows says while a job makes what it lists; home and overview say the same as *Next*."""

from __future__ import annotations

from django.db.models import QuerySet

from pooling.models import Job

# What jobs at work make that is a step, and their kinds.
MAKING = {
    "queries": ("queries",),
    "documents": ("documents",),
    "runs": ("run", "engine run"),
    "pool": ("pool", "extension", "campaign"),
    "queue": ("queue", "campaign"),
    "release": ("release and measure",),
    "report": ("report", "release and measure"),
}
SENTENCES = {
    "queries": "Queries are being imported.",
    "documents": "Documents are being imported.",
    "runs": "A run is being imported.",
    "pool": "A pool is being built.",
    "queue": "A queue is being opened.",
    "release": "The labels are being released and measured.",
    "report": "A report is being made.",
}


def jobs_at_work(made: str) -> QuerySet[Job]:
    """Jobs that make this and are not finished, the first of them first."""
    states = (Job.State.QUEUED, Job.State.RUNNING)
    return Job.objects.filter(kind__in=MAKING[made], state__in=states).order_by("pk")
