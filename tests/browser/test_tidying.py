"""A failed trial tidied up in a real browser, with the clicks counted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from labeling.models import Queue
from labeling.queues.opening import open_queue
from pooling.models import Pool, Run
from tests.browser.judging import follow
from tests.browser.test_accessibility import LOOKS, violations
from tests.world import World


def test_a_failed_trial_is_tidied_up_in_six_clicks_and_back_in_one(
    page_of: Callable[..., Page], world: World
) -> None:
    queue = open_queue(world.build_pool("trial"), name="trial", user=world.ada)
    page = page_of(world.ada)
    page.goto(f"/queues/{queue.pk}/")
    page.get_by_text("More", exact=True).click()
    follow(page.get_by_role("link", name="Delete"))
    assert violations(page) == []
    for name in ("pool trial", "run alpha", "run beta"):
        page.get_by_label(name).check()
    page.get_by_role("button", name="Delete trial").click()
    expect(page.get_by_text("Deleted queue “trial” and what it rested on.")).to_be_visible()
    assert (Queue.objects.count(), Pool.objects.count(), Run.objects.count()) == (0, 0, 0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="trial").first).to_be_visible()
    assert (Queue.objects.count(), Pool.objects.count(), Run.objects.count()) == (1, 1, 2)


@pytest.mark.parametrize("look", LOOKS)
def test_the_pages_that_tidy_up_can_be_used_by_everyone(
    context: Callable[..., BrowserContext], page_of: Callable[..., Page], world: World, look: str
) -> None:
    pool = world.build_pool("trial")
    page = page_of(world.ada, **LOOKS[look])
    page.goto(f"/collections/harbour/pools/{pool.pk}/")
    page.get_by_text("More", exact=True).click()
    assert violations(page) == []
    follow(page.get_by_role("link", name="Archive"))
    assert violations(page) == []
    follow(page.get_by_role("button", name="Archive"))
    page.goto("/collections/harbour/runs/")
    page.get_by_label("alpha").check()
    follow(page.get_by_role("button", name="Archive or delete"))
    assert violations(page) == []
    follow(page.get_by_role("button", name="Delete"))
    page.goto("/collections/harbour/tidy/")
    expect(page.get_by_role("button", name="Restore alpha")).to_be_visible()
    assert violations(page) == []
