"""Reading in a real browser: the size of the query, structure, facts, and how one likes to read."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from labeling.models import Queue
from tests.browser.judging import open_judging, press, ready
from tests.browser.test_accessibility import LOOKS, violations
from tests.world import World

SOURCE = """# Night buses

A **bus** leaves <img src=x onerror=alert(1)>.

| line | from |
|---|---|
| N1 | square |

```
bus --night
```

- every hour
"""


@pytest.mark.parametrize("look", LOOKS)
def test_structure_and_facts_are_shown_by_server_and_script(
    look: str, page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    facts = {"date": "2026-03-04", "url": "https://example.org/buses", "format": "markdown", "rank": 1}
    world.collection.documents.update(text=SOURCE, metadata=facts)
    world.collection.queries.update(text="night bus")
    page = page_of(world.ben, **LOOKS[look])
    open_judging(page, queue)
    for _ in range(2):  # the first document is the server's, the second the script's
        text = page.locator("[data-part=text]")
        expect(text.get_by_role("heading", name="Night buses", level=2)).to_be_visible()
        expect(text.get_by_role("cell", name="square")).to_be_visible()
        expect(text.locator("li")).to_have_text("every hour")
        assert text.locator("mark").all_inner_texts() == ["Night", "buses", "bus", "bus", "night"]
        assert text.locator("img, a, script").count() == 0
        expect(page.locator("[data-part=facts] span")).to_have_text(
            ["2026-03-04", "https://example.org/buses"]
        )
        assert violations(page) == []
        press(page, "j")


def test_a_long_query_is_smaller_than_a_short_one(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    def size(page: Page) -> str:
        return str(page.locator("[data-part=query]").evaluate("part => getComputedStyle(part).fontSize"))

    page = page_of(world.ben)
    for words, pixels in ((12, "24px"), (30, "16px")):
        world.collection.queries.update(text="bus " * words)
        open_judging(page, queue)
        assert size(page) == pixels
        press(page, "j")
        ready(page)
        assert size(page) == pixels


def test_how_one_reads_holds_at_once_and_on_every_machine(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    def looks(page: Page) -> list[str]:
        style = "part => [getComputedStyle(part).fontSize, getComputedStyle(part).fontFamily]"
        found: list[str] = page.locator("[data-part=document]").evaluate(style)
        return found

    page = page_of(world.ben)
    open_judging(page, queue)
    before = looks(page)
    page.keyboard.press("?")
    for label, choice in (("Text size", "Very large"), ("Typeface", "Sans serif"), ("Contrast", "High")):
        with page.expect_response("**/api/reading/"):
            page.get_by_label(label).select_option(choice)
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert violations(page) == []
    after = looks(page)
    assert after[0] == "25.6px"
    assert after != before
    elsewhere = page_of(world.ben)
    open_judging(elsewhere, queue)
    assert looks(elsewhere) == after
    elsewhere.keyboard.press("?")
    expect(elsewhere.get_by_label("Text size")).to_have_value("largest")


def test_a_long_document_has_a_map_of_hits_and_keys_to_step(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    section = "Nothing of use is here. " * 80
    text = "\n\n".join(
        [section, "A night bus.", section, "Another bus at night.", section, "The last bus.", section]
    )
    world.collection.documents.update(text=text)
    world.collection.queries.update(text="night bus")
    page = page_of(world.ben)
    open_judging(page, queue)
    hits = page.locator("[data-part=hits] span")
    expect(hits).to_have_count(0)  # the passage is short
    live = page.locator("[data-part=live]")
    page.keyboard.press("d")
    expect(hits).to_have_count(3)
    page.evaluate("window.scrollTo(0, 0)")
    marks = page.locator("[data-part=text] mark")
    for place, mark in ((1, 0), (2, 2), (3, 4)):
        page.keyboard.press("]")
        expect(live).to_have_text(f"Place {place} of 3.")
        expect(marks.nth(mark)).to_be_in_viewport(ratio=1)
    page.keyboard.press("]")
    expect(live).to_have_text("No more places with hits.")
    page.keyboard.press("[")
    expect(live).to_have_text("Place 2 of 3.")
    assert violations(page) == []
    box = page.locator("[data-part=hits]").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 5, box["y"] + 2)
    expect(marks.first).to_be_in_viewport(ratio=1)
    press(page, "j")
    ready(page)
    page.keyboard.press("]")  # from the passage to the whole document
    expect(page.locator("[data-part=extent_word]")).to_have_text("Whole document")
