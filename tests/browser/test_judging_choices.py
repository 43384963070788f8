"""What an annotator can choose: keys, highlighting, passage or document, sides, breaks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from labeling.judging import views as judging
from labeling.models import JudgmentEvent, Queue
from tests.browser.judging import (
    all_saved,
    begin,
    eventually,
    leased,
    on_screen,
    open_judging,
    press,
    ready,
    stored,
)
from tests.world import World

TEXT = "Nothing of use is here. " * 60 + "\nA night bus leaves at one 🚌. " + "Nor is it there. " * 60


@pytest.fixture
def page(page_of: Callable[..., Page], world: World, queue: Queue) -> Page:
    """Ben's judging page."""
    page = page_of(world.ben)
    open_judging(page, queue)
    return page


def change_key(page: Page, name: str, key: str) -> str:
    """Choose a key in the dialog and press another; what the dialog says then."""
    page.get_by_role("button", name=name).click()
    page.keyboard.press(key)
    return page.locator("[data-part=key_message]").inner_text()


def test_keys_are_changed_by_keyboard_and_outlive_the_page(page: Page, queue: Queue) -> None:
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys and settings")
    assert "F is the key for “Not relevant” already" in change_key(page, "Relevant: J.", "f")
    page.keyboard.press("b")
    assert "B is now a key" in page.locator("[data-part=key_message]").inner_text()
    assert "needed for moving" in change_key(page, "Skip: leave it to someone else: S.", "Tab")
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator(".verdict-button.relevant kbd")).to_have_text("B")
    open_judging(page, queue)
    shown = on_screen(page)
    page.keyboard.press("j")
    assert on_screen(page) == shown
    press(page, "b")
    all_saved(page)
    assert stored(queue) == {shown: "relevant"}


def test_single_keys_can_be_switched_off_and_sides_swapped(page: Page, queue: Queue) -> None:
    page.keyboard.press("?")
    page.get_by_label("“Relevant” on the left").check()
    page.get_by_label("Use single-key").uncheck()
    page.keyboard.press("Escape")
    shown = on_screen(page)
    for key in "jfs10xup":
        page.keyboard.press(key)
    expect(page.locator(".verdict-button kbd").first).to_be_hidden()
    assert on_screen(page) == shown
    assert page.locator(".verdict-button").first.inner_text().endswith("Relevant")
    page.get_by_role("button", name="Keys and settings").click()
    page.get_by_label("Use single-key").check()
    page.keyboard.press("Escape")
    judged = {press(page, "f"): "relevant", press(page, "ArrowRight"): "not_relevant"}
    all_saved(page)
    assert stored(queue) == judged


