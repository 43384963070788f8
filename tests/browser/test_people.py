"""An invitation followed, and one's own work, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from labeling.judging.leases import claim
from labeling.models import Queue
from tests.browser.test_accessibility import LOOKS, violations
from tests.labeling.helpers import judge, make_queue
from tests.world import World

PHRASE = "a long enough phrase"


def test_an_invited_guest_joins_by_the_link(
    page_of: Callable[..., Page], context: Callable[..., BrowserContext], world: World
) -> None:
    admin = page_of(world.ada)
    admin.goto("/collections/harbour/members/")
    assert violations(admin) == []
    admin.get_by_role("button", name="Create link").click()
    link = admin.get_by_label("Link, shown only once").input_value()
    assert violations(admin) == []
    guest = context(**LOOKS["phone"]).new_page()
    guest.goto(link)
    assert violations(guest) == []
    guest.get_by_label("User name").fill("eve")
    guest.get_by_label("Password", exact=True).fill(PHRASE)
    guest.get_by_label("Password, again").fill(PHRASE)
    guest.get_by_role("button", name="Create an account and join").click()
    expect(guest.get_by_text("Your role in Harbour is now: annotator.")).to_be_visible()
    admin.goto("/collections/harbour/activity/")
    expect(admin.get_by_role("row", name="invitation accepted")).to_contain_text("eve")
    assert violations(admin) == []


def test_an_annotator_sees_their_own_work(page_of: Callable[..., Page], world: World) -> None:
    page = page_of(world.ben, **LOOKS["phone"])
    page.goto(f"/queues/{tied_queue(world).pk}/")
    page.get_by_role("link", name="Your work so far").click()
    expect(page.get_by_role("row", name="I wonder")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def tied_queue(world: World) -> Queue:
    """Ben and Cleo disagree on one pair."""
    queue = make_queue(world, needed=2, pairs=2)
    item = claim(queue, world.ben, 1).leases[0].item_id
    judge(queue, world.ben, item, "relevant", note="I wonder", active_ms=1_500)
    judge(queue, world.cleo, item, "not_relevant")
    return queue
