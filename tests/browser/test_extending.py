"""Extending a pool, and searching documents from the judging page, in a real browser; axe on both."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from labeling.models import Queue
from labeling.queues.opening import open_queue
from pooling.models import Pool
from tests.browser.judging import follow, open_judging, ready
from tests.browser.test_accessibility import LOOKS, violations
from tests.pooling.merging.test_extension import gamma
from tests.world import World


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


@pytest.mark.parametrize("look", LOOKS)
def test_a_pool_is_extended_by_a_run(look: str, page_of: Callable[..., Page], world: World) -> None:
    pool = world.build_pool(depth=2)
    gamma(world)
    page = page_of(world.ada, **LOOKS[look])
    page.goto(pool.get_absolute_url())
    follow(page.get_by_role("link", name="Extend this pool"))
    assert violations(page) == []
    assert fits(page)
    expect(page.get_by_label("gamma", exact=True)).to_be_checked()
    page.get_by_role("button", name="Extend the pool").click()
    expect(page.get_by_text("extends first pool by 2 pairs of 2 queries, with gamma.")).to_be_visible()
    assert violations(page) == []
    assert fits(page)
    page.goto(pool.get_absolute_url())
    expect(page.get_by_role("link", name="first pool, version 2")).to_be_visible()
    expect(page.get_by_role("link", name="Extend this pool")).to_have_count(0)


@pytest.mark.parametrize("look", LOOKS)
def test_documents_are_searched_beside_the_judging_page(
    look: str, page_of: Callable[..., Page], world: World
) -> None:
    queue = open_queue(world.build_pool(depth=1), seed=1)
    page = page_of(world.ben, **LOOKS[look])
    open_judging(page, queue)
    query = page.locator("[data-part=query]")
    shown = query.inner_text()
    with page.context.expect_page() as opened:
        page.keyboard.press("e")
    search = opened.value
    expect(search.get_by_role("strong").get_by_text(shown)).to_be_visible()
    search.get_by_label("Words").fill("bus ferry umbrella tickets")
    search.get_by_role("button", name="Search").click()
    expect(
        search.get_by_text("No document contains all of these words; these contain some of them.")
    ).to_be_visible()
    assert violations(search) == []
    assert fits(search)
    search.get_by_role("button", name="Add as likely relevant").first.click()
    expect(search.get_by_text("Added. It will be judged like any other document.")).to_be_visible()
    assert Pool.objects.get(strategy="search").pair_count == 1
    # Judging goes on where it was.
    expect(query).to_have_text(shown)
    page.bring_to_front()
    ready(page)
    with page.expect_response(lambda response: "/judgments/" in response.url):
        page.keyboard.press("j")
    assert Queue.objects.get(pk=queue.pk).events.count() == 1
