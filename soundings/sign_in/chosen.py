"""The provider of the settings, and the tables of django-allauth by their names."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Manager

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
