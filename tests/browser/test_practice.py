"""The practice round in a real browser: the judging page with its keys, explained after each verdict."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question, change_question
from labeling.models import GoldQuestion, JudgmentEvent, Queue
from labeling.queues.opening import open_queue
from pooling.models import Collection
from tests.browser.judging import begin, on_screen, ready, ready_for_taps
from tests.browser.test_accessibility import violations
from tests.browser.test_first_minutes import LOOKS
from tests.labeling.helpers import make_pool
from tests.world import World


@pytest.fixture
def practice(world: World) -> Queue:
    """A queue after two practice questions, the first of them relevant."""
    for document, answer in (("d1", "relevant"), ("d4", "not_relevant")):
        why = "Because of d1: “Buses run all night”." if document == "d1" else "Because of d4."
        question = NewQuestion(query="q1", document=document, answer=answer, reason=why, practice=True)
        add_question(world.collection, question)
    return open_queue(make_pool(world), seed=1, gold=GoldOptions(0, 0, practice_questions=2))


def verdict(page: Page, look: str, key: str) -> None:
    """Press a verdict key, or tap its button on a phone."""
    name = "relevant" if key == "j" else "not-relevant"
    act(page, look, key, page.locator(f".verdict-button.{name}"))


def act(page: Page, look: str, key: str, button: Locator) -> None:
    if "phone" in look:
        ready_for_taps(page)
        button.tap()
    else:
        ready(page)
        page.keyboard.press(key)


@pytest.mark.parametrize("look", LOOKS)
def test_practice_has_the_keys_of_judging_and_the_pair_stays(
    look: str, page_of: Callable[..., Page], world: World, practice: Queue
) -> None:
    page = page_of(world.ben, **LOOKS[look])
    page.goto(f"/queues/{practice.pk}/judge/")
    expect(page.locator("[data-part=start]")).to_contain_text("First, there are 2 practice questions")
    begin(page)
    expect(page.locator("[data-part=progress]")).to_have_text("Practice 1 of 2 · counts nowhere")
    assert violations(page) == []
    shown = on_screen(page)
    verdict(page, look, "j")
    answer = page.get_by_role("region", name="The answer")
    expect(answer).to_contain_text("Right: relevant.")
    expect(answer).to_contain_text("Because of d1:")
    expect(answer).to_contain_text("The passage that decides it is marked.")
    expect(page.locator(".judging-passage")).to_contain_text("Buses run all night")
    expect(page.locator(".judging-passage")).to_be_in_viewport()
    assert on_screen(page) == shown
    expect(page.get_by_role("link", name="Next")).to_be_in_viewport(ratio=1)
    assert violations(page) == []
    act(page, look, "j", page.get_by_role("link", name="Next"))
    expect(page.locator("#document-title")).to_have_text("Timetables")
    expect(answer).to_be_hidden()
    expect(page.locator("[data-part=progress]")).to_have_text("Practice 2 of 2 · counts nowhere")
    verdict(page, look, "j")
    expect(answer).to_contain_text("Not right: you said relevant, the answer is not relevant.")
    act(page, look, "j", page.get_by_role("link", name="Next"))
    expect(page.get_by_role("heading", name="Practice done: 1 of 2 right")).to_be_visible()
    marks = "spans => spans.map(span => getComputedStyle(span, '::before').content)"
    assert page.locator(".practice-answers [class^=verdict-]").evaluate_all(marks) == ['"✓ "', '"✗ "']
    expect(page.locator("main").get_by_role("link", name="Guidelines")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Start judging").click()
    ready(page)
    expect(page.locator("[data-part=progress]")).to_contain_text("0 today · 0 in total")
    expect(page.locator(".chip")).to_have_count(0)


def test_the_header_is_whole_on_a_phone_in_long_words(
    page_of: Callable[..., Page], world: World, practice: Queue
) -> None:
    # Their button would put the progress on a line of its own.
    Collection.objects.update(guidelines="")
    page = page_of(world.ben, locale="de", **LOOKS["phone of 390"])
    page.goto(f"/queues/{practice.pk}/practice/")
    begin(page)
    progress, name = page.locator("[data-part=progress]"), page.locator(".judging-queue")
    expect(progress).to_have_text("Übung 1 von 2 · zählt nirgends")
    for part in (progress, name):
        assert part.evaluate("one => one.scrollWidth <= one.clientWidth"), part.inner_text()


def test_a_verdict_pressed_twice_is_explained_once(
    page_of: Callable[..., Page], world: World, practice: Queue
) -> None:
    page = page_of(world.ben)
    page.goto(f"/queues/{practice.pk}/practice/")
    begin(page)
    ready(page)
    page.evaluate(
        "for (const key of 'jj') document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    )
    expect(page.get_by_role("region", name="The answer")).to_be_visible()
    assert JudgmentEvent.objects.count() == 1
    page.keyboard.press("x")
    page.keyboard.press("s")
    expect(page.get_by_role("region", name="The answer")).to_be_visible()


def test_an_answer_that_cannot_be_sent_can_be_given_again(
    page_of: Callable[..., Page], world: World, practice: Queue
) -> None:
    def fail(route: Route) -> None:
        route.abort()

    page = page_of(world.ben)
    page.goto(f"/queues/{practice.pk}/practice/")
    begin(page)
    ready(page)
    page.route("**/api/queues/*/practice/", fail)
    page.keyboard.press("f")
    expect(page.get_by_role("alert")).to_contain_text("Your answer could not be sent")
    page.unroute("**/api/queues/*/practice/", fail)
    page.keyboard.press("x")
    page.keyboard.press("1")
    expect(page.get_by_role("region", name="The answer")).to_contain_text("you said can't judge")
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_question_taken_out_of_the_round_gives_way_to_the_next(
    page_of: Callable[..., Page], world: World, practice: Queue
) -> None:
    page, (first, second) = page_of(world.ben), GoldQuestion.objects.order_by("pk")
    page.goto(f"/queues/{practice.pk}/practice/")
    begin(page)
    ready(page)
    change_question(first, active=False)
    page.keyboard.press("j")
    expect(page.get_by_role("alert")).to_have_text("This question is not part of the practice round.")
    expect(page.locator("#document-title")).to_have_text("Timetables")
    expect(page.locator("[data-part=progress]")).to_have_text("Practice 1 of 1 · counts nowhere")
    change_question(second, active=False)
    ready(page)
    page.keyboard.press("j")
    page.wait_for_url(f"**/queues/{practice.pk}/judge/")


def test_practice_without_a_script(page_of: Callable[..., Page], world: World, practice: Queue) -> None:
    page = page_of(world.ben, java_script_enabled=False)
    page.goto(f"/queues/{practice.pk}/judge/")
    begin(page)
    for title, said in (
        ("Night buses", "Not right: you said not relevant"),
        ("Timetables", "Right: not relevant"),
    ):
        expect(page.locator("#document-title")).to_have_text(title)
        page.get_by_role("button", name="Not relevant").click()
        expect(page.get_by_role("region", name="The answer")).to_contain_text(said)
        expect(page.locator("#document-title")).to_have_text(title)
        page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("heading", name="Practice done: 1 of 2 right")).to_be_visible()
    page.get_by_role("link", name="Start judging").click()
    expect(page.get_by_role("button", name="Relevant", exact=True)).to_be_visible()
