"""Pairs settled from the keyboard, by thumb and by a rule, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from labeling.models import GoldQuestion, Item, JudgmentEvent, Queue
from labeling.queues.opening import open_queue
from tests.browser.judging import PRESS, eventually, follow
from tests.browser.test_accessibility import LOOKS, violations
from tests.labeling.helpers import judge, make_pool
from tests.world import World


@pytest.fixture
def disputed(world: World) -> Queue:
    """Ben and Cleo disagree on twelve pairs, three more than the page fetches at first and next."""
    queue = open_queue(make_pool(world, documents=4), judgments_per_item=2, seed=1, user=world.ada)
    for item in queue.items.order_by("order_key"):
        judge(queue, world.ben, item.pk, "relevant", note="I wonder", active_ms=1_500)
        judge(queue, world.cleo, item.pk, "not_relevant")
    return queue


def waiting(queue: Queue) -> int:
    return queue.items.filter(state=Item.State.ADJUDICATION).count()


def title(page: Page) -> str:
    return str(page.locator("article:visible").get_attribute("data-item"))


def open_page(page: Page, queue: Queue, rest: str = "") -> None:
    page.goto(f"/queues/{queue.pk}/adjudication/{rest}")
    expect(page.locator("article:visible")).to_have_count(1)


def press(page: Page, key: str) -> None:
    """Press a key once the pair on screen takes it."""
    expect(page.locator("#adjudication")).to_have_attribute("data-accepts", "true")
    page.keyboard.press(key)


@pytest.mark.parametrize("look", LOOKS)
def test_one_pair_at_a_time_is_settled_and_the_next_comes_at_once(
    look: str, page_of: Callable[..., Page], world: World, disputed: Queue
) -> None:
    page = page_of(world.ada, **LOOKS[look])
    open_page(page, disputed)
    expect(page.locator("article:visible").get_by_text("I wonder")).to_be_visible()
    expect(page.get_by_text("12 pairs wait for a decision.")).to_be_visible()
    assert violations(page) == []
    first = title(page)
    page.locator("article:visible").get_by_label("Why (kept with your verdict)").fill("the guidelines say so")
    page.get_by_role("button", name="Relevant").and_(page.locator("[value=relevant]:visible")).click()
    expect(page.get_by_text("11 pairs wait for a decision.")).to_be_visible()
    assert title(page) != first
    assert violations(page) == []
    eventually(page, lambda: waiting(disputed) == 11)
    event = JudgmentEvent.objects.get(is_adjudication=True)
    assert (event.verdict, event.note) == ("relevant", "the guidelines say so")
    page.locator("[data-part=undo]").click()
    expect(page.get_by_text("12 pairs wait for a decision.")).to_be_visible()
    assert title(page) == first
    eventually(page, lambda: waiting(disputed) == 12)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_keys_settle_every_pair_of_the_queue(
    page_of: Callable[..., Page], world: World, disputed: Queue
) -> None:
    page = page_of(world.ada)
    open_page(page, disputed)
    for key in "jfs" + "j" * 8:
        before = title(page)
        press(page, key)
        expect(page.locator("article:visible")).not_to_have_attribute("data-item", before)
    press(page, "x")
    assert violations(page) == []
    press(page, "2")
    expect(page.get_by_text("That was the last one.")).to_be_visible()
    eventually(page, lambda: waiting(disputed) == 1)
    page.get_by_role("link", name="Start again with those left for later").click()
    press(page, "f")
    expect(page.get_by_text("No pairs need adjudication.")).to_be_visible()
    eventually(page, lambda: waiting(disputed) == 0)
    said = JudgmentEvent.objects.filter(is_adjudication=True).values_list("verdict", flat=True)
    assert sorted(said) == ["cannot_judge", "not_relevant", "not_relevant", *["relevant"] * 9]


def test_what_was_said_of_an_undo_goes_with_the_next_verdict(
    page_of: Callable[..., Page], world: World, disputed: Queue
) -> None:
    judge(disputed, world.ada, disputed.items.order_by("order_key")[0].pk, adjudicates=True)
    page = page_of(world.ada)
    open_page(page, disputed)
    page.locator("[name=undo]").click()
    said = page.get_by_text("Undone: the pair needs adjudication again.")
    expect(said).to_be_visible()
    press(page, "j")
    expect(page.locator("[data-part=last_text]")).to_contain_text("Settled")
    expect(said).to_be_hidden()


def test_keys_are_changed_and_work_by_place_on_other_layouts(
    page_of: Callable[..., Page], world: World, disputed: Queue
) -> None:
    page = page_of(world.ada)
    open_page(page, disputed)
    page.keyboard.press("?")
    page.get_by_role("button", name="Later: S. Change this key").click()
    page.keyboard.press("b")
    page.keyboard.press("Escape")
    expect(page.locator("article:visible").get_by_role("link", name="Later")).to_contain_text("B")
    first = title(page)
    press(page, "b")
    expect(page.locator("article:visible")).not_to_have_attribute("data-item", first)
    expect(page.locator("#adjudication")).to_have_attribute("data-accepts", "true")
    page.evaluate(PRESS, ["о", "KeyJ", {}])
    expect(page.get_by_text("11 pairs wait for a decision.")).to_be_visible()


def test_a_pair_comes_back_when_its_verdict_was_not_saved(
    page_of: Callable[..., Page], world: World, disputed: Queue
) -> None:
    page = page_of(world.ada)
    open_page(page, disputed)
    first = title(page)
    page.context.set_offline(True)
    press(page, "j")
    expect(page.get_by_role("alert")).to_contain_text("Not saved")
    expect(page.locator("article:visible")).to_have_attribute("data-item", first)
    page.context.set_offline(False)
    press(page, "f")
    eventually(page, lambda: waiting(disputed) == 11)
    assert JudgmentEvent.objects.get(is_adjudication=True).verdict == "not_relevant"


def test_names_show_when_an_admin_turns_them_on(
    page_of: Callable[..., Page], world: World, disputed: Queue
) -> None:
    page = page_of(world.ada)
    open_page(page, disputed)
    opinions = page.get_by_role("region", name="Opinions")
    expect(opinions).to_contain_text("Annotator 1")
    expect(opinions).not_to_contain_text("ben")
    page.get_by_text("Filter, names, rules").click()
    page.get_by_label("Show names").check()
    expect(opinions).to_contain_text("ben")
    page.get_by_text("Filter, names, rules").click()
    page.get_by_label("Why they wait").select_option("Can't judge")
    expect(page.get_by_text("No such pairs need adjudication.")).to_be_visible()


def test_a_rule_is_previewed_applied_and_undone(
    page_of: Callable[..., Page], world: World, disputed: Queue
) -> None:
    page = page_of(world.ada)
    page.goto(f"/queues/{disputed.pk}/adjudication/")
    page.get_by_text("Filter, names, rules").click()
    page.get_by_role("link", name="Settle many by a rule").click()
    page.get_by_label("The majority of trusted annotators").check()
    page.get_by_role("checkbox", name="cleo").check()
    assert violations(page) == []
    follow(page.get_by_role("button", name="Preview"))
    assert violations(page) == []
    page.get_by_role("button", name="Take the majority of trusted annotators for 12 of 12").click()
    expect(page.get_by_text("Settled by rule: 12 pairs.")).to_be_visible()
    assert waiting(disputed) == 0
    assert violations(page) == []
    page.get_by_role("button", name="Undo all 12").click()
    expect(page.get_by_text("Undone: 12 pairs need adjudication again.")).to_be_visible()
    assert waiting(disputed) == 12


def test_without_scripts_a_pair_is_settled_by_its_form(
    page_of: Callable[..., Page], world: World, disputed: Queue
) -> None:
    page = page_of(world.ada, java_script_enabled=False)
    page.goto(f"/queues/{disputed.pk}/adjudication/")
    page.get_by_role("link", name="Later").click()
    page.get_by_role("button", name="Not relevant").click()
    expect(page.get_by_text("Settled: Not relevant.")).to_be_visible()
    assert waiting(disputed) == 11


def test_a_pair_becomes_a_gold_question_instead_of_being_settled(
    page_of: Callable[..., Page], world: World, disputed: Queue
) -> None:
    page = page_of(world.ada)
    open_page(page, disputed)
    pair = page.locator("article:visible")
    pair.get_by_text("Make gold").click()
    pair.get_by_label("Why", exact=True).fill("it is plain")
    assert violations(page) == []
    pair.locator(".make-gold").get_by_role("button", name="Not relevant").click()
    expect(page.get_by_text("A gold question with the answer not relevant.")).to_be_visible()
    expect(page.get_by_text("11 pairs wait for a decision.")).to_be_visible()
    question = GoldQuestion.objects.get()
    assert (question.answer, question.reason) == ("not_relevant", "it is plain")
    assert not JudgmentEvent.objects.filter(is_adjudication=True).exists()
