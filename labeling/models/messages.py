"""Models of messages of annotators to the admins about a pair, and of the answers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from labeling.models.queues import Queue
from pooling.models import Collection, Document, Query

LONGEST_MESSAGE = 500


class PairMessage(models.Model):
    """A message from a pair, such as “This document is broken”, and its answer."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="pair_messages")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="pair_messages")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="pair_messages", db_index=False
    )
    key = models.CharField(max_length=64, help_text="Chosen by the client; sending it again changes nothing.")
    text = models.CharField(max_length=LONGEST_MESSAGE)
    sent_at = models.DateTimeField(default=timezone.now)
    answer = models.CharField(max_length=LONGEST_MESSAGE, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["author", "key"], name="one_message_per_key")]

    def __str__(self) -> str:
        return self.text
