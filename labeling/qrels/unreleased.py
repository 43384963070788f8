"""What came after the newest release of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labeling.models import QrelsRelease
    from pooling.models import Collection


def unreleased_count(collection: Collection, newest: QrelsRelease | None) -> int:
    """How many judgments and imported labels are newer than the newest release; all, where there is none."""
    judged, imported = collection.judgments.counted(), collection.imported_labels.all()
    if newest is not None:
        judged = judged.filter(judged_at__gt=newest.released_at)
        imported = imported.filter(imported_at__gt=newest.released_at)
    return judged.count() + imported.count()
