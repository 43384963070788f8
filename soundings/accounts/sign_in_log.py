"""Kept sign-ins: names, addresses and browsers, for as many days as the site says."""

from __future__ import annotations

from datetime import datetime, timedelta

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings

from pooling.tidying.erasing import forgets_old

KINDS = (AccessAttempt, AccessFailureLog, AccessLog)


@forgets_old
def forget_sign_ins(now: datetime) -> None:
    """Delete what is kept of sign-ins and of wrong passwords before SIGN_IN_LOG_DAYS."""
    before = now - timedelta(days=settings.SIGN_IN_LOG_DAYS)
    for kind in KINDS:
        kind.objects.filter(attempt_time__lt=before).delete()
