"""A whole campaign over HTTP, in small: what `benchmarks/campaign_quality.py` measures over many seeds."""

from __future__ import annotations

import pytest

from benchmarks.campaign_quality import ALWAYS_NO, run_campaign


@pytest.mark.anywhere
@pytest.mark.slow
@pytest.mark.django_db
def test_who_always_says_no_is_paused_and_their_pairs_are_judged_again_by_others() -> None:
    found = run_campaign(1, 120, pause=True, gold_shares=(0.5, 0.5))
    assert ALWAYS_NO in found.paused
    assert 0 < found.set_aside < found.verdicts
    assert found.open == 0
    assert found.error < 0.2
