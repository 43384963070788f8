"""The judging page in every language of the site, and documents that run from right to left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from labeling.models import JudgmentEvent, Queue
from tests.browser.judging import all_saved, begin, open_judging, press, ready
from tests.browser.test_accessibility import LOOKS, violations
from tests.browser.test_evidence import SELECT
from tests.world import World

CODES = [code for code, _ in settings.LANGUAGES]
WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
# A button whose words do not fit into it, or not into the window; chips shorten their titles.
CUT = """() => [...document.querySelectorAll("button, .button, summary, kbd")]
  .filter((one) => one.checkVisibility() && getComputedStyle(one).textOverflow !== "ellipsis")
  .filter((one) => {
    const { left, right, width } = one.getBoundingClientRect();
    return width && (one.scrollWidth > one.clientWidth + 1 || left < 0 || right > window.innerWidth);
  })
  .map((one) => one.textContent)"""
ARABIC = "حافلة الليل تسير كل ساعة حتى الخامسة. العبّارات لا تعمل في الليل. "
DECIDES = "كل ساعة"
RIGHT_TO_LEFT = "one => getComputedStyle(one).direction === 'rtl'"


@pytest.fixture
def page_in(page_of: Callable[..., Page]) -> Callable[..., Page]:
    """A function that opens a page on which somebody has chosen a language."""

    def open_page(user: User, language: str, **options: Any) -> Page:
        page = page_of(user, locale=language, **options)
        page.goto("/account/")
        page.locator(f".languages [value={language}]").click()
        expect(page.locator("html")).to_have_attribute("lang", language)
        return page

    return open_page


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("language", CODES)
def test_judging(language: str, look: str, page_in: Callable[..., Page], world: World, queue: Queue) -> None:
    page = page_in(world.ben, language, **LOOKS[look])
    page.goto(f"/queues/{queue.pk}/judge/")
    assert violations(page) == []
    begin(page)
    for key in "jfs":
        press(page, key)
    assert page.evaluate(CUT) == []
    assert not page.evaluate(WIDER)
    assert violations(page) == []
    for opens, closes in (("x", "Escape"), ("n", "Escape"), ("?", "Escape"), ("p", "p")):
        ready(page)
        page.keyboard.press(opens)
        assert page.evaluate(CUT) == []
        assert not page.evaluate(WIDER)
        page.keyboard.press(closes)
    all_saved(page)


def is_right_to_left(part: Locator) -> bool:
    return bool(part.evaluate(RIGHT_TO_LEFT))


@pytest.mark.parametrize("look", LOOKS)
def test_an_arabic_document_runs_from_right_to_left_and_its_evidence_is_stored_where_it_is(
    look: str, page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    long = "لا شيء هنا يستحق الذكر. " * 120 + ARABIC
    world.collection.documents.update(title="حافلات الليل", text=long, metadata={})
    world.collection.queries.update(text="حافلة الليل")
    page = page_of(world.ben, **LOOKS[look])
    open_judging(page, queue)
    for part in ("query", "title", "text"):
        assert is_right_to_left(page.locator(f"[data-part={part}]"))
    assert not is_right_to_left(page.locator("[data-part=form]"))
    assert page.locator("[data-part=text] mark").count() > 0
    page.keyboard.press("d")
    expect(page.locator("[data-part=hits]")).to_be_visible()
    assert not page.evaluate(WIDER)
    assert page.evaluate(SELECT, DECIDES)
    page.keyboard.press("v")
    expect(page.locator(".judging-evidence")).to_have_text(DECIDES)
    assert violations(page) == []
    press(page, "j")
    all_saved(page)
    event = JudgmentEvent.objects.get()
    assert event.document.text[event.span_start : event.span_end] == DECIDES


def test_reasons_have_room_on_a_phone_that_is_not_in_english(
    page_in: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_in(world.ben, "de", viewport={"width": 390, "height": 844}, has_touch=True)
    open_judging(page, queue)
    page.keyboard.press("x")
    reason = page.get_by_role("button", name="Dafür braucht es Fachwissen")
    assert reason.evaluate("one => parseFloat(getComputedStyle(one).paddingLeft)") >= 10
