"""Records of pre-labels that were handed out."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from labeling.models.prelabels import Prelabeler
from labeling.models.words import Verdict
from pooling.models import Document, Query


class PrelabelSight(models.Model):
    """A pre-label that was handed out to somebody: from then on they have seen it, whatever becomes of it.

    What a verdict says of this rests on these rows, never on the word of the sender.
    """

    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+", db_index=False)
    prelabeler = models.ForeignKey(Prelabeler, on_delete=models.CASCADE, related_name="+")
    verdict = models.CharField(max_length=12, choices=Verdict.choices, help_text="As it was shown.")
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["query", "document", "annotator", "prelabeler"],
                name="one_sight_per_person_and_prelabel",
            )
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} saw {self.query_id} × {self.document_id}: {self.verdict}"
