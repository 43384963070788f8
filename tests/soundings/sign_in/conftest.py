"""Tests of a company's sign-in need other tables: `test_apart.py` runs them with other settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.conf import settings as settings_now
from django.core.cache import cache
from pytest_django.fixtures import Settings

APART = ["test_groups.py", "test_passwords_off.py", "test_provider.py", "test_second_factor.py"]
collect_ignore = [] if settings_now.OIDC else APART

if settings_now.OIDC:
    from tests.soundings.sign_in.provider import Provider

    @pytest.fixture
    def provider(settings: Settings) -> Iterator[Provider]:
        """A provider of OpenID Connect that runs on this machine, and that the site asks."""
        cache.clear()
        with Provider() as running:
            settings.OIDC = replace(settings.OIDC, issuer=running.issuer, makes_accounts=True)
            yield running
