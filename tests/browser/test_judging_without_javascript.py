"""The same page as a plain form: one item per page load."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from labeling.models import JudgmentEvent, Queue
from tests.browser.conftest import sign_in
from tests.browser.judging import Pair, begin, exported, on_screen
from tests.world import World


def click(page: Page, name: str) -> Pair:
    shown = on_screen(page)
    with page.expect_event("domcontentloaded"):
        page.get_by_role("button", name=name, exact=True).click()
    return shown


@pytest.mark.way
def test_ten_pairs_and_one_undone(context: Callable[..., BrowserContext], world: World, queue: Queue) -> None:
    page = context(java_script_enabled=False).new_page()
    sign_in(page, "ben")
    page.goto(f"/queues/{queue.pk}/judge/")
    begin(page)
    judged = {}
    for verdict, name in [("relevant", "Relevant"), ("not_relevant", "Not relevant")] * 5:
        judged[click(page, name)] = verdict
        expect(page.get_by_text("Saved: ")).to_be_visible()
    undone = list(judged)[-1]
    click(page, "Undo")
    assert on_screen(page) == undone
    del judged[undone]
    assert len(judged) == 9
    assert exported(world) == judged


def test_reason_note_and_skip(page_of: Callable[..., Page], world: World, queue: Queue) -> None:
    page = page_of(world.ben, java_script_enabled=False)
    page.goto(f"/queues/{queue.pk}/judge/")
    begin(page)
    skipped = click(page, "Skip")
    assert on_screen(page) != skipped
    page.locator("summary", has_text="Note").click()
    page.get_by_label("A note with this verdict").fill("half of it is missing")
    page.locator("summary", has_text="Can't judge").click()
    click(page, "The document is broken")
    event = JudgmentEvent.objects.get(kind="verdict")
    assert (event.verdict, event.reason, event.note) == ("cannot_judge", "broken", "half of it is missing")


def test_what_needs_a_script_is_not_offered(page_of: Callable[..., Page], world: World, queue: Queue) -> None:
    page = page_of(world.ben, java_script_enabled=False)
    page.goto(f"/queues/{queue.pk}/judge/")
    begin(page)
    expect(page.get_by_role("button", name="Relevant", exact=True)).to_be_visible()
    expect(page.locator("[data-action=pause]").first).to_be_hidden()
    expect(page.locator("[data-part=save_state]")).to_be_hidden()
