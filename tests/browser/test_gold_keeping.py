"""Gold questions made from a search result and from a balanced set, and changed in bulk, in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.models import GoldQuestion, Item, Queue
from labeling.queues.opening import open_queue
from tests.browser.test_accessibility import LOOKS, violations
from tests.labeling.helpers import judge, make_pool
from tests.world import World


@pytest.fixture
def agreed(world: World) -> Queue:
    """Ben and Cleo agree on six pairs, and Ben missed a gold question."""
    add_question(world.collection, NewQuestion("q1", "d6", "relevant", "It is."))
    options = GoldOptions(0.5, 0.5, practice_questions=0)
    queue = open_queue(make_pool(world), judgments_per_item=2, seed=1, user=world.ada, gold=options)
    for place, item in enumerate(queue.items.exclude(state=Item.State.GOLD).order_by("pk")):
        for person in (world.ben, world.cleo):
            judge(queue, person, item.pk, "relevant" if place % 2 else "not_relevant")
    judge(queue, world.ben, queue.items.get(state=Item.State.GOLD).pk, "not_relevant")
    return queue


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


@pytest.mark.parametrize("look", LOOKS)
def test_a_balanced_set_is_taken_with_a_reason_and_then_changed(
    look: str, page_of: Callable[..., Page], world: World, agreed: Queue
) -> None:
    page = page_of(world.ada, **LOOKS[look])
    page.goto("/collections/harbour/gold/")
    assert (violations(page), fits(page)) == ([], True)
    page.get_by_role("link", name="All 6 proposals, and balanced sets").click()
    page.get_by_label("Questions in a balanced set").fill("4")
    page.get_by_role("button", name="Put a set together").click()
    expect(page.get_by_text("4 proposals")).to_be_visible()
    assert (violations(page), fits(page)) == ([], True)
    page.get_by_role("button", name="Take this set of 4").click()
    page.get_by_label("Reason").fill("both agreed")
    assert (violations(page), fits(page)) == ([], True)
    page.get_by_role("button", name="Make gold questions").click()
    expect(page.get_by_text("New gold questions: 4.")).to_be_visible()
    page.goto(f"/collections/harbour/gold/edit/?gold={GoldQuestion.objects.earliest('pk').pk}")
    page.get_by_label("For practice").check()
    assert (violations(page), fits(page)) == ([], True)
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("Changed: 1 gold question, now for practice.")).to_be_visible()
    assert GoldQuestion.objects.filter(practice=True, reason="It is.").count() == 1


@pytest.mark.parametrize("look", LOOKS)
def test_a_search_result_becomes_a_gold_question_in_place(
    look: str, page_of: Callable[..., Page], world: World, agreed: Queue
) -> None:
    page = page_of(world.ada, **LOOKS[look])
    page.goto(f"/queues/{agreed.pk}/search/?query=q2&words=umbrella")
    result = page.get_by_role("article", name="Umbrella hire")
    result.get_by_text("Make gold").click()
    result.get_by_label("Why").fill("only for hire")
    assert (violations(page), fits(page)) == ([], True)
    result.get_by_role("button", name="Not relevant").click()
    expect(page.get_by_text("A gold question with the answer not relevant.")).to_be_visible()
    assert "/search/" in page.url
    assert GoldQuestion.objects.latest("pk").reason == "only for hire"


@pytest.mark.parametrize("look", LOOKS)
def test_the_page_of_a_question_shows_who_missed_it(
    look: str, page_of: Callable[..., Page], world: World, agreed: Queue
) -> None:
    page = page_of(world.ada, **LOOKS[look])
    page.goto(f"/gold/{GoldQuestion.objects.get().pk}/")
    expect(page.get_by_text("1 of 1 missed it: ben.")).to_be_visible()
    assert (violations(page), fits(page)) == ([], True)
