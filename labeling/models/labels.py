"""Labels that were imported, and labels frozen under a name."""

from __future__ import annotations

from django.db import models
from django.urls import reverse
from django.utils import timezone

from pooling.models import Collection, Document, Query
from pooling.tidying.kept import NOT_DELETED, Kept, account_field


class LabelFile(models.Model):
    """An import of a qrels file; one that was taken back stays, with the labels that it had brought."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="label_files")
    name = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    complete_for = models.JSONField(
        default=list,
        help_text="Ids of the queries for which the file was declared complete: unlisted is not relevant.",
    )
    imported_by = account_field()
    imported_at = models.DateTimeField(default=timezone.now)
    withdrawn_by = account_field()
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name


class ImportedLabel(models.Model):
    """A label that came from a qrels file; a negative relevance is "pooled, not judged"."""

    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="imported_labels", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="imported_labels", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="imported_labels")
    relevance = models.IntegerField()
    file = models.ForeignKey(LabelFile, null=True, on_delete=models.CASCADE, related_name="labels")
    # What an earlier file said of a pair that was only pooled there.
    pooled_as = models.IntegerField(null=True)
    pooled_by = models.ForeignKey(LabelFile, null=True, on_delete=models.SET_NULL, related_name="+")
    source_name = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    imported_by = account_field()
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["query", "document"], name="one_imported_label_per_pair")
        ]
        indexes = [models.Index(fields=["collection", "imported_at"], name="imported_by_time")]

    def __str__(self) -> str:
        return f"{self.query_id} × {self.document_id}: {self.relevance}"


class WithdrawnLabel(models.Model):
    """A label of an import that was taken back; it counts nowhere."""

    file = models.ForeignKey(LabelFile, on_delete=models.CASCADE, related_name="withdrawn")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    relevance = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.query_id} × {self.document_id}: {self.relevance}"


class QrelsRelease(Kept):
    """Labels frozen under a name; the file and its checksum do not change any more."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="releases")
    name = models.CharField(max_length=200)
    rule = models.CharField(max_length=40)
    file = models.FileField(upload_to="qrels/", max_length=300)  # TREC qrels
    sha256 = models.CharField(max_length=64)
    # JSON lines; their checksums are in the sidecar. Empty where no fact was confirmed.
    facts = models.FileField(upload_to="qrels/", max_length=300, blank=True, db_default="")
    supports = models.FileField(upload_to="qrels/", max_length=300, blank=True, db_default="")
    pair_count = models.PositiveIntegerField()
    relevant_count = models.PositiveIntegerField()
    query_count = models.PositiveIntegerField()
    sidecar = models.JSONField(default=dict, help_text="Rule, counts, provenance and checksum, as exported.")
    released_by = account_field()
    released_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-released_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "name"], condition=NOT_DELETED, name="one_release_per_name"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("release", args=[self.collection.slug, self.pk])
