"""An attacker reads all that an annotator can read, and tells neither hidden items nor a model's opinion.

The same over twenty campaigns, with the times of claims, is `benchmarks/bench_secrets.py`.
"""

from __future__ import annotations

import pytest
from pytest_django import Settings

from benchmarks.bench_secrets import AT_MOST
from benchmarks.secrets_attack import SETTINGS, Setting, run_campaign, told_apart

# The same keys in every run: item numbers and draws hang on them, and so does what a tree finds by chance.
pytestmark = pytest.mark.django_db(transaction=True, reset_sequences=True)


@pytest.mark.anywhere
@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS[:2], ids=lambda setting: setting.name)
def test_nothing_that_an_annotator_reads_tells_what_is_hidden(settings: Settings, setting: Setting) -> None:
    settings.SECRET_KEY = "the same for everybody who runs this test"
    campaign = run_campaign(3, 40, setting)
    assert campaign.hidden.count("gold") >= 5
    found = told_apart(campaign)
    assert {name: score for name, score in found.items() if score > AT_MOST} == {}
