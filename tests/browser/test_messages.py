"""A message from the judging page in a real browser, and its answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from labeling.models import PairMessage, Queue
from tests.browser.judging import open_judging
from tests.browser.test_accessibility import LOOKS, violations
from tests.world import World


@pytest.mark.parametrize("look", LOOKS)
def test_a_message_goes_from_the_pair_to_the_admins_and_back(
    look: str, page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ben, **LOOKS[look])
    open_judging(page, queue)
    page.keyboard.press("m")
    page.get_by_label("A message to the admins about this pair").fill("This document is broken.")
    assert violations(page) == []
    page.get_by_role("button", name="Send message").click()
    expect(page.get_by_label("A message to the admins about this pair")).to_be_hidden()
    page.keyboard.press("j")
    expect(page.get_by_text("All saved")).to_be_visible()
    assert PairMessage.objects.get().text == "This document is broken."

    admin = page_of(world.ada, **LOOKS[look])
    admin.goto("/collections/harbour/messages/")
    admin.get_by_text("Answer", exact=False).locator("visible=true").last.click()
    admin.get_by_label("Answer to ben").fill("Mended, thanks.")
    assert violations(admin) == []
    admin.get_by_role("button", name="Send answer").click()
    expect(admin.get_by_text("Answered. ben sees it with their work.")).to_be_visible()

    page.goto("/account/work/")
    expect(page.get_by_text("Mended, thanks.")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_there_is_no_message_without_a_pair(page_of: Callable[..., Page], world: World, queue: Queue) -> None:
    page = page_of(world.ben)
    open_judging(page, queue)
    message = page.locator("[data-part=message]")
    page.keyboard.press("m")
    expect(message).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    expect(message).to_have_attribute("inert", "")
    expect(message.locator("summary")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("p")
    expect(message).not_to_have_attribute("inert", "")
    expect(message.locator("summary")).to_have_attribute("aria-disabled", "false")
