"""Tests of a company's sign-in need other tables: `make company` runs them with other settings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings as settings_now
from django.core.cache import cache
from pytest_django.fixtures import Settings

APART = {
    "test_groups.py",
    "test_guards.py",
    "test_passwords_off.py",
    "test_provider.py",
    "test_second_factor.py",
    "test_wrong_codes.py",
}
ALL = {path.name for path in Path(__file__).parent.glob("test_*.py")}
collect_ignore = sorted(ALL - APART if settings_now.OIDC else APART)

if settings_now.OIDC:
    from allauth.mfa.totp.internal import auth as totp

    from tests.soundings.sign_in.provider import Provider

    @pytest.fixture
    def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The step of time that codes are of now; `code_of` goes one further."""
        now = [int(time.time()) // 30]
        monkeypatch.setattr(totp, "yield_hotp_counters_from_time", lambda: iter(now))
        return now

    @pytest.fixture
    def provider(settings: Settings) -> Iterator[Provider]:
        """A provider of OpenID Connect that runs on this machine, and that the site asks."""
        cache.clear()
        with Provider() as running:
            settings.OIDC = replace(settings.OIDC, issuer=running.issuer, makes_accounts=True)
            yield running
