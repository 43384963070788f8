"""API tokens: made, listed and revoked.

A token is random, so a plain hash of it is enough to keep. With it stands a hash of the stored password that
its owner had: whatever changes the password, on a page or past every page, ends the token.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from pooling.account_models import ApiToken, Scope
from pooling.interface.problems import InputError
from pooling.people.activity_log import record_action
from pooling.people.link_tokens import hashed, new_token

DEFAULT_NAME = "Made with the password"
LONGEST_NAME = 80
LONGEST_DAYS = 3650
# An account has no more at a time; the oldest ends when another is made.
MOST_TOKENS = 200


class MadeToken(NamedTuple):
    """A token's row, and the token itself, which is shown once and stored nowhere."""

    row: ApiToken
    token: str


@transaction.atomic
def make_token(
    user: User, name: str = "", days: int | None = None, *, scope: Scope = Scope.ADMIN
) -> MadeToken:
    """Make a token that works for `days` (1 to 3650; none: SOUNDINGS_TOKEN_DAYS, of which 0 sets no end)."""
    name = name.strip() or DEFAULT_NAME
    if len(name) > LONGEST_NAME:
        raise InputError(f"A name has at most {LONGEST_NAME} characters.", field="name")
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise InputError(f"A token is valid for 1 to {LONGEST_DAYS:,} days.", field="days")
    lasting = settings.TOKEN_DAYS if days is None else days
    # Make room for one more: delete what has ended, and the oldest where there are too many.
    kept = tokens_of(user).values_list("pk", flat=True)[: MOST_TOKENS - 1]
    ApiToken.objects.filter(user=user).exclude(pk__in=list(kept)).delete()
    record_action(None, user, "token made", name, scope=scope.value, days=lasting)
    token = new_token()
    row = ApiToken.objects.create(
        user=user,
        name=name,
        token_sha256=hashed(token),
        password_sha256=hashed(user.password),
        scope=scope,
        expires_at=timezone.now() + timedelta(days=lasting) if lasting else None,
    )
    return MadeToken(row, token)


def tokens_of(user: User) -> QuerySet[ApiToken]:
    lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiToken.objects.filter(lasting, user=user, password_sha256=hashed(user.password))


@transaction.atomic
def revoke(token: ApiToken) -> None:
    record_action(None, token.user, "token revoked", token.name, scope=token.scope)
    token.delete()


def keep_tokens_when_rehashed(user: User) -> None:
    """Before the password of an account is saved: one that is only stored in a newer way, as Django does it
    when somebody signs in, ends no token.
    """
    if not user.has_usable_password() or getattr(user, "_password", None) is not None:  # chosen just now
        return
    before = User.objects.filter(pk=user.pk).values_list("password", flat=True).first() or ""
    ApiToken.objects.filter(user=user, password_sha256=hashed(before)).update(
        password_sha256=hashed(user.password)
    )
