"""What every page keeps to: nothing moves while it loads, little is transferred, one width and one edge."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Response, expect

from labeling.models import Queue
from tests.browser.test_accessibility import LOOKS
from tests.evaluation.cast import make_report
from tests.world import World

MOST_SHIFT, MOST_BYTES = 0.05, 120_000
# Pictures of charts are counted apart; what draws them is loaded for who points at one.
CHARTS = (".svg?", "/charts/", "vega")
OBSERVE = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
EDGE = "Math.round(document.querySelector('main > :not([hidden])').getBoundingClientRect().left)"


def addresses(world: World, queue: Queue) -> list[str]:
    """The pages that people see most."""
    pool = world.build_pool()
    report = make_report(world)
    run = world.collection.runs.all()[0]
    slug = f"/collections/{world.collection.slug}/"
    listed = ["queries", "documents", "runs", "pools", "queues", "gold", "qrels", "reports", "replays"]
    listed += ["canaries", "latency", "members", "jobs", "find"]
    new = ["runs/import", "pools/new", "queues/new", "reports/new", "edit"]
    rows = [run, pool, queue, report.release, report]
    return [
        "/",
        "/guide/start/",
        "/account/",
        slug,
        *(f"{slug}{name}/" for name in [*listed, *new]),
        *(row.get_absolute_url() for row in rows),
        f"/queues/{queue.pk}/quality/",
        f"{report.get_absolute_url()}queries/",
    ]


@pytest.mark.parametrize("look", LOOKS)
def test_pages_stand_still_and_weigh_little(
    look: str, page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ada, **LOOKS[look])
    page.add_init_script(OBSERVE)
    transferred: list[int] = []

    def count(response: Response) -> None:
        """The site sends static files compressed, which the server of the tests does not."""
        if response.ok and not any(part in response.url for part in CHARTS):
            is_static = "/static/" in response.url
            transferred.append(len(gzip.compress(response.body()) if is_static else response.body()))

    page.on("response", count)
    moved, heavy, wide = {}, {}, []
    edges: dict[int, list[str]] = {}
    for address in addresses(world, queue):
        page.goto(address)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
        if (shift := page.evaluate("window.shifted")) > MOST_SHIFT:
            moved[address] = shift
        if (weight := sum(transferred)) > MOST_BYTES:
            heavy[address] = weight
        if not page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"):
            wide.append(address)
        edges.setdefault(page.evaluate(EDGE), []).append(address)
        transferred.clear()
    assert (moved, heavy, wide) == ({}, {}, [])
    assert len(edges) == 1, edges


def test_tabs_are_one_line_on_a_phone_with_the_current_one_in_view(
    page_of: Callable[..., Page], world: World
) -> None:
    page = page_of(world.ada, viewport={"width": 390, "height": 844})
    for address in ("", "edit/"):  # the first tab and the last
        page.goto(f"/collections/{world.collection.slug}/{address}")
        tabs = page.locator(".tabs")
        current = tabs.locator("[aria-current]")
        expect(current).to_be_in_viewport(ratio=1)
        assert len({round(tab.bounding_box()["y"]) for tab in tabs.locator("a").all()}) == 1  # type: ignore[index]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
