"""Judging facts in a browser: keys, evidence, a reload, a lost connection, a phone, and no script at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.models import Fact, FactLease, Support, SupportEvent
from labeling.queues.opening import change_state
from pooling.people.membership import add_member
from pooling.tidying.doing import delete
from tests.browser.conftest import use_session
from tests.browser.judging import PRESS, eventually
from tests.labeling.facts.helpers import bring_facts, fact_queue, many_facts
from tests.world import World

PageOf = Callable[..., Page]


def open_facts(page: Page, queue_id: int) -> None:
    page.goto(f"/queues/{queue_id}/facts/judge/")
    expect(page.locator(".fact.focused")).to_have_count(1)


def on_page(page: Page, number: int) -> None:
    expect(page.locator(".facts-list")).to_have_attribute("data-number", str(number))
    expect(page.locator(".fact.focused")).to_have_count(1)


def chosen(page: Page, place: int) -> str:
    return str(page.locator(f"input[name=verdict-{place}]:checked").input_value())


@pytest.mark.way
def test_57_facts_in_seven_pages_with_a_reload_no_network_and_undo(
    world: World, live_server: LiveServer, page_of: PageOf
) -> None:
    many_facts(world, 57)
    queue, page = fact_queue(world), page_of(world.ben)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if "hx-" in message.text else None)
    open_facts(page, queue.pk)
    page.keyboard.press("1")
    page.keyboard.press("Shift+Digit2")
    assert [chosen(page, place) for place in (1, 2)] == ["supports", "partly"]
    expect(page.locator("input[name=verdict-3]:checked")).to_have_count(0)
    page.keyboard.press("Enter")
    on_page(page, 1)  # the others wait for a choice
    page.keyboard.press("0")
    assert chosen(page, 3) == "no"
    page.keyboard.press("Enter")
    on_page(page, 2)
    page.keyboard.press("3")
    page.reload()
    on_page(page, 2)
    assert chosen(page, 3) == "supports"
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    on_page(page, 3)
    page.context.set_offline(True)
    page.keyboard.press("4")
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    expect(page.locator("#facts-trouble")).to_contain_text("no connection")
    assert Support.objects.count() == 18
    page.context.set_offline(False)
    on_page(page, 4)
    expect(page.locator("#facts-trouble")).to_be_hidden()
    assert Support.objects.count() == 27
    page.keyboard.press("u")
    on_page(page, 3)
    assert Support.objects.count() == 18
    for number in range(3, 7):
        page.keyboard.press("0")
        page.keyboard.press("Enter")
        on_page(page, number + 1)
    page.keyboard.press("[")
    on_page(page, 6)
    page.keyboard.press("]")
    on_page(page, 7)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Every document of this queue is judged.")).to_be_visible()
    assert Support.objects.count() == 57
    assert set(Support.objects.exclude(verdict="no").values_list("fact__external_id", "verdict")) == {
        ("n1", "supports"),
        ("n2", "partly"),
        ("n12", "supports"),
        ("n22", "supports"),  # as it was chosen before its page was taken back
    }
    assert said == []


def test_what_was_chosen_on_a_page_that_nobody_came_back_to_is_forgotten_after_thirty_days(
    world: World, live_server: LiveServer, page_of: PageOf
) -> None:
    many_facts(world, 3)
    page = page_of(world.ben)
    page.goto("/")
    days = "(at) => JSON.stringify({ versions: '', values: {}, at: Date.now() - at * 864e5 })"
    for name, ago in (("facts:1:2:3:1", 31), ("facts:1:4:5:1", 29), ("other", 31)):
        page.evaluate(f"([name, ago]) => localStorage.setItem(name, ({days})(ago))", [name, ago])
    open_facts(page, fact_queue(world).pk)
    names = page.evaluate("Object.keys(localStorage)")
    assert {"facts:1:2:3:1", "facts:1:4:5:1", "other"} & set(names) == {"facts:1:4:5:1", "other"}


def test_a_held_key_acts_once_and_keys_work_by_place_on_any_layout(
    world: World, live_server: LiveServer, page_of: PageOf
) -> None:
    many_facts(world, 57)
    queue, page = fact_queue(world), page_of(world.ben)
    open_facts(page, queue.pk)
    page.keyboard.press("0")
    for _ in range(4):
        page.keyboard.down("Enter")
        on_page(page, 2)
        page.keyboard.press("0")
    page.keyboard.up("Enter")
    on_page(page, 2)
    assert Support.objects.count() == 9
    page.evaluate(PRESS, ["End", "Numpad1", {}])  # without NumLock
    assert chosen(page, 1) == "no"
    page.evaluate(PRESS, ["1", "Numpad1", {}])
    assert chosen(page, 1) == "supports"
    page.evaluate(PRESS, ["х", "BracketLeft", {}])
    on_page(page, 1)
    page.evaluate(PRESS, ["]", "Digit9", {"ctrlKey": True, "altKey": True, "modifierAltGraph": True}])
    on_page(page, 2)
    page.evaluate(PRESS, ["г", "KeyU", {}])
    on_page(page, 1)
    assert Support.objects.count() == 0


def test_keys_are_changed_and_switched_off_on_the_page(
    world: World, live_server: LiveServer, page_of: PageOf
) -> None:
    many_facts(world, 57)
    queue, page = fact_queue(world), page_of(world.ben)
    open_facts(page, queue.pk)
    page.keyboard.press("?")
    page.get_by_role("button", name="No to the rest: 0. Change this key").click()
    page.keyboard.press("7")
    expect(page.locator("[data-part=key_message]")).to_contain_text("1 to 9 are the facts")
    page.keyboard.press("b")
    expect(page.locator("[data-part=key_message]")).to_contain_text("B is now a key")
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".fact.focused")).to_have_count(1)
    expect(page.get_by_role("button", name="No to the rest")).to_contain_text("B")
    page.keyboard.press("0")
    expect(page.locator("input[name=verdict-1]:checked")).to_have_count(0)
    page.keyboard.press("b")
    assert chosen(page, 1) == "no"
    page.keyboard.press("?")
    page.get_by_label("Use single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    assert chosen(page, 1) == "no"


def test_selected_words_are_the_evidence(world: World, live_server: LiveServer, page_of: PageOf) -> None:
    bring_facts(world)
    queue, page = fact_queue(world), page_of(world.ben)
    open_facts(page, queue.pk)
    page.evaluate(
        """() => {
          const text = document.getElementById("fact-text");
          const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
          const first = walker.nextNode();
          document.getSelection().setBaseAndExtent(first, 0, first, first.length);
        }"""
    )
    words = str(page.evaluate("() => document.getSelection().toString()")).strip()
    page.keyboard.press("v")
    page.keyboard.press("1")
    assert chosen(page, 1) == "supports"
    expect(page.locator(".fact").first.locator("[data-part=evidence]")).to_have_text(f"“{words}”")
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Every document of this queue is judged.")).to_be_visible()
    event = SupportEvent.objects.get(span_start__isnull=False)
    assert event.document.text is not None
    assert event.document.text[event.span_start : event.span_end] == words


def test_on_a_phone_facts_are_tapped_over_the_document(
    world: World, live_server: LiveServer, page_of: PageOf
) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    page = page_of(world.ben, viewport={"width": 390, "height": 800}, has_touch=True)
    open_facts(page, queue.pk)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_text("supports", exact=True).first.tap()
    assert chosen(page, 1) == "supports"
    page.get_by_role("button", name="No to the rest").tap()
    expect(page.get_by_text("Every document of this queue is judged.")).to_be_visible()
    assert Support.objects.get(fact__external_id="lines").verdict == "supports"


def test_facts_are_judged_without_a_script(world: World, live_server: LiveServer, page_of: PageOf) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    page = page_of(world.ben, java_script_enabled=False)
    page.goto(f"/queues/{queue.pk}/judge/")
    page.locator("input[name=verdict-2][value=supports]").check(force=True)
    page.get_by_role("button", name="No to the rest").click()
    expect(page.get_by_text("Every document of this queue is judged.")).to_be_visible()
    assert Support.objects.get(fact__external_id="often").verdict == "supports"
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Night buses run on lines")).to_be_visible()
    assert not Support.objects.exists()


def test_leaving_gives_the_document_back_and_a_reload_keeps_it(
    world: World, live_server: LiveServer, page_of: PageOf
) -> None:
    bring_facts(world)
    queue, page = fact_queue(world), page_of(world.ben)
    open_facts(page, queue.pk)
    page.reload()
    open_facts(page, queue.pk)
    assert held_by(world.ben) == 1
    page.goto("/health/")
    eventually(page, lambda: held_by(world.ben) == 0)


@pytest.mark.parametrize("state", ["closed", "deleted"])
def test_a_queue_that_is_gone_takes_what_is_on_the_page_through_reloads(
    world: World, live_server: LiveServer, page_of: PageOf, state: str
) -> None:
    many_facts(world, 20)
    queue, page = fact_queue(world), page_of(world.ben)
    open_facts(page, queue.pk)
    page.keyboard.press("0")
    if state == "deleted":
        delete(queue, by=world.ada)
    else:
        change_state(queue, state, by=world.ada)
    page.keyboard.press("Enter")
    on_page(page, 2)
    page.keyboard.press("2")
    for _ in range(2):
        page.reload()
        on_page(page, 2)
        assert chosen(page, 2) == "supports"
        expect(page.get_by_text(f"This queue is {state}; your verdicts are still saved.")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_text(f"This queue is {state}; it hands out no documents.")).to_be_visible()
    assert chosen(page, 2) == "supports"
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    on_page(page, 3)
    assert Support.objects.filter(fact__external_id="n11", verdict="supports").count() == 1
    assert Support.objects.count() == 18


def test_what_is_not_saved_says_why_and_waits(world: World, live_server: LiveServer, page_of: PageOf) -> None:
    many_facts(world, 9)
    queue, page = fact_queue(world), page_of(world.ben)
    open_facts(page, queue.pk)
    page.keyboard.press("0")
    trouble, own = page.locator("#facts-trouble"), world.collection.memberships.filter(user=world.ben)
    use_session(page.context, world.cleo, page.url)
    page.keyboard.press("Enter")
    expect(trouble).to_contain_text("Not saved yet: This browser is now signed in as cleo.")
    use_session(page.context, world.ben, page.url)
    own.update(role="viewer")
    page.keyboard.press("Enter")
    expect(trouble).to_contain_text("This needs the role admin or annotator; your role here is viewer.")
    own.delete()
    page.keyboard.press("Enter")
    expect(trouble).to_contain_text("a collection of which you are not a member")
    add_member(world.collection, "ben", "annotator")
    FactLease.objects.all().delete()
    page.keyboard.press("Enter")
    expect(page.get_by_text("This pair is not in this queue.")).to_be_visible()
    on_page(page, 1)
    assert chosen(page, 9) == "no"
    page.keyboard.press("Enter")
    expect(page.get_by_text("Every document of this queue is judged.")).to_be_visible()
    assert Support.objects.count() == 9


def held_by(user: User) -> int:
    return FactLease.objects.filter(annotator=user, expires_at__gt=timezone.now()).count()


def test_facts_below_the_fold_of_their_list_do_not_lengthen_a_phones_page(
    world: World, live_server: LiveServer, page_of: PageOf
) -> None:
    many_facts(world, 9)
    queue = fact_queue(world)
    page = page_of(world.ben, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    open_facts(page, queue.pk)
    bottom = "document.querySelector('main').getBoundingClientRect().bottom"
    assert page.evaluate(f"document.documentElement.scrollHeight <= Math.max(innerHeight, {bottom}) + 1")


def test_words_not_yet_saved_outlive_what_is_done_to_another_row(
    world: World, live_server: LiveServer, page_of: PageOf
) -> None:
    many_facts(world, 2)
    page = page_of(world.ada)
    page.goto("/collections/harbour/facts/query/?query=q1")
    page.get_by_label("Fact n2", exact=True).fill("Not saved yet.")
    page.get_by_label("Fact n1", exact=True).fill("Said better.")
    page.get_by_role("button", name="Save n1").click()
    expect(page.get_by_text("n1, version 2")).to_be_visible()
    expect(page.get_by_label("Fact n2", exact=True)).to_have_value("Not saved yet.")
    page.get_by_label("Fact n1", exact=True).fill("Said best.")
    page.get_by_role("button", name="Save n1").click()
    expect(page.get_by_text("n1, version 3")).to_be_visible()
    page.get_by_role("button", name="Save n2").click()
    expect(page.get_by_text("n2, version 2")).to_be_visible()


def test_confirm_all_stores_the_words_that_stand_in_the_rows(
    world: World, live_server: LiveServer, page_of: PageOf
) -> None:
    many_facts(world, 2)
    Fact.objects.update(state=Fact.State.PROPOSED)
    page = page_of(world.ada)
    page.goto("/collections/harbour/facts/query/?query=q1")
    page.get_by_label("Fact n1", exact=True).fill("Said better.")
    page.get_by_label("Fact n2", exact=True).fill("")
    page.get_by_role("button", name="Confirm all").click()
    expect(page.get_by_text("Fact n2, text: This field is required.")).to_be_visible()
    expect(page.get_by_label("Fact n1", exact=True)).to_have_value("Said better.")
    page.get_by_role("button", name="Reject n2").click()
    expect(page.get_by_text("Rejected or merged: 1")).to_be_visible()
    page.get_by_role("button", name="Confirm all").click()
    expect(page.get_by_text("n1, version 2")).to_be_visible()
    expect(page.get_by_label("Fact n1", exact=True)).to_have_value("Said better.")
    assert set(Fact.objects.values_list("external_id", "state")) == {("n1", "confirmed"), ("n2", "rejected")}
