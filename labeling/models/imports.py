"""Judgments that were given elsewhere, and the people who gave them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from pooling.models import Collection
from pooling.tidying.kept import Kept, account_field


class JudgmentImport(Kept):
    """A file of single judgments that was imported; deleting it takes them back."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="judgment_imports")
    name = models.CharField(max_length=300)
    format = models.CharField(max_length=20)
    sha256 = models.CharField(max_length=64)
    event_count = models.PositiveIntegerField(default=0)
    judgment_count = models.PositiveIntegerField(default=0, help_text="Verdicts that stand.")
    pair_count = models.PositiveIntegerField(default=0)
    imported_by = account_field()
    imported_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name


class ImportedAnnotator(models.Model):
    """Somebody who judged elsewhere, as an account without sign-in; `name` is that of the file."""

    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="imported_annotators", db_index=False
    )
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="imported_annotator"
    )
    name = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="one_imported_annotator_per_name")
        ]

    def __str__(self) -> str:
        return self.name
