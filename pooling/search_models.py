"""Models of searching documents: what is indexed, who searched, and what that found."""

from __future__ import annotations

from django.db import models

from pooling.tidying.kept import account_field


class TextIndex(models.Model):
    """The state of a collection's index of its texts as they are; see `pooling/texts/search.py`."""

    collection = models.OneToOneField(
        "pooling.Collection", on_delete=models.CASCADE, related_name="text_index"
    )
    is_behind = models.BooleanField(default=True, help_text="Texts were added or changed since it was built.")

    def __str__(self) -> str:
        return f"index of {self.collection_id}"


class IndexedText(models.Model):
    """A document whose text, in this version, is indexed; the migration adds what searches it."""

    document = models.OneToOneField(
        "pooling.Document", on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    version = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.document_id}, version {self.version}"


class DocumentSearch(models.Model):
    """Somebody searched the documents for a query; appended, never changed."""

    collection = models.ForeignKey(
        "pooling.Collection", on_delete=models.CASCADE, related_name="document_searches"
    )
    query = models.ForeignKey("pooling.Query", on_delete=models.CASCADE, related_name="document_searches")
    words = models.CharField(max_length=300)
    shown = models.PositiveIntegerField(help_text="Documents that were shown.")
    searched_by = account_field()
    searched_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "document searches"

    def __str__(self) -> str:
        return f"{self.query_id}: {self.words}"


class SearchFind(models.Model):
    """A pair that somebody added because a search had found its document."""

    entry = models.OneToOneField("pooling.PoolEntry", on_delete=models.CASCADE, related_name="search_find")
    search = models.ForeignKey(DocumentSearch, null=True, on_delete=models.SET_NULL, related_name="finds")
    added_by = account_field()
    added_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"find {self.entry_id}"
