"""Where a report's runs fail, on a phone: intervals that follow the page, and queries without scrolling."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from evaluation.failures import stored_breakdown as report_breakdown
from tests.browser.test_accessibility import PHONE, violations
from tests.evaluation.failures.test_where import make_wide_report
from tests.world import World

WIDER_THAN_SHOWN = "wrap => wrap.scrollWidth > wrap.clientWidth"


def test_intervals_follow_the_page_in_their_place_and_queries_need_no_scrolling(
    page_of: Callable[..., Page], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_breakdown, "MOST_DRAWS_AT_ONCE", 0)
    report = make_wide_report(world)
    page = page_of(world.vera, **PHONE)
    held: list[Route] = []
    page.route("**/where/?*intervals=1*", lambda route: held.append(route))
    with page.expect_request("**/where/?*intervals=1*"):
        page.goto(f"/reports/{report.pk}/where/?k=1")
    waiting = page.get_by_text("The intervals take some seconds")
    expect(waiting).to_be_visible()
    assert violations(page) == []
    before = page.locator("#groups").bounding_box()

    held[0].continue_()

    expect(page.get_by_role("status")).to_have_text("The chart and the intervals have loaded.")
    expect(waiting).to_have_count(0)
    assert page.locator("#groups").bounding_box() == before
    page.goto(f"/reports/{report.pk}/queries/?run=beta&k=1&show=missed")
    assert not page.locator(".table-wrap").evaluate(WIDER_THAN_SHOWN)
    assert page.get_by_role("table", name="Recall@1 of beta by query").get_by_role("row").count() == 10
