"""Engines on this machine may be asked in these tests."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from tests.pooling.engines.server import LOOPBACK


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings: Settings) -> None:
    settings.ENGINE_PRIVATE_NETWORKS = LOOPBACK
