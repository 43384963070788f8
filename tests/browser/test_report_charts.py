"""The curve that answers to the pointer, under the site's policy; and the HTML file without a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from evaluation.reports.export import html_of
from tests.browser.judging import eventually
from tests.browser.test_accessibility import violations
from tests.evaluation.cast import SPARSE, make_report
from tests.world import World


def test_the_curve_answers_to_the_pointer_and_the_file_opens_without_a_network(
    page_of: Callable[..., Page], browser: Browser, world: World, tmp_path: Path
) -> None:
    report = make_report(world, SPARSE)
    page = page_of(world.vera)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(report.get_absolute_url(), wait_until="domcontentloaded")
    figure = page.locator("figure").first
    before = figure.bounding_box()
    expect(page.locator(".chart.live svg")).to_be_visible()
    eventually(page, lambda: figure.bounding_box() == before)  # nothing has moved
    # The last layer is of unseen marks; the first of them is alpha's at K = 1.
    page.locator(".chart.live .role-mark.mark-symbol").last.locator("path").first.hover(force=True)
    words = page.locator("#chart-words")
    expect(words).to_contain_text("alpha")
    expect(words).to_contain_text("1.000")
    page.mouse.move(0, 0)
    assert violations(page) == []
    assert said == []

    path = tmp_path / "report.html"
    path.write_bytes(html_of(report))
    asked: list[str] = []
    for look in ("light", "dark"):
        context = browser.new_context(offline=True, color_scheme=look, viewport={"width": 390, "height": 780})
        alone = context.new_page()
        alone.on("request", lambda request: asked.append(request.url))
        alone.on("console", lambda message: said.append(message.text))
        alone.goto(path.as_uri())
        expect(alone.locator(f"svg[data-scheme={look}]").first).to_be_visible()
        assert alone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        context.close()
    assert asked == [path.as_uri()] * 2
    assert said == []
    # axe-core is a script, which the file forbids; the same file is read without that line.
    context = browser.new_context()
    alone = context.new_page()
    alone.set_content(path.read_text().replace("default-src 'none'", "default-src *"))
    found = Axe().run(alone).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"][:150]) for rule in found] == []
    context.close()


def test_the_run_that_is_pointed_at_shows_its_bands_and_dims_the_others(
    page_of: Callable[..., Page], world: World
) -> None:
    report = make_report(world, SPARSE, k=[1, 2])
    page = page_of(world.vera, has_touch=True)
    page.goto(report.get_absolute_url())
    figure = page.locator("figure").first
    name = page.locator(".chart.live text", has_text="beta")
    expect(name).to_be_visible()
    strengths = lambda: {  # noqa: E731
        line.get_attribute("opacity") or "1" for line in page.locator(".role-mark.mark-line path").all()
    }
    usual = strengths()

    name.hover(force=True)
    expect(figure).to_have_attribute("data-pointed", "beta")
    eventually(page, lambda: strengths() > usual)
    page.mouse.move(0, 0)
    expect(figure).to_have_attribute("data-pointed", "")
    eventually(page, lambda: strengths() == usual)

    name.tap(force=True)
    expect(figure).to_have_attribute("data-pointed", "beta")

    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".chart-runs")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    page.get_by_role("radio", name="no run in particular").focus()
    page.keyboard.press("ArrowDown")
    expect(figure).to_have_attribute("data-pointed", "alpha")
    eventually(page, lambda: strengths() > usual)
    assert violations(page) == []


def test_without_scripts_the_curve_is_a_picture_that_names_its_runs(
    page_of: Callable[..., Page], world: World
) -> None:
    report = make_report(world, SPARSE, k=[1, 2])
    page = page_of(world.vera, java_script_enabled=False)
    page.goto(report.get_absolute_url())
    expect(page.locator("figure img.chart").first).to_be_visible()
    expect(page.get_by_text("Point at a line or a name")).to_be_hidden()


def test_a_printed_report_has_its_numbers_and_nothing_to_press(
    page_of: Callable[..., Page], world: World
) -> None:
    page = page_of(world.ada)
    page.goto(make_report(world, SPARSE).get_absolute_url())
    page.emulate_media(media="print")
    for control in (".report form", ".table-tools", ".tidy-menu", ".in-colour", "#downloads"):
        found = page.locator(control)
        assert found.count()
        assert not any(one.is_visible() for one in found.all()), control
    expect(page.locator("table").first).to_be_visible()
    expect(page.locator("#conventions li").first).to_be_visible()
    expect(page.locator("h2").first).to_have_css("break-after", "avoid")  # no heading alone at a page's end
