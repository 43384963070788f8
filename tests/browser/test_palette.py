"""The palette: `/` or Ctrl-K, some letters, Enter; never while somebody writes, never on the judging page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from labeling.models import Queue
from tests.browser.judging import open_judging
from tests.browser.test_accessibility import LOOKS, violations
from tests.world import World


@pytest.mark.parametrize("look", LOOKS)
def test_some_letters_lead_anywhere(look: str, page_of: Callable[..., Page], world: World) -> None:
    world.import_runs()
    page = page_of(world.ada, **LOOKS[look])
    page.goto("/collections/harbour/")
    if look == "phone":
        page.get_by_role("link", name="Find").click()
    else:
        page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Go to")
    expect(field).to_be_focused()
    expect(page.get_by_role("option", name="Overview").first).to_have_attribute("aria-selected", "true")
    assert violations(page) == []
    field.fill("umbrella")
    expect(page.get_by_role("option", name="q2 lost umbrella")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("status").filter(has_text="found")).to_have_text("2 found")
    field.press("ArrowDown")
    expect(page.get_by_role("option", name="d6 Umbrella hire")).to_have_attribute("aria-selected", "true")
    field.press("ArrowDown")
    assert violations(page) == []
    field.press("Enter")
    page.wait_for_url("**/queries/?q=q2")
    page.keyboard.press("Control+k")
    field.fill("zzz")
    expect(page.get_by_text("Nothing has that name or id.")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()


def test_a_slash_stays_a_slash_for_those_who_write_or_do_not_want_it(
    page_of: Callable[..., Page], world: World
) -> None:
    page = page_of(world.ada)
    page.goto("/collections/harbour/edit/")
    question, field = page.get_by_label("Question"), page.get_by_role("combobox", name="Go to")
    question.press("End")
    question.press("/")
    expect(question).to_have_value("Is this document relevant to the query?/")
    expect(field).to_be_hidden()
    question.press("Control+k")
    page.get_by_role("checkbox", name="opens this").uncheck()
    page.keyboard.press("Escape")
    page.goto("/")
    page.keyboard.press("/")
    expect(field).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(field).to_be_focused()


def test_the_judging_page_has_its_own_keys_alone(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ben)
    open_judging(page, queue)
    page.keyboard.press("/")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Go to")).to_have_count(0)


def test_without_scripts_a_link_leads_to_a_page_that_finds(
    page_of: Callable[..., Page], world: World
) -> None:
    page = page_of(world.ada, java_script_enabled=False)
    page.goto("/collections/harbour/")
    page.get_by_role("link", name="Find").click()
    page.get_by_label("Name or id").fill("q1 d4")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="q1 × d4").click()
    expect(page.get_by_role("heading", name="Why a pair has its label")).to_be_visible()
