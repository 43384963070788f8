"""Comparing two runs in a real browser: choosing them, the verdict, and nothing for axe-core to say."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evaluation.models import Report
from pooling.pools.building import build_pool
from tests.browser.test_accessibility import LOOKS, violations
from tests.evaluation.cast import make_release, make_report
from tests.world import World, qrels_text


@pytest.fixture
def report(world: World) -> Report:
    """A report with an audit, and with documents that nobody judged."""
    runs = world.import_runs()
    build_pool(world.collection, name="audited", runs=runs, depth=3, budget=9, audit_share=0.4, seed=3)
    lines = [line for line in qrels_text().splitlines(keepends=True) if not line.startswith("q3 0 d5")]
    make_release(world, "".join(lines))
    return make_report(world)


@pytest.mark.parametrize("look", LOOKS)
def test_two_runs_are_chosen_and_compared(
    look: str, page_of: Callable[..., Page], world: World, report: Report
) -> None:
    page = page_of(world.vera, **LOOKS[look])
    # The picture is drawn on the first request, which may take long on a busy machine.
    page.goto(report.get_absolute_url(), wait_until="domcontentloaded")
    assert violations(page) == []
    photograph(page, f"report-{look}")
    page.get_by_role("link", name="Compare the two runs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Which run is better?")
    page.get_by_label("Run", exact=True).select_option("beta")
    page.get_by_label("against", exact=True).select_option("alpha")
    page.get_by_label("K", exact=True).select_option("1")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#verdict")).to_have_text("beta and alpha at K = 1")
    expect(page.locator(".verdict")).to_contain_text("Cannot tell yet")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert violations(page) == []
    photograph(page, f"comparison-{look}")


def photograph(page: Page, name: str) -> None:
    """A picture to look at, where PICTURES names a folder."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)
