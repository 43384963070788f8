"""The first minutes in a queue: the start card, the guidelines, and a document in sight before a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from labeling.judging import views as judging
from labeling.models import Queue
from labeling.queues.opening import open_queue
from pooling.models import Document
from tests.browser.judging import (
    all_saved,
    holds_a_batch,
    on_screen,
    open_judging,
    press,
    ready,
    stored,
    tap_verdict,
)
from tests.browser.test_accessibility import violations
from tests.labeling.helpers import make_pool
from tests.world import World

TOUCH: dict[str, Any] = {"has_touch": True, "is_mobile": True}
LOOKS: dict[str, dict[str, Any]] = {
    "phone of 390": {"viewport": {"width": 390, "height": 844}, **TOUCH},
    "phone of 360": {"viewport": {"width": 360, "height": 640}, **TOUCH},
    "wide": {"viewport": {"width": 1280, "height": 800}},
    "zoom of 200 %": {"viewport": {"width": 640, "height": 400}},
}
LONG_QUERY = "where are umbrellas kept that somebody has found on the last ferry of a Friday? " * 3 + "Where?"


def write_guidelines(world: World, text: str) -> None:
    world.collection.guidelines = text
    world.collection.save()


@pytest.fixture
def guided(world: World, queue: Queue) -> Queue:
    """A queue with guidelines too long for a screen and a query too long for a phone."""
    write_guidelines(world, "# Rules\n\nA *timetable* answers.\n\n" + "One more rule. " * 400)
    world.collection.queries.update(text=LONG_QUERY, metadata={"narrative": "Somebody lost one. " * 30})
    return queue


@pytest.mark.parametrize("look", LOOKS)
def test_the_document_is_in_sight_before_a_verdict_is_possible(
    look: str, page_of: Callable[..., Page], world: World, guided: Queue
) -> None:
    page = page_of(world.ben, **LOOKS[look])
    page.goto(f"/queues/{guided.pk}/judge/")
    holds_a_batch(page)
    start = page.get_by_role("link", name="Start")
    expect(start).to_be_in_viewport(ratio=1)
    expect(start).to_be_focused()
    expect(page.locator(".judging-start")).to_contain_text("A timetable answers.")
    assert violations(page) == []
    page.keyboard.press("j")
    expect(page.locator(".verdict-button.relevant")).to_be_hidden()
    page.keyboard.press("Enter")
    ready(page)
    expect(page.locator("#document-title")).to_be_in_viewport(ratio=1)
    expect(page.locator("[data-part=text]")).to_be_in_viewport()
    expect(page.locator(".verdict-button.relevant")).to_be_in_viewport(ratio=1)
    width = LOOKS[look]["viewport"]["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    judged = press(page, "j")
    all_saved(page)
    assert stored(guided) == {judged: "relevant"}


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_is_judged_while_the_guidelines_cover_the_document(
    look: str, page_of: Callable[..., Page], world: World, guided: Queue
) -> None:
    page = page_of(world.ben, **LOOKS[look])
    open_judging(page, guided)
    shown = on_screen(page)
    page.get_by_role("link", name="Guidelines").click()
    sheet = page.get_by_role("dialog", name="Guidelines")
    expect(sheet).to_be_visible()
    assert violations(page) == []
    for key in ("j", "f", "s", "ArrowRight"):
        page.keyboard.press(key)
    page.keyboard.press("g")
    expect(sheet).to_be_hidden()
    assert on_screen(page) == shown
    page.keyboard.press("g")
    page.get_by_role("button", name="Back to the document").click()
    judged = press(page, "f")
    all_saved(page)
    assert stored(guided) == {judged: "not_relevant"} == {shown: "not_relevant"}


def test_a_document_that_is_scrolled_away_comes_back_before_it_is_judged(
    page_of: Callable[..., Page], world: World, guided: Queue
) -> None:
    page = page_of(world.ben, viewport={"width": 360, "height": 640}, **TOUCH)
    open_judging(page, guided)
    shown = on_screen(page)
    page.get_by_role("button", name="more").tap()
    expect(page.locator("[data-part=narrative]")).to_be_visible()
    expect(page.locator("[data-part=document]")).not_to_be_in_viewport(ratio=0.2)
    tap_verdict(page, "Relevant")
    expect(page.locator("[data-part=live]")).to_have_text("Look at the document first, then judge it.")
    expect(page.locator("#document-title")).to_be_in_viewport(ratio=1)
    assert on_screen(page) == shown
    tap_verdict(page, "Relevant")
    expect(page.locator("[data-part=last]")).to_contain_text(shown.title)
    all_saved(page)
    assert stored(guided) == {shown: "relevant"}


def test_the_start_card_comes_once_and_again_when_the_guidelines_changed(
    page_of: Callable[..., Page], world: World, guided: Queue
) -> None:
    page = page_of(world.ben)
    open_judging(page, guided)
    press(page, "j")
    all_saved(page)
    page.reload()
    ready(page)
    expect(page.locator("[data-part=start]")).to_be_hidden()
    write_guidelines(world, "A *ferry* answers too.")
    page.reload()
    expect(page.locator("[data-part=start]")).to_contain_text("A ferry answers too.")
    page.locator("[data-part=start] p", has_text="A ferry answers too.").click()
    page.keyboard.press("Enter")
    press(page, "f")


def test_without_a_script_start_is_a_link(page_of: Callable[..., Page], world: World, guided: Queue) -> None:
    page = page_of(world.ben, java_script_enabled=False)
    page.goto(f"/queues/{guided.pk}/judge/")
    expect(page.locator(".verdict-bar")).to_be_hidden()
    page.get_by_role("link", name="Start").click()
    expect(page.locator("#document-title")).to_be_visible()
    page.get_by_role("button", name="Skip").click()
    expect(page.locator("#document-title")).to_be_visible()


def test_a_thumb_gives_forty_verdicts_with_two_breaks(
    page_of: Callable[..., Page], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "BREAK_ITEMS", 15)
    Document.objects.bulk_create(
        Document(
            collection=world.collection,
            external_id=f"e{number:03}",
            title=f"Notice {number}",
            text="A bus. " * 90,
        )
        for number in range(30)
    )
    queue = open_queue(make_pool(world, queries=2, documents=30), seed=1, user=world.ada)
    page = page_of(world.ben, viewport={"width": 390, "height": 844}, **TOUCH)
    open_judging(page, queue)
    given, breaks = {}, 0
    names = {"relevant": "Relevant", "not_relevant": "Not relevant"}
    for number in range(40):
        if page.locator("[data-part=break]").is_visible():
            breaks += 1
            page.get_by_role("button", name="Go on").tap()
        ready(page)
        shown = on_screen(page)
        expect(page.locator("#document-title")).to_be_in_viewport(ratio=1)
        verdict = ("relevant", "not_relevant")[number % 2]
        tap_verdict(page, names[verdict])
        expect(page.locator("[data-part=last]")).to_contain_text(shown.title)
        expect(page.locator("form.verdict-bar")).not_to_have_attribute("aria-busy", "true")
        given[shown] = verdict
    all_saved(page)
    assert stored(queue) == given
    assert (len(given), breaks) == (40, 2)


@pytest.mark.parametrize("language", ["en", "de", "es", "hi", "ja"])
@pytest.mark.parametrize("look", [name for name in LOOKS if "phone" in name])
def test_progress_takes_one_line_of_a_phone(
    look: str, language: str, page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ben, **LOOKS[look])
    page.goto("/health/")
    page.context.add_cookies([{"name": "django_language", "value": language, "url": page.url}])
    open_judging(page, queue)
    progress = page.locator("[data-part=progress]")
    for _ in range(2):  # the server's line, then the script's
        height, line, is_cut = progress.evaluate(
            "(part) => [part.clientHeight, parseFloat(getComputedStyle(part).lineHeight), "
            "part.scrollWidth > part.clientWidth]"
        )
        assert height < 1.5 * line
        assert not is_cut
        expect(progress.locator("[data-count=left]")).to_be_visible()
        press(page, "j")


def test_whoever_starts_before_the_script_is_there_does_not_start_twice(
    page_of: Callable[..., Page], world: World, guided: Queue
) -> None:
    page = page_of(world.ben, **LOOKS["phone of 360"])
    page.route("**/judge/main.js", lambda route: route.abort(), times=1)
    page.goto(f"/queues/{guided.pk}/judge/")
    page.get_by_role("link", name="Start").tap()
    holds_a_batch(page)
    ready(page)
    expect(page.locator("#document-title")).to_be_in_viewport(ratio=1)
    write_guidelines(world, "Another rule.")
    page.reload()
    expect(page.get_by_role("link", name="Start")).to_be_visible()
