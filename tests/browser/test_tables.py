"""Tables of lists in a browser: with scripts, without, by keyboard, and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pooling.models import Document, Run
from tests.browser.judging import follow
from tests.browser.test_accessibility import LOOKS, violations
from tests.world import World

RUNS = "/collections/harbour/runs/"


@pytest.fixture
def _runs(world: World) -> None:
    Run.objects.bulk_create(
        Run(
            collection=world.collection,
            name=f"bm{number}",
            tag="dense" if number == 3 else "sparse",
            row_count=10 * number,
            query_count=3,
            depth=100 - number,
        )
        for number in range(1, 61)
    )


def names(page: Page) -> list[str]:
    return page.locator("tbody th").all_inner_texts()


def test_a_title_of_one_long_word_widens_no_table(page_of: Callable[..., Page], world: World) -> None:
    Document.objects.filter(external_id="d1").update(title="L" * 900, text="x" * 900)
    page = page_of(world.ada)
    page.goto("/collections/harbour/documents/")
    wrap = page.locator(".table-wrap")
    assert wrap.evaluate("(wrap) => wrap.scrollWidth - wrap.clientWidth") == 0


def test_heads_and_rows_with_buttons_stand_on_one_line(page_of: Callable[..., Page], world: World) -> None:
    page = page_of(world.ada)
    page.goto("/collections/harbour/members/")
    tops = """(cells) => new Set(cells.map((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell.querySelector("a, summary, .date") ?? cell);
        return Math.round(text.getBoundingClientRect().top);
    })).size"""
    assert page.locator("thead th").evaluate_all(tops) == 1
    row = page.get_by_role("row", name="ben")
    assert row.locator("th, td:has(.date), td:has(summary)").evaluate_all(tops) == 1


@pytest.mark.usefixtures("_runs")
def test_without_scripts_a_table_is_sorted_searched_and_chosen_from(
    page_of: Callable[..., Page], world: World
) -> None:
    page = page_of(world.ada, java_script_enabled=False)
    page.goto(RUNS)
    assert names(page)[:3] == ["bm1", "bm2", "bm3"]
    follow(page.get_by_role("link", name="Rows"))
    assert names(page)[:2] == ["bm60", "bm59"]
    expect(page.get_by_role("columnheader", name="Rows")).to_have_attribute("aria-sort", "descending")
    follow(page.get_by_role("link", name="Next"))
    assert names(page) == [f"bm{number}" for number in range(10, 0, -1)]
    page.get_by_role("searchbox").fill("dense")
    follow(page.get_by_role("button", name="Find"))
    assert names(page) == ["bm3"]
    assert "sort=-rows" in page.url
    page.get_by_text("Columns").click()
    page.get_by_role("checkbox", name="Tag", exact=True).uncheck()
    follow(page.get_by_role("button", name="Show these"))
    expect(page.get_by_role("columnheader", name="Tag")).to_have_count(0)
    assert names(page) == ["bm3"]
    page.get_by_role("checkbox", name="bm3").check()
    page.get_by_role("button", name="Build a pool").click()
    page.wait_for_url(re.compile(r"pools/new/\?runs=\d+$"))
    expect(page.get_by_role("checkbox", name="bm3", exact=True)).to_be_checked()
    expect(page.get_by_role("checkbox", name="bm4", exact=True)).not_to_be_checked()


@pytest.mark.usefixtures("_runs")
def test_typing_finds_rows_without_loading_the_page_again(page_of: Callable[..., Page], world: World) -> None:
    page = page_of(world.ada)
    page.goto(RUNS)
    page.evaluate("document.body.dataset.same = 'yes'")
    box = page.get_by_role("searchbox")
    box.press_sequentially("dense")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(box).to_be_focused()
    expect(box).to_have_value("dense")
    assert page.url.endswith("?q=dense")
    page.get_by_role("link", name="Depth").press("Enter")
    expect(page.get_by_role("columnheader", name="Depth")).to_have_attribute("aria-sort", "descending")
    expect(page.get_by_role("link", name="Depth")).to_be_focused()
    assert page.evaluate("document.body.dataset.same") == "yes"
    box.fill("")
    expect(page.locator("tbody tr")).to_have_count(50)
    assert names(page)[0] == "bm1"
    page.go_back()
    expect(page.locator("tbody tr")).to_have_count(1)


@pytest.mark.usefixtures("_runs")
def test_what_an_address_meant_in_vain_is_said_until_a_table_mends_it(
    page_of: Callable[..., Page], world: World
) -> None:
    page = page_of(world.ada)
    for mend in (
        lambda: page.get_by_role("link", name="Depth").click(),
        lambda: page.get_by_role("link", name="Previous").click(),
        lambda: page.get_by_role("searchbox").press_sequentially("dense"),
    ):
        page.goto(f"{RUNS}?page=9")
        page.evaluate("document.body.dataset.same = 'yes'")
        expect(page.get_by_role("note")).to_contain_text("“page=2” is displayed instead")
        mend()
        expect(page.get_by_role("note")).to_have_count(0)
        assert page.evaluate("document.body.dataset.same") == "yes"


@pytest.mark.usefixtures("_runs")
def test_a_range_and_all_rows_are_chosen_and_counted(page_of: Callable[..., Page], world: World) -> None:
    page = page_of(world.ada)
    page.goto(RUNS)
    boxes = page.locator("tbody .choose-row input")
    boxes.nth(1).click()
    boxes.nth(4).click(modifiers=["Shift"])
    told = page.locator("[data-chosen]")
    expect(told).to_have_text("4 selected:")
    page.get_by_label("Choose all on this page").click()
    expect(told).to_have_text("50 selected:")
    page.get_by_label("Choose all on this page").click()
    expect(told).to_have_text("Selected rows:")


@pytest.mark.usefixtures("_runs")
@pytest.mark.parametrize("look", LOOKS)
def test_a_table_is_clean_and_fits(look: str, page_of: Callable[..., Page], world: World) -> None:
    page = page_of(world.ada, **LOOKS[look])
    page.goto(f"{RUNS}?q=bm")
    page.locator("tbody .choose-row input").first.check()
    page.get_by_text("Columns").click()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
