"""Addresses of the trail, kept for some days, and the newest checksum, kept elsewhere."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

from pooling.interface.problems import InputError
from pooling.models import AdminAction
from pooling.tidying.erasing import forgets_old


@forgets_old
def forget_addresses(now: datetime) -> None:
    """Remove addresses, and what their checksums were made with, after SIGN_IN_LOG_DAYS."""
    before = now - timedelta(days=settings.SIGN_IN_LOG_DAYS)
    old = AdminAction.objects.exclude(address="").filter(at__lt=before)
    old.update(address="", address_salt="")


def kept_of(text: str) -> tuple[int, str] | None:
    """NUMBER:CHECKSUM, as a check prints it; `InputError` for anything else, None for nothing."""
    if not text:
        return None
    number, colon, checksum = text.strip().partition(":")
    if not (colon and number.isascii() and number.isdigit() and len(number) < 19 and len(checksum) == 64):
        problem = "`kept` is a line's number and checksum, as an earlier check printed them."
        raise InputError(problem, field="kept")
    return int(number), checksum
