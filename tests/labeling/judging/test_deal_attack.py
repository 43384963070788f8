"""Somebody who claims in changing sizes, returns, skips and takes back cannot tell what is hidden.

The same over many campaigns is `benchmarks/bench_secrets.py`.
"""

from __future__ import annotations

import pytest
from pytest_django import Settings

from benchmarks.bench_secrets import AT_MOST
from benchmarks.deal_attack import DEAL_SETTINGS, attack
from benchmarks.secrets_attack import Setting

# The same keys in every run: item numbers and draws hang on them, and so does what a tree finds by chance.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.anywhere,
    pytest.mark.django_db(transaction=True, reset_sequences=True),
]


@pytest.mark.parametrize("setting", DEAL_SETTINGS, ids=lambda setting: setting.name)
def test_no_way_of_claiming_tells_what_is_hidden(settings: Settings, setting: Setting) -> None:
    settings.SECRET_KEY = "the same for everybody who runs this test"
    found = attack(5, 110, setting)
    assert found.hidden >= 5
    assert found.by_moving <= AT_MOST, found
    assert found.told <= AT_MOST, found
