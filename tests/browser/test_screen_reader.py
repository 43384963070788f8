"""What a screen reader is told of the judging page, by Chromium's accessibility tree, state by state."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from playwright.sync_api import Page, expect

from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.models import Queue
from labeling.queues.opening import open_queue
from tests.browser.judging import begin, holds_a_batch, on_screen, open_judging, press, ready
from tests.labeling.helpers import judge, make_pool
from tests.world import World

LIVE = "[data-part=live]"


def named(page: Page, role: str) -> list[str]:
    """The names of all that has a role, as Chromium's accessibility tree has them."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    found = [node for node in nodes if not node["ignored"] and node["role"]["value"] == role]
    return [str(node.get("name", {}).get("value", "")) for node in found]


def headings(page: Page) -> list[int]:
    """The levels of the headings, in the order in which they are read."""
    return [
        int(level) for level in re.findall(r"heading .*\[level=(\d)]", page.locator("body").aria_snapshot())
    ]


def test_query_document_and_verdicts_have_names_and_focus_follows(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ben)
    open_judging(page, queue)
    assert named(page, "main") == [""]
    assert "Query" in named(page, "region")
    assert named(page, "form") == ["Your verdict"]
    assert named(page, "article") == [on_screen(page).title]
    assert sorted(headings(page)) == [1, 2]
    verdicts = [name for name in named(page, "button") if "elevant" in name]
    assert verdicts == ["Not relevant F", "Relevant J"]
    press(page, "j")
    shown = on_screen(page)
    expect(page.locator(LIVE)).to_have_text(f"Saved: relevant. Next: {shown.title}.")
    expect(page.locator(LIVE)).to_have_role("status")
    expect(page.locator("#document-title")).to_be_focused()
    assert named(page, "article") == [shown.title]
    assert any("Judge again, relevant: " in name for name in named(page, "button"))


def test_a_title_that_is_a_question_is_announced_as_it_is(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    world.collection.documents.update(title="When will my refund arrive?")
    page = page_of(world.ben)
    open_judging(page, queue)
    press(page, "f")
    expect(page.locator(LIVE)).to_have_text("Saved: not relevant. Next: When will my refund arrive?")


def test_the_start_card_is_a_named_region_with_its_button_in_focus(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ben)
    page.goto(f"/queues/{queue.pk}/judge/")
    holds_a_batch(page)
    expect(page.get_by_role("region", name=queue.public_name)).to_be_visible()
    expect(page.get_by_role("link", name="Start")).to_be_focused()
    assert headings(page) == [1]
    assert named(page, "article") == []
    assert not [name for name in named(page, "button") if "elevant" in name]


def test_the_answer_of_a_practice_question_is_a_region_and_the_way_on_has_focus(
    page_of: Callable[..., Page], world: World
) -> None:
    question = NewQuestion(query="q1", document="d1", answer="relevant", reason="They run.", practice=True)
    add_question(world.collection, question)
    queue = open_queue(make_pool(world), seed=1, gold=GoldOptions(0, 0, practice_questions=1))
    page = page_of(world.ben)
    page.goto(f"/queues/{queue.pk}/practice/")
    begin(page)
    ready(page)
    page.keyboard.press("f")
    expect(page.get_by_role("link", name="Next F J")).to_be_focused()
    assert "The answer" in named(page, "region")
    expect(page.locator(LIVE)).to_contain_text("Not right: you said not relevant, the answer is relevant.")
    assert [name for name in named(page, "button") if "elevant" in name] == []


def test_an_empty_queue_and_a_lost_connection_are_announced(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    for item in queue.items.order_by("order_key")[:17]:
        judge(queue, world.ben, item.pk)
    page = page_of(world.ben)
    open_judging(page, queue)
    page.context.set_offline(True)
    page.keyboard.press("j")
    expect(page.locator("[data-part=save_state]")).to_contain_text("Offline: 1 waiting, trying again")
    expect(page.locator("[data-part=fetching]")).to_have_role("status")
    assert sorted(headings(page)) == [1, 2]  # the query stays
    page.context.set_offline(False)
    expect(page.locator(LIVE)).to_have_text("Every document of this queue is judged. Thank you.")
    assert headings(page) == [1]
    assert named(page, "article") == []


def test_a_pair_to_settle_has_its_query_opinions_and_verdicts_named(
    page_of: Callable[..., Page], world: World
) -> None:
    queue = open_queue(make_pool(world, documents=2), judgments_per_item=2, seed=1, user=world.ada)
    for item in queue.items.order_by("order_key"):
        judge(queue, world.ben, item.pk, "relevant")
        judge(queue, world.cleo, item.pk, "not_relevant")
    page = page_of(world.ada)
    page.goto(f"/queues/{queue.pk}/adjudication/")
    (query,) = named(page, "article")
    expect(page.locator("article:visible").get_by_role("heading", name=query, exact=True)).to_be_visible()
    assert "Opinions" in named(page, "region")
    levels = headings(page)
    assert levels[0] == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    waiting = page.locator("[data-part=waiting]")
    expect(waiting).to_have_role("status")
    expect(page.locator("#adjudication")).to_have_attribute("data-accepts", "true")
    before = waiting.inner_text()
    page.keyboard.press("j")
    expect(waiting).not_to_have_text(before)
    (following,) = named(page, "article")
    focused = page.evaluate("document.activeElement.closest('article')?.getAttribute('aria-labelledby')")
    assert focused == page.locator("article:visible").get_attribute("aria-labelledby")
    assert following
