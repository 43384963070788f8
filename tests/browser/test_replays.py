"""Replays in a real browser: from the collection to the page with its picture; axe-core finds nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_accessibility import LOOKS, violations
from tests.evaluation.cast import make_release
from tests.world import World


@pytest.mark.parametrize("look", LOOKS)
def test_from_the_collection_to_a_replay(look: str, page_of: Callable[..., Page], world: World) -> None:
    world.build_pool()
    make_release(world)
    page = page_of(world.ada, **LOOKS[look])
    page.goto(f"/collections/{world.collection.slug}/")
    if look == "phone":
        page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Results").click()
    page.get_by_role("link", name="Replays").click()
    page.get_by_role("link", name="New replay").click()
    page.get_by_text("What to compare", exact=True).click()
    expect(page.get_by_role("checkbox", name="learned:")).to_be_checked()
    assert violations(page) == []
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_role("heading", name="Found by effort")).to_be_visible()
    picture = page.get_by_role("img", name="Share of the relevant documents found")
    # The first picture of a process loads what draws it, which takes long where many tests run.
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert violations(page) == []


def test_a_pools_page_fetches_what_the_labels_say(page_of: Callable[..., Page], world: World) -> None:
    pool = world.build_pool()
    make_release(world)
    page = page_of(world.vera)
    page.goto(pool.get_absolute_url())
    expect(page.get_by_text("8 of 8 pairs have a label, 4 of them relevant")).to_be_visible()
    assert violations(page) == []
