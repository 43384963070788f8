"""What the browser adds to the forms, which work without it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.world import World

CLICK_TWICE = """() => {
  const sent = [];
  window.addEventListener("submit", (event) => {
    sent.push(!event.defaultPrevented);
    event.preventDefault();
  });
  const button = document.querySelector("main form [type=submit]");
  button.click();
  button.click();
  return sent;
}"""


def test_a_double_click_sends_a_form_once(page_of: Callable[..., Page], world: World) -> None:
    world.import_runs()
    page = page_of(world.ada)
    page.goto("/collections/harbour/pools/new/")
    page.get_by_label("Name").fill("clicked twice")
    assert page.evaluate(CLICK_TWICE) == [True, False]


def test_a_form_that_was_sent_once_arrives(page_of: Callable[..., Page], world: World) -> None:
    world.import_runs()
    page = page_of(world.ada)
    page.goto("/collections/harbour/pools/new/")
    page.get_by_label("Name").fill("clicked once")
    page.get_by_role("button", name="Build the pool").click()
    expect(page.get_by_role("heading", name="clicked once", level=1)).to_be_visible()


def test_a_refused_form_below_the_fold_goes_to_its_field(page_of: Callable[..., Page], world: World) -> None:
    page = page_of(world.ada, viewport={"width": 1280, "height": 300})
    page.goto("/collections/harbour/gold/")
    page.get_by_label("Query id").fill("q99")
    page.get_by_label("Document id").fill("d1")
    page.get_by_label("Relevant", exact=True).check()
    page.get_by_role("button", name="Make it a gold question").click()
    expect(page.get_by_label("Query id")).to_be_focused()
    expect(page.get_by_text("There is no query “q99” in the collection.")).to_be_in_viewport()


def test_a_refused_sign_in_leaves_the_focus_in_its_first_field(
    context: Callable[..., BrowserContext], world: World
) -> None:
    page = context().new_page()
    page.goto("/sign-in/")
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill("not hers")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Wrong name or password.")).to_be_in_viewport()
    expect(page.get_by_label("User name")).to_be_focused()


def test_long_names_never_widen_a_page(page_of: Callable[..., Page], world: World) -> None:
    run = world.import_runs()[0]
    run.name, run.source_name = "n" * 200, "f" * 300
    run.save()
    page = page_of(world.ada, viewport={"width": 390, "height": 800})
    page.goto(f"/collections/harbour/runs/{run.pk}/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    root = "document.documentElement"
    assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
