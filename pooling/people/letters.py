"""Limits on the letters of an hour, of whatever kind: to one receiver, and for one sender."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from pooling.account_models import Letter
from pooling.people.link_tokens import hashed

HOUR = timedelta(hours=1)
# To one address; how many one account or network may cause is a setting.
MOST_TO_ONE = 3


def account(user: User) -> str:
    return f"account {user.pk}"


@transaction.atomic
def may_send(*, to: str, by: str, about: str = "") -> bool:
    """Count one more letter within the last hour's limits, which are separate for `about`; else False."""
    receiver = f"to {to.lower()}" + (f" about {about}" if about else "")
    limits = {hashed(receiver): MOST_TO_ONE, hashed(f"by {by}"): settings.LETTERS_PER_HOUR}
    now = timezone.now()
    Letter.objects.filter(at__lt=now - HOUR).delete()
    if any(Letter.objects.filter(about_sha256=key).count() >= most for key, most in limits.items()):
        return False
    Letter.objects.bulk_create(Letter(about_sha256=key) for key in limits)
    return True


def letters_in_the_last_hour(user: User) -> int:
    about = Letter.objects.filter(about_sha256=hashed(f"by {account(user)}"))
    return about.filter(at__gte=timezone.now() - HOUR).count()
