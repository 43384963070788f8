"""Taking back an import of labels: they count no longer, and what they said is kept."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from labeling.models import ImportedLabel, LabelFile, WithdrawnLabel
from pooling.interface.problems import InputError
from pooling.people.activity_log import record_action
from pooling.texts.importing import lock

BATCH = 5000


def withdraw_labels(file: LabelFile, *, by: User | None = None) -> int:
    """Take back what an import brought, and say how many labels that were.

    A pair that an earlier file had as pooled, not judged, is that again. Releases, queues and documents that
    came with the file stay as they are. `InputError` if the import was taken back before.
    """
    with transaction.atomic():
        lock(file.collection)
        file.refresh_from_db()
        if file.withdrawn_at:
            raise InputError(f"The import of “{file.name}” was taken back before.", conflict=True)
        labels = list(ImportedLabel.objects.filter(file=file).select_related("pooled_by"))
        kept = (
            WithdrawnLabel(
                file=file, query_id=one.query_id, document_id=one.document_id, relevance=one.relevance
            )
            for one in labels
        )
        WithdrawnLabel.objects.bulk_create(kept, batch_size=BATCH)
        _as_before([label for label in labels if label.pooled_by and not label.pooled_by.withdrawn_at])
        ImportedLabel.objects.filter(file=file).delete()
        file.withdrawn_at, file.withdrawn_by = timezone.now(), by
        file.save(update_fields=["withdrawn_at", "withdrawn_by"])
        record_action(file.collection, by, "import of labels taken back", file.name, labels=len(labels))
    return len(labels)


def _as_before(labels: list[ImportedLabel]) -> None:
    for label in labels:
        earlier = label.pooled_by
        assert earlier is not None
        assert label.pooled_as is not None
        label.relevance, label.pooled_as = label.pooled_as, None
        label.file, label.pooled_by = earlier, None
        label.source_name, label.sha256 = earlier.name, earlier.sha256
        label.imported_by = earlier.imported_by
    fields = ["relevance", "pooled_as", "file", "pooled_by", "source_name", "sha256", "imported_by"]
    ImportedLabel.objects.bulk_update(labels, fields, batch_size=200)
