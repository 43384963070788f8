"""Notes that annotators write with their verdicts, kept for as many days as the site says."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

from labeling.models import JudgmentEvent
from pooling.tidying.erasing import forgets_old


@forgets_old
def forget_notes(now: datetime) -> None:
    """Empty notes older than NOTE_DAYS; the verdicts stay. Nothing where they are kept for good (0)."""
    if settings.NOTE_DAYS:
        before = now - timedelta(days=settings.NOTE_DAYS)
        JudgmentEvent.objects.filter(created_at__lt=before).exclude(note="").update(note="")
