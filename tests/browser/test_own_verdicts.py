"""One's own verdicts on a query in a real browser: the list, and a document that is nearly the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from labeling.models import Judgment, Queue
from tests.browser.judging import all_saved, on_screen, open_judging, press, ready
from tests.browser.test_accessibility import LOOKS, violations
from tests.labeling.helpers import judge
from tests.world import World

COPY = "The night bus leaves the square every hour until five in the morning, except on public holidays. " * 3


@pytest.fixture
def copies(world: World, queue: Queue) -> Queue:
    """The first two documents of the queue are nearly the same, the others are not."""
    documents = list(world.collection.documents.order_by("external_id"))
    for number, document in enumerate(documents):
        own = " ".join(f"word{number}{place}" for place in range(60))
        document.text = COPY + f"Leaflet {number}." if number < 2 else own
        document.save(update_fields=["text"])
    return queue


def open_list(page: Page) -> list[str]:
    """The lines of the list, newest first."""
    if page.locator("[data-part=more]").is_visible():
        page.locator("[data-part=more]").click()
    page.get_by_text("Your verdicts on this query").click()
    return page.locator("[data-part=own_list] li").all_inner_texts()


@pytest.mark.parametrize("look", LOOKS)
def test_the_list_has_ones_own_verdicts_on_the_query(
    look: str, page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ben, **LOOKS[look])
    open_judging(page, queue)
    expect(page.locator("[data-part=own]")).to_be_hidden()
    first = press(page, "j")
    second = press(page, "f")
    assert open_list(page) == [f"not relevant {second.title}", f"relevant {first.title}"]
    assert violations(page) == []
    all_saved(page)
    page.reload()
    assert sorted(open_list(page)) == sorted([f"not relevant {second.title}", f"relevant {first.title}"])
    ready(page)
    page.keyboard.press("u")
    expect(page.locator("[data-part=own_list] li")).to_have_text([f"relevant {first.title}"])


def test_of_a_document_that_is_nearly_the_same_one_key_says_the_same(
    page_of: Callable[..., Page], world: World, copies: Queue
) -> None:
    page = page_of(world.ben)
    open_judging(page, copies)
    alike = page.locator("[data-part=alike]")
    copied = {one.title for one in world.collection.documents.order_by("external_id")[:2]}
    seen, query = 0, on_screen(page).query
    while on_screen(page).query == query:
        ready(page)
        here = on_screen(page)
        if here.title in copied and seen:
            expect(alike).to_contain_text("which you called relevant")
            assert violations(page) == []
            page.keyboard.press("r")
            expect(page.locator("#document-title")).not_to_have_text(here.title)
            break
        expect(alike).to_be_hidden()
        seen += here.title in copied
        press(page, "j" if here.title in copied else "f")
    all_saved(page)
    said = Judgment.objects.filter(document__title__in=copied).values_list("verdict", flat=True)
    assert list(said) == ["relevant", "relevant"]


def test_a_document_is_compared_with_what_was_judged_before_this_page(
    page_of: Callable[..., Page], world: World, copies: Queue
) -> None:
    titles = {one.title: one for one in world.collection.documents.order_by("external_id")[:2]}
    items = copies.items.filter(query__external_id="q1").select_related("document")
    pairs = {item.document.title: item for item in items if item.document.title in titles}
    (judged, earlier), (coming, _) = pairs.items()
    judge(copies, world.ben, earlier.pk, "relevant")
    page = page_of(world.ben)
    open_judging(page, copies)
    alike = page.locator("[data-part=alike]")
    while on_screen(page) != (earlier.query.text, coming):
        press(page, "f")
    expect(alike).to_contain_text(f"Nearly the same as “{judged}”, which you called relevant.")
    ready(page)
    page.keyboard.press("r")
    expect(page.locator("[data-part=last]")).to_contain_text(coming)
    all_saved(page)
    assert Judgment.objects.get(document=titles[coming], query=earlier.query).verdict == "relevant"
