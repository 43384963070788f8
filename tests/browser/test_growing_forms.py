"""Long forms in a real browser, with scripts and without: first a few fields, the rest on demand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pooling.models import Collection, Pool
from tests.browser.test_accessibility import LOOKS, violations
from tests.world import World

POOLS, QUEUES = "/collections/harbour/pools/new/", "/collections/harbour/queues/new/"


@pytest.mark.parametrize("look", LOOKS)
def test_a_pool_is_built_from_what_is_asked_first(
    look: str, page_of: Callable[..., Page], world: World
) -> None:
    world.import_runs()
    page = page_of(world.ada, **LOOKS[look])
    page.goto(POOLS)
    answers = page.locator(".answers")
    expect(answers).to_contain_text("Pairs down to the depth12")
    expect(page.get_by_label("Budget", exact=True)).not_to_be_visible()
    expect(page.get_by_role("button", name="Build the pool")).to_be_in_viewport()
    assert violations(page) == []
    page.get_by_label("Depth", exact=True).fill("2")
    expect(answers).to_contain_text("Pairs down to the depth8")
    page.get_by_text("Other strategies").click()
    page.get_by_text("Budget and audit").click()
    page.get_by_label("Budget", exact=True).fill("5")
    expect(answers).to_contain_text("Chosen5")
    page.get_by_role("radio", name="borda").check()
    assert violations(page) == []
    page.get_by_role("button", name="Build the pool").click()
    expect(page.get_by_role("heading", name="Pool 1", level=1)).to_be_visible()
    assert Pool.objects.get().strategy == "borda"


@pytest.mark.parametrize("scripts", [True, False])
def test_adaptive_options_appear_when_they_matter(
    scripts: bool, page_of: Callable[..., Page], world: World
) -> None:
    world.build_pool()
    page = page_of(world.ada, java_script_enabled=scripts)
    page.goto(QUEUES)
    expect(page.get_by_label("Judgments per pair")).to_be_visible()
    page.locator("summary", has_text="Adaptive order").click()
    looks = page.get_by_label("How often the audit is looked at")
    expect(looks).not_to_be_visible()
    page.get_by_label("Adaptive: labels move").check()
    expect(looks).to_be_visible()
    page.get_by_role("button", name="Open the queue").click()
    # The group with the mistake is open, and the tick is kept.
    expect(page.locator("#id_adaptive_error")).to_contain_text("does not learn from labels")
    expect(looks).to_be_visible()


def test_without_scripts_a_pool_is_built_all_the_same(page_of: Callable[..., Page], world: World) -> None:
    world.import_runs()
    page = page_of(world.ada, java_script_enabled=False)
    page.goto(POOLS)
    page.get_by_text("Budget and audit").click()
    page.get_by_label("Budget", exact=True).fill("5")
    page.get_by_role("button", name="Build the pool").click()
    expect(page.get_by_role("heading", name="Pool 1", level=1)).to_be_visible()
    assert Pool.objects.get().budget == 5


@pytest.mark.usefixtures("everyone_creates")
def test_a_short_name_follows_its_name_until_somebody_writes_it(
    page_of: Callable[..., Page], world: World
) -> None:
    page = page_of(world.ada)
    page.goto("/new-collection/")
    name, short = page.get_by_label("Name", exact=True), page.get_by_label("Short name")
    name.press_sequentially("Help centre: März")
    expect(short).to_have_value("help-centre-marz")
    short.fill("help")
    name.fill("Help centre: März 2")
    expect(short).to_have_value("help")
    page.get_by_text("Guidelines for annotators").click()
    page.get_by_label("Guidelines", exact=True).press_sequentially("A *timetable* answers.")
    expect(page.locator("#guidelines-preview em")).to_have_text("timetable")
    assert violations(page) == []
    page.get_by_role("button", name="Create the collection").click()
    page.wait_for_url("**/collections/help/queries/")
    made = Collection.objects.get(slug="help")
    assert (made.name, made.guidelines) == ("Help centre: März 2", "A *timetable* answers.")
