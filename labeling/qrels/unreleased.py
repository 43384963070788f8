"""Judgments and labels after the newest release of a collection."""

from __future__ import annotations

from django.db.models import QuerySet

from labeling.models import ImportedLabel, Judgment, QrelsRelease
from pooling.models import Collection


def has_unreleased(collection: Collection, newest: QrelsRelease | None) -> bool:
    """Any judgment or imported label is newer than the newest release."""
    return any(rows.exists() for rows in _unreleased(collection, newest))


def unreleased_count(collection: Collection, newest: QrelsRelease | None) -> int:
    """Number of judgments and imported labels newer than the newest release; all, where there is none."""
    return sum(rows.count() for rows in _unreleased(collection, newest))


def _unreleased(
    collection: Collection, newest: QrelsRelease | None
) -> tuple[QuerySet[Judgment], QuerySet[ImportedLabel]]:
    """Read from the indexes `judgments_by_time` and `imported_by_time` alone."""
    judged, imported = collection.judgments.counted(), collection.imported_labels.all()
    if newest is not None:
        judged = judged.filter(judged_at__gt=newest.released_at)
        imported = imported.filter(imported_at__gt=newest.released_at)
    return judged, imported
