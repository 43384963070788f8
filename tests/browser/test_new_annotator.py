"""A new annotator from the invitation to the tenth verdict, by touch alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.models import JudgmentEvent, Queue
from labeling.queues.opening import open_queue
from pooling.people.invitations import invite
from tests.browser.judging import all_saved, on_screen, ready, ready_for_taps, tap_verdict
from tests.browser.test_first_minutes import LOOKS
from tests.labeling.helpers import make_pool
from tests.world import World

PHONES = [name for name in LOOKS if "phone" in name]
GUIDELINES = (
    "# Rules\n\nA *timetable* answers.\n\n" + "One more rule. " * 34 + "\n\n## Relevant\n\n" + "More. " * 40
)


@pytest.fixture
def practised(world: World) -> Queue:
    """Eighteen pairs after one practice question whose passage is at the end of a long text."""
    world.collection.guidelines = GUIDELINES
    world.collection.save()
    world.collection.documents.filter(external_id="d1").update(
        text="It rains. " * 60 + "Buses run all night."
    )
    why = "It says “Buses run all night.”"
    question = NewQuestion(query="q1", document="d1", answer="relevant", reason=why, practice=True)
    add_question(world.collection, question)
    gold = GoldOptions(0, 0, practice_questions=1)
    return open_queue(make_pool(world, documents=6), name="First", seed=1, gold=gold)


def fits(page: Page) -> bool:
    """Whether nothing makes the page wider than the phone."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


@pytest.mark.parametrize("look", [pytest.param(PHONES[0], marks=pytest.mark.way), *PHONES[1:]])
def test_from_the_invitation_to_the_tenth_verdict(
    look: str, context: Callable[..., BrowserContext], world: World, practised: Queue
) -> None:
    _, token = invite(world.collection, "annotator", by=world.ada)
    page = context(**LOOKS[look]).new_page()
    page.goto(f"/invitations/{token}/")
    page.get_by_label("User name").fill("eve")
    page.get_by_label("Password", exact=True).fill("a ferry at low tide")
    page.get_by_label("Password, again").fill("a ferry at low tide")
    page.get_by_role("button", name="Create an account and join").tap()
    expect(page.get_by_text("Your role in Harbour is now: annotator.")).to_be_visible()
    page.locator("main").get_by_role("link", name="Judge First").tap()

    start = page.get_by_role("link", name="Start")
    expect(start).to_be_in_viewport(ratio=1)
    expect(page.locator(".judging-start-guidelines")).to_contain_text("A timetable answers.")
    # A heading whose text is cut off would be the last thing that is read.
    expect(page.locator(".judging-start-guidelines")).not_to_contain_text("Relevant")
    assert fits(page)
    start.tap()
    tap_verdict(page, "Not relevant")
    answer = page.get_by_role("region", name="The answer")
    expect(answer).to_contain_text("Not right: you said not relevant, the answer is relevant.")
    bottom, top = (
        page.locator(css).evaluate(f"(part) => part.getBoundingClientRect().{edge}")
        for css, edge in ((".judging-passage", "bottom"), ("[data-part=answer]", "top"))
    )
    assert bottom <= top
    ready_for_taps(page)
    page.get_by_role("link", name="Next").tap()
    page.get_by_role("link", name="Start judging").tap()

    for number in range(10):
        ready(page)
        shown = on_screen(page)
        tap_verdict(page, ("Relevant", "Not relevant")[number % 2])
        expect(page.locator("[data-part=last]")).to_contain_text(shown.title)
    expect(page.locator("[data-part=progress]")).to_contain_text("10 today")
    buttons = [page.get_by_role("button", name=name, exact=True) for name in ("Relevant", "Not relevant")]
    heights = {round(box["height"]) for button in buttons if (box := button.bounding_box())}
    assert heights == {56}  # no name of a verdict is broken in two
    assert fits(page)
    all_saved(page)
    assert JudgmentEvent.objects.filter(annotator__username="eve", is_practice=False).count() == 10
    page.get_by_role("button", name="Pause").tap()
    expect(page.get_by_text("Your verdicts on this query")).to_be_hidden()
    page.goto("/")
    expect(page.get_by_role("link", name="Judge Harbour")).to_have_class("button primary")
    expect(page.get_by_role("link", name="New collection")).to_have_count(0)
