"""The loopback server of a language model, for every test that asks one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.labeling.model_server import ModelServer


@pytest.fixture
def server(settings: Settings) -> Iterator[ModelServer]:
    """The only server of the site; without a key and without prices."""
    with ModelServer() as server:
        settings.LLM_SERVERS = [server.base_url]
        yield server
