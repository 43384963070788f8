"""From the last judgment to the answer, and what the overview says of it, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from evaluation.models import Report
from labeling.queues.opening import open_queue
from tests.browser.judging import all_saved, open_judging, press
from tests.browser.test_accessibility import violations
from tests.evaluation.cast import make_release, make_report
from tests.world import World


def test_the_last_judgment_is_one_click_from_the_answer(page_of: Callable[..., Page], world: World) -> None:
    queue = open_queue(world.build_pool(depth=1), seed=1, user=world.ada)
    page = page_of(world.ada)
    open_judging(page, queue)
    button = page.get_by_role("button", name="Release and measure")
    for _ in range(queue.items.count()):
        expect(button).to_be_hidden()
        press(page, "j")
    all_saved(page)
    button.click()
    expect(page.locator("#answer")).to_be_visible()
    assert page.url.endswith(Report.objects.get().get_absolute_url())


@pytest.mark.parametrize("width", [1280, 390])
def test_what_changed_is_on_the_overview_and_lines_have_words(
    page_of: Callable[..., Page], world: World, width: int
) -> None:
    make_report(world, "q1 0 d1 1\nq2 0 d2 1\n", k=(1,))
    make_release(world, "q1 0 d4 1\n", name="later")
    make_report(world, k=(1,))
    page = page_of(world.ada, viewport={"width": width, "height": 800})
    page.goto("/collections/harbour/")
    expect(page.locator(".answer-figure .change")).to_contain_text("−0.250 with other labels since")
    expect(page.get_by_role("img", name="Recall@1 of beta in 2 reports")).to_be_visible()
    for address in ("/collections/harbour/", "/collections/harbour/reports/trend/"):
        page.goto(address)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