def test_the_passage_comes_first_and_what_was_judged_is_recorded(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    world.collection.documents.update(text=TEXT)
    world.collection.queries.update(text="night bus")
    page = page_of(world.ben)
    open_judging(page, queue)
    text = page.locator("[data-part=text]")
    for key in "jj":  # the first is the server's, the second the script's
        expect(text).to_contain_text("A night bus leaves at one 🚌.")
        assert len(text.inner_text()) < 1_400
        assert text.locator("mark").all_inner_texts() == ["night", "bus"]
        press(page, key)
    ready(page)
    before = text.locator("mark").first.bounding_box() or {}
    page.keyboard.press("d")
    assert len(text.inner_text()) > 2_400
    assert text.locator("mark").first.bounding_box() == pytest.approx(before, abs=1)
    page.get_by_role("link", name="Only the passage").click()
    assert len(text.inner_text()) < 1_400
    page.keyboard.press("h")
    assert "no-marks" in (page.locator("#judging").get_attribute("class") or "")
    press(page, "j")
    all_saved(page)
    shown = JudgmentEvent.objects.order_by("pk").values_list("shown", flat=True)
    assert list(shown) == ["passage", "passage", "document"]
    open_judging(page, queue)
    assert "no-marks" in (page.locator("#judging").get_attribute("class") or "")


def test_a_chip_opens_its_verdict_again(page: Page, queue: Queue) -> None:
    judged = [press(page, key) for key in "jfjf"]
    # As many as have room for a word or two: here the last alone.
    chips = page.locator(".chip:visible")
    assert [chip.inner_text().split(":")[-1].strip() for chip in chips.all()] == [judged[-1].title]
    ready(page)
    chips.first.click()
    expect(page.locator("#document-title")).to_have_text(judged[-1].title)
    expect(page.locator("[data-part=live]")).to_contain_text("Undone: not relevant.")
    press(page, "j")
    all_saved(page)
    assert stored(queue)[judged[-1]] == "relevant"
    assert len(stored(queue)) == 4


def test_undo_reaches_back_twenty_steps(page: Page, queue: Queue) -> None:
    judged = [press(page, "j") for _ in range(18)]
    for pair in reversed(judged):
        page.keyboard.press("u")
        expect(page.locator("#document-title")).to_have_text(pair.title)
        expect(page.locator("[data-part=query]")).to_have_text(pair.query)
        ready(page)
    all_saved(page)
    assert stored(queue) == {}


def test_a_break_is_offered_and_can_be_skipped(
    page_of: Callable[..., Page], world: World, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "BREAK_ITEMS", 3)
    page = page_of(world.ben)
    open_judging(page, queue)
    judged = [press(page, "j") for _ in range(3)]
    card = page.locator("[data-part=break]")
    expect(card).to_contain_text("3 documents in less than a minute of active time.")
    page.keyboard.press("j")  # no verdict key goes through the card
    page.keyboard.press("Enter")
    expect(card).to_be_hidden()
    judged += [press(page, "f") for _ in range(3)]
    expect(card).to_contain_text("6 in total since you began")
    page.keyboard.press("u")
    expect(page.locator("#document-title")).to_have_text(judged[-1].title)
    all_saved(page)
    assert list(stored(queue)) == judged[:-1]


def test_nothing_moves_between_documents(page: Page) -> None:
    def places() -> list[object]:
        parts = (".verdict-bar", ".verdict-button", "#document-title")
        return [page.locator(part).first.bounding_box() for part in parts]

    ready(page)
    press(page, "j")
    before = places()
    query = on_screen(page).query
    while on_screen(page).query == query:
        assert places()[:2] == before[:2]
        assert places()[2]["y"] == before[2]["y"]  # type: ignore[index]
        press(page, "f")


def test_stopping_after_a_query_pauses_where_it_ends(page: Page, queue: Queue) -> None:
    stop = page.get_by_role("button", name="Stop after this query")
    query = on_screen(page).query
    page.keyboard.press("q")
    expect(stop).to_have_attribute("aria-pressed", "true")
    stop.click()
    expect(stop).to_have_attribute("aria-pressed", "false")
    stop.click()
    judged = [press(page, "j") for _ in range(6)]
    paused = page.locator("[data-part=paused]")
    expect(paused).to_contain_text("This query is done")
    expect(paused).to_contain_text("returned to the queue.")
    expect(page.locator("[data-part=progress]")).not_to_contain_text("in this query")
    expect(page.get_by_role("button", name="Judge again")).to_have_count(1)
    expect(page.get_by_role("button", name="Judge again").first).to_be_disabled()
    assert {pair.query for pair in judged} == {query}
    all_saved(page)
    eventually(page, lambda: leased(queue) == 0)
    page.keyboard.press("p")
    ready(page)
    assert on_screen(page).query != query
    expect(stop).to_have_attribute("aria-pressed", "false")
    press(page, "f")
    all_saved(page)
    assert len(stored(queue)) == 7


def test_an_undo_into_the_query_before_does_not_stop(page: Page, queue: Queue) -> None:
    judged = [press(page, "j") for _ in range(6)]
    ready(page)
    second = on_screen(page).query
    assert second != judged[0].query
    page.keyboard.press("q")
    page.keyboard.press("u")
    expect(page.locator("#document-title")).to_have_text(judged[-1].title)
    press(page, "f")
    for _ in range(6):
        assert press(page, "j").query == second
    expect(page.locator("[data-part=paused]")).to_contain_text("This query is done")


def test_long_names_push_nothing_off_a_phone(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    queue.name = queue.public_name = "n" * 200
    queue.save()
    world.collection.queries.update(text="q" * 400)
    for options in ({"has_touch": True, "is_mobile": True}, {"java_script_enabled": False}):
        page = page_of(world.ben, viewport={"width": 390, "height": 780}, **options)
        page.goto(f"/queues/{queue.pk}/judge/")
        begin(page)
        expect(page.get_by_role("button", name="Relevant", exact=True)).to_be_in_viewport(ratio=1)
        name = page.locator(".judging-queue").bounding_box()
        after = page.locator(".judging-progress").bounding_box()
        assert name is not None
        assert after is not None
        assert name["x"] + name["width"] <= 390
        assert name["y"] + name["height"] <= after["y"] or name["x"] + name["width"] <= after["x"]
        pause = page.locator(".judging-tools").bounding_box()
        assert pause is None or name["x"] + name["width"] <= pause["x"]
