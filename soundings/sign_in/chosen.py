"""The provider of the settings, and the tables of django-allauth by their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Manager, QuerySet

from soundings.installation.sign_in import Provider

#: Tables of django-allauth that are about a person.
ADDRESSES, LINKS, FACTORS = (
    ("account", "EmailAddress"),
    ("socialaccount", "SocialAccount"),
    ("mfa", "Authenticator"),
)


def the_provider() -> Provider:
    """The provider, for what happens only where there is one."""
    provider: Provider | None = settings.OIDC
    assert provider is not None
    return provider


def table(label: tuple[str, str]) -> Manager[Any]:
    """The rows of one of these tables; `LookupError` where it is not in use."""
    rows: Manager[Any] = apps.get_model(*label)._default_manager
    return rows


#: Kind -> table, and what the person is told of it: never a secret.
OWN_TABLES = {
    "sign-in by provider": (LINKS, ("uid", "date_joined", "last_login")),
    "second factor": (FACTORS, ("type", "created_at", "last_used_at")),
}


def rows_about(user: User, label: tuple[str, str]) -> QuerySet[Any] | None:
    """The rows of a table about somebody; None where the table is not in use."""
    try:
        return table(label).filter(user=user)
    except LookupError:
        return None


def own_rows(user: User) -> Iterator[tuple[str, QuerySet[Any], tuple[str, ...]]]:
    for kind, (label, columns) in OWN_TABLES.items():
        rows = rows_about(user, label)
        if rows is not None:
            yield kind, rows, columns


def forget_sign_in(user: User) -> None:
    """Delete provider links, addresses and second factors, also in tables that no model knows any more."""
    names = connection.introspection.table_names()
    for named in (ADDRESSES, LINKS, FACTORS):
        rows = rows_about(user, named)
        if rows is not None:
            rows.delete()
        elif (name := "_".join(named).lower()) in names:
            with connection.cursor() as cursor:
                cursor.execute(f"DELETE FROM {name} WHERE user_id = %s", [user.pk])  # noqa: S608  one of three
