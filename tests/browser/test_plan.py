"""The planning page in a real browser, on a phone: a change shows at once, and one button begins the work."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from labeling.models import Queue
from tests.browser.test_accessibility import PHONE, violations
from tests.world import World


def test_from_the_pools_to_a_plan_and_on_to_its_queue(page_of: Callable[..., Page], world: World) -> None:
    world.import_runs()
    page = page_of(world.ada, **PHONE, color_scheme="dark")
    page.goto(f"/collections/{world.collection.slug}/pools/")
    page.get_by_role("link", name="Plan a campaign").click()
    facts = page.locator("#plan .facts")
    expect(facts).to_contain_text("Pairs down to the depth12")
    before, settings = (
        facts.bounding_box(),
        page.get_by_role("form", name="Settings of the plan").bounding_box(),
    )
    assert before
    assert settings
    assert before["y"] + before["height"] <= settings["y"]
    assert violations(page) == []
    page.get_by_role("spinbutton", name="Depth of alpha").fill("3")
    page.get_by_role("spinbutton", name="Depth", exact=True).fill("2")
    page.get_by_role("spinbutton", name="Depth", exact=True).press("Tab")
    expect(facts).to_contain_text("Pairs down to the depth11")
    assert "depths.alpha=3" in page.url
    page.get_by_role("spinbutton", name="Depth of alpha").fill("")
    page.get_by_label("Budget", exact=True).fill("6")
    page.get_by_label("Audit share").fill("0.5")
    page.get_by_label("Audit share").press("Tab")
    expect(facts).to_contain_text("Pairs down to the depth8")
    expect(page.get_by_text("interval of micro recall@2 is expected to be")).to_be_visible()
    expect(page).to_have_url(re.compile("depth=2&.*audit_share=0.5"))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert violations(page) == []
    page.reload()
    expect(facts).to_contain_text("Pairs down to the depth8")
    page.get_by_label("Strategy").select_option("sampling")
    # A sample has no audit: what the form says of one does not count.
    expect(page).to_have_url(re.compile("strategy=sampling"))
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("Strategy").select_option("depth")
    expect(page).to_have_url(re.compile("strategy=depth"))
    expect(facts).to_contain_text("Pairs down to the depth8")
    page.get_by_label("Name of pool and queue").fill("spring")
    page.get_by_role("button", name="Build this pool and open this queue").click()
    expect(page.get_by_role("heading", name="spring")).to_be_visible()
    assert Queue.objects.get().pool.budget == 6


def test_without_scripts_the_form_is_a_plain_one(page_of: Callable[..., Page], world: World) -> None:
    world.import_runs()
    page = page_of(world.ada, java_script_enabled=False)
    page.goto(f"/collections/{world.collection.slug}/plan/?depth=1&runs=alpha")
    expect(page.locator("#plan .facts")).to_contain_text("Pairs down to the depth3")
    page.get_by_label("beta", exact=True).check()
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.locator("#plan .facts")).to_contain_text("Pairs down to the depth6")


def test_a_phone_folds_the_tables_of_a_plan_and_a_wide_window_has_them(
    page_of: Callable[..., Page], world: World
) -> None:
    world.import_runs()
    page = page_of(world.ada, **PHONE)
    page.goto(f"/collections/{world.collection.slug}/plan/")
    cost = page.get_by_role("table", name=re.compile("By number of annotators"))
    expect(page.locator("#plan .facts")).to_be_visible()
    expect(cost).to_have_count(0)
    page.get_by_text("By number of annotators", exact=True).click()
    expect(cost).to_be_visible()
    page = page_of(world.ada)
    page.goto(f"/collections/{world.collection.slug}/plan/")
    expect(page.get_by_role("table", name=re.compile("By number of annotators"))).to_be_visible()
