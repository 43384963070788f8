"""What stage 3 keeps: reports (runs measured on a qrels release) and replays (strategies on labels)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse

from labeling.models import QrelsRelease
from pooling.models import Collection, Run


class Report(models.Model):
    """Runs × a qrels release; computed once and kept, so that showing it computes nothing."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="reports")
    name = models.CharField(max_length=200)
    release = models.ForeignKey(QrelsRelease, on_delete=models.PROTECT, related_name="reports")
    runs = models.ManyToManyField(Run, related_name="reports")
    options = models.JSONField(
        default=dict,
        help_text="Cutoffs, measures, conventions, seed, versions, and checksums of what was measured.",
    )
    result = models.JSONField(default=dict, help_text="The object that `evaluate --format json` prints.")
    # Parquet: run, query_id, measure, k, value
    per_query = models.FileField(upload_to="reports/", max_length=300)
    # Parquet: query_id, document_id, relevance, rank_0 ... (order of options["runs"]; null: not retrieved)
    relevant = models.FileField(upload_to="reports/", max_length=300)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("report", args=[self.pk])


class Replay(models.Model):
    """Strategies replayed on labels that were there; computed once and kept."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="replays")
    name = models.CharField(max_length=200)
    # Null: the labels as they stood. What was used is told in `options`, which outlives the release.
    release = models.ForeignKey(
        QrelsRelease, null=True, blank=True, on_delete=models.SET_NULL, related_name="replays"
    )
    options = models.JSONField(
        default=dict,
        help_text="Labels, runs with checksums, strategies, depth, budgets, seeds, noise, batch.",
    )
    result = models.JSONField(default=dict, help_text="The object that `simulate --format json` prints.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("replay", args=[self.pk])
