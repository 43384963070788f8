"""Models of long work: jobs, whether their end was asked for, when their worker lived."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse


class Job(models.Model):
    """Long work done by the background worker, with its progress."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    collection = models.ForeignKey("pooling.Collection", on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=40, help_text="Name under which the work is registered.")
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    progress = models.FloatField(default=0, help_text="0 to 1.")
    detail = models.TextField(blank=True, help_text="Current step, or why it failed.")
    result = models.JSONField(null=True, blank=True)
    worker = models.CharField(max_length=300, blank=True, help_text="Host and process that run it.")
    task = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="What the worker knows it by."
    )
    was_interrupted = models.BooleanField(
        default=False, db_default=False, help_text="Failed because its worker was stopped."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.kind} ({self.state})"

    def get_absolute_url(self) -> str:
        return reverse("job", args=[self.pk])

    @property
    def is_finished(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)


class JobBeat(models.Model):
    """When the worker of a running job last said that it lives. A separate row, because the work itself may
    hold the job's row in a long transaction.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, primary_key=True, related_name="beat")
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.job_id} at {self.seen_at}"


class JobCancellation(models.Model):
    """Somebody asked for the end of a running job. A separate row, because the work itself may hold the
    job's row in a long transaction, and asking must not wait for that.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, primary_key=True, related_name="cancellation")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    asked_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"end of {self.job_id}"
