"""Pairs whose answer is known, and what answers to them may lead to."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from labeling.models.queues import Queue
from labeling.models.words import Verdict
from pooling.models import Collection, Document, Query
from pooling.tidying.kept import account_field


class GoldQuestion(models.Model):
    """A pair whose answer is known. In the stream it looks like any other; practice ones come before it."""

    class Origin(models.TextChoices):
        MARKED = "marked"
        IMPORTED = "imported"
        UNANIMOUS = "unanimous"
        SETTLED = "settled", "adjudicated"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="gold_questions")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="gold_questions", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="gold_questions")
    answer = models.CharField(
        max_length=12, choices=[(value, label) for value, label in Verdict.choices if value != "cannot_judge"]
    )
    reason = models.TextField(blank=True, help_text="Why; shown in the practice round.")
    practice = models.BooleanField(default=False)
    active = models.BooleanField(default=True)
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.MARKED)
    created_by = account_field()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["query", "document"], name="one_gold_question_per_pair")
        ]

    def __str__(self) -> str:
        return f"{self.query_id} × {self.document_id}: {self.answer}"

    @property
    def pair_in_words(self) -> str:
        return f"{self.query.external_id} × {self.document.external_id}"

    @property
    def use_in_words(self) -> str:
        if not self.active:
            return "out of use"
        return "for practice" if self.practice else "hidden in judging"


class DeclinedSuggestion(models.Model):
    """A unanimous pair that an admin does not want as a gold question; it is not suggested again."""

    query = models.ForeignKey(
        Query, on_delete=models.CASCADE, related_name="declined_suggestions", db_index=False
    )
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="declined_suggestions")
    declined_by = account_field()
    declined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "document"], name="declined_once_per_pair")]

    def __str__(self) -> str:
        return f"{self.query_id} × {self.document_id}"


class Quarantine(models.Model):
    """An annotator's work in a queue stopped, and their judgments there kept but not counted, until restored.

    `evidence` is what the answers to gold questions said at that time: `score`, `answers` (the newest first)
    and the number of `judgments` that were set aside.
    """

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="quarantines", db_index=False)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="quarantines"
    )
    reason = models.TextField(blank=True)
    evidence = models.JSONField(default=dict)
    imposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Null for the rule.",
    )
    imposed_at = models.DateTimeField(default=timezone.now)
    lifted_by = account_field()
    lifted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-imposed_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "annotator"],
                condition=models.Q(lifted_at__isnull=True),
                name="one_quarantine_at_a_time",
            )
        ]
        indexes = [models.Index(fields=["queue", "annotator"], name="quarantines_of_a_queue")]

    def __str__(self) -> str:
        return f"{self.annotator_id} in queue {self.queue_id}"
