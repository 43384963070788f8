"""A model that says otherwise is heard after the verdict: one key changes it, and going on keeps it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from labeling.models import JudgmentEvent, Queue
from tests.browser.judging import all_saved, on_screen, open_judging, press, ready, stored
from tests.labeling.helpers import REASONING, make_prelabels, show_prelabels
from tests.world import World


def test_a_conflict_is_changed_by_one_key_and_kept_by_going_on(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    show_prelabels(queue, "reveal", make_prelabels(world))
    page = page_of(world.ben)
    open_judging(page, queue)
    revealed = page.get_by_role("group", name="A model disagrees")
    press(page, "j")
    all_saved(page)
    expect(revealed).to_be_hidden()
    first = press(page, "f")
    expect(revealed).to_contain_text(f"You said not relevant of “{first.title}”; a model says relevant.")
    expect(revealed).to_contain_text(REASONING)
    following = on_screen(page)
    page.keyboard.press("c")
    expect(revealed).to_be_hidden()
    expect(page.locator("[data-part=last] button").last).to_contain_text("relevant: " + first.title)
    all_saved(page)
    ready(page)
    assert on_screen(page) == following
    kept = press(page, "f")
    expect(revealed).to_contain_text(kept.title)
    press(page, "j")
    expect(revealed).to_be_hidden()
    all_saved(page)
    assert (stored(queue)[first], stored(queue)[kept]) == ("relevant", "not_relevant")
    said = JudgmentEvent.objects.filter(document__title=first.title, query__text=first.query).order_by("pk")
    assert list(said.values_list("verdict", "prelabel_seen")) == [
        ("not_relevant", "after"),
        ("relevant", "before"),
    ]
    for _ in range(3):  # the last takes back the change, not what was said before it
        ready(page)
        page.keyboard.press("u")
    expect(page.locator("#document-title")).to_have_text(first.title)
    all_saved(page)
    assert stored(queue)[first] == "not_relevant"
