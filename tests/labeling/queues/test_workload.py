"""Planned work beside the places at which a queue hides gold questions."""

from __future__ import annotations

import pytest

from labeling.gold.places import Shares, gold_places
from labeling.queues.workload import Terms, team_work, whole_days


@pytest.mark.parametrize("needed", [10, 20, 400])
def test_gold_is_as_much_as_a_queue_hides(needed: int) -> None:
    terms = Terms(gold_first_share=0.2, gold_share=0.05)
    work = team_work(needed, terms, 1)
    assert work.judgments is not None
    assert work.gold == pytest.approx(work.judgments - needed)
    hidden = len(gold_places(7, 0, round(work.judgments), Shares(0.2, 0.05)))
    assert work.gold == pytest.approx(hidden, abs=1.5)


def test_more_people_see_more_first_items_and_practice() -> None:
    terms = Terms(gold_first_share=0.2, gold_share=0.0, practice_questions=5)
    # 100 judgments by one person: 25 first items with 5 gold; by four: all are among first items.
    assert team_work(100, terms, 1).judgments == pytest.approx(25 + 80 + 5)
    assert team_work(80, terms, 4).judgments == pytest.approx(100 + 4 * 5)


def test_nothing_to_judge_takes_nobody_any_time() -> None:
    work = team_work(0, Terms(practice_questions=5, price=1.0, judgments_per_item=3), 1)
    assert (work.judgments, work.cost, work.days) == (0, 0, 0)


def test_days_are_counted_as_begun() -> None:
    assert [whole_days(days) for days in (0.0, 0.1, 1.0, 1.2)] == [0, 1, 1, 2]
