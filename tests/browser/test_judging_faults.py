"""What goes wrong around the judging page: networks, crashes, clocks, other people and other tabs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import OperationalError
from playwright.sync_api import BrowserContext, Dialog, Error, Page, Route, expect

from labeling.models import Item, JudgmentEvent, Lease, Queue
from labeling.queues.opening import change_state
from pooling.models import Membership
from pooling.people.membership import change_collection
from pooling.tidying.doing import delete
from tests.browser.conftest import sign_in, use_session
from tests.browser.judging import (
    JUDGMENTS,
    all_saved,
    eventually,
    kept,
    on_screen,
    open_judging,
    press,
    ready,
    save_state,
    stored,
)
from tests.world import World


def cut(route: Route) -> None:
    route.abort("internetdisconnected")


def crash(page: Page) -> BrowserContext:
    """End the page's process as a crash does: it sends no last word."""
    with pytest.raises(Error, match="crash"):
        page.goto("chrome://crash")
    page.close()
    return page.context


@pytest.mark.way
def test_a_batch_is_judged_offline_and_sent_once_when_the_network_is_back(page: Page, queue: Queue) -> None:
    page.context.set_offline(True)
    judged = {press(page, key): verdict for key, verdict in [("j", "relevant"), ("f", "not_relevant")] * 4}
    expect(save_state(page)).to_contain_text("Offline: 8 waiting, trying again")
    ready(page)
    undone = list(judged)[-1]
    page.keyboard.press("u")
    expect(page.locator("#document-title")).to_have_text(undone.title)
    del judged[undone]
    judged |= {press(page, "j"): "relevant" for _ in range(3)}
    # At once, although the next try to fetch more may be half a minute away.
    expect(page.locator("[data-part=fetching]")).to_contain_text("You are offline. Trying again.")
    assert stored(queue) == {}
    page.context.set_offline(False)
    expect(save_state(page)).to_have_text("All saved")
    assert stored(queue) == judged
    # The undone verdict was forgotten in the browser or, while a try to send it was under way, on the server.
    assert JudgmentEvent.objects.filter(kind="verdict", undone_by=None).count() == len(judged) == 10
    ready(page)  # and the next batch is there


def test_verdicts_of_a_tab_that_crashed_are_sent_by_the_next_one(page: Page, queue: Queue) -> None:
    page.context.route(JUDGMENTS, cut)
    judged = {press(page, "j"): "relevant", press(page, "f"): "not_relevant"}
    expect(save_state(page)).to_contain_text("2 waiting")
    assert kept(page) == 2
    context = crash(page)
    context.unroute(JUDGMENTS)
    assert stored(queue) == {}
    after = context.new_page()
    open_judging(after, queue)
    all_saved(after)
    assert stored(queue) == judged
    assert on_screen(after) not in judged
    after.keyboard.press("u")  # undo reaches what the other page judged
    expect(after.locator("#document-title")).to_have_text(list(judged)[-1].title)
    all_saved(after)
    assert len(stored(queue)) == 1
    assert kept(after) == 0


def test_any_page_of_the_site_sends_what_a_judging_page_left(page: Page, queue: Queue) -> None:
    page.context.route(JUDGMENTS, cut)
    judged = press(page, "j")
    expect(save_state(page)).to_contain_text("1 waiting")
    elsewhere = crash(page).new_page()
    elsewhere.goto("/guide/")
    expect(elsewhere.locator("[data-unsent]")).to_contain_text("1 verdict in “Queue 1” could not be sent yet")
    assert stored(queue) == {}
    elsewhere.context.unroute(JUDGMENTS)
    expect(elsewhere.locator("[data-unsent]")).to_be_hidden()
    assert stored(queue) == {judged: "relevant"}


def test_signing_out_asks_and_nobody_else_sends_the_verdicts(page: Page, world: World, queue: Queue) -> None:
    questions: list[str] = []

    def answer(dialog: Dialog) -> None:
        if dialog.type == "confirm":
            questions.append(dialog.message)
        dialog.dismiss() if len(questions) == 1 and dialog.type == "confirm" else dialog.accept()

    page.on("dialog", answer)
    page.context.route(JUDGMENTS, cut)
    judged = press(page, "j")
    page.keyboard.press("?")
    sign_out = page.get_by_role("button", name="Sign out ben")
    sign_out.click()
    eventually(page, lambda: len(questions) == 1)
    expect(sign_out).to_be_visible()
    sign_out.click()
    page.wait_for_url("**/sign-in/**")
    assert "1 verdict is not saved on the server yet" in questions[0]
    expect(page.locator("[data-unsent]")).to_contain_text("1 verdict of ben not yet saved on the server")
    page.context.unroute(JUDGMENTS)

    sign_in(page, "cleo")
    open_judging(page, queue)
    expect(page.locator("[data-part=others]")).to_contain_text("if that account is deleted, it cannot be")
    hers = press(page, "f")
    all_saved(page)
    assert stored(queue) == {hers: "not_relevant"}
    assert kept(page) == 1

    use_session(page.context, world.ben, page.url)
    page.goto("/guide/")
    eventually(page, lambda: len(stored(queue)) == 2)
    event = JudgmentEvent.objects.get(annotator=world.ben)
    assert (event.document.title, event.verdict) == (judged.title, "relevant")


def test_a_page_left_open_sends_nothing_under_the_name_of_who_signs_in_next(
    page: Page, world: World, queue: Queue
) -> None:
    use_session(page.context, world.cleo, page.url)
    judged = press(page, "j")
    stopped = page.locator("[data-part=stopped]")
    expect(stopped).to_contain_text("This browser is now signed in as cleo. 1 verdict of yours waits")
    page.keyboard.press("j")
    assert JudgmentEvent.objects.count() == 0
    use_session(page.context, world.ben, page.url)
    page.get_by_role("link", name="Try again").click()
    all_saved(page)
    assert stored(queue) == {judged: "relevant"}
    assert JudgmentEvent.objects.get().annotator == world.ben
    ready(page)


def test_a_session_that_ended_is_said_and_judging_goes_on_after_signing_in(
    page: Page, world: World, queue: Queue
) -> None:
    page.context.clear_cookies(name="sessionid")
    judged = {press(page, "j"): "relevant"}
    expect(save_state(page)).to_contain_text("Signed out: 1 waiting. Sign in again")
    judged[press(page, "f")] = "not_relevant"
    use_session(page.context, world.ben, page.url)
    page.evaluate("window.dispatchEvent(new Event('online'))")
    all_saved(page)
    assert stored(queue) == judged


def test_who_is_no_longer_a_member_is_told(page: Page, world: World, queue: Queue) -> None:
    Membership.objects.filter(user=world.ben).delete()
    press(page, "j")
    expect(page.locator("[data-part=stopped]")).to_contain_text("You can no longer judge in this queue")
    expect(save_state(page)).to_have_text("1 waiting")
    assert stored(queue) == {}
    assert kept(page) == 1
    page.goto("/")
    expect(page.locator("[data-unsent]")).to_contain_text(
        "1 verdict in “Queue 1” could not be sent yet; this browser keeps trying. "
        "You can no longer judge in this queue: Not found, or it belongs to a collection"
    )


@pytest.mark.parametrize("what", ["queue", "collection"])
def test_verdicts_that_wait_while_their_queue_is_deleted_are_saved_and_the_page_says_so(
    page: Page, world: World, queue: Queue, what: str
) -> None:
    page.context.set_offline(True)
    judged = {press(page, "j"): "relevant", press(page, "f"): "not_relevant"}
    delete(queue if what == "queue" else world.collection)
    page.context.set_offline(False)
    told = page.get_by_text("This queue is deleted; your verdicts are still saved.", exact=True)
    expect(told).to_be_visible()
    assert stored(queue) == judged
    page.reload()
    expect(page.locator("[data-part=empty]")).to_contain_text("This queue is deleted")


def test_a_verdict_that_is_refused_on_another_page_is_said_there(page: Page, queue: Queue) -> None:
    page.context.route(JUDGMENTS, cut)
    judged = press(page, "j")
    expect(save_state(page)).to_contain_text("1 waiting")
    elsewhere = crash(page).new_page()
    Item.objects.filter(queue=queue, document__title=judged.title).delete()
    elsewhere.context.unroute(JUDGMENTS)
    elsewhere.goto("/guide/")
    refused = "The verdict “relevant” could not be saved: This pair is not in this queue."
    expect(elsewhere.locator("[data-unsent]")).to_have_text(refused)


def test_guidelines_that_changed_meanwhile_are_said_and_read_after_a_reload(
    page: Page, world: World, queue: Queue
) -> None:
    changed = page.get_by_text("The guidelines have changed. Reload this page to read them.", exact=True)
    press(page, "j")
    all_saved(page)
    expect(changed).to_be_hidden()
    change_collection(world.collection, guidelines="Relevant is what *helps at once*.")
    press(page, "f")
    expect(changed).to_be_visible()
    page.reload()
    expect(page.locator(".judging-start-guidelines")).to_contain_text("helps at once")
    expect(changed).to_be_hidden()


def test_a_queue_closed_meanwhile_takes_what_is_held_and_says_so(page: Page, queue: Queue) -> None:
    change_state(queue, Queue.State.CLOSED)
    judged = {press(page, "j"): "relevant"}
    told = page.get_by_text("This queue is closed; your verdicts are still saved.", exact=True)
    expect(told).to_be_visible()
    judged |= {press(page, "j"): "relevant" for _ in range(9)}
    expect(page.locator("[data-part=empty]")).to_contain_text("This queue is closed")
    expect(told).to_be_hidden()
    assert stored(queue) == judged


def test_an_undo_that_a_deleted_queue_refuses_leaves_the_page_as_it_was(page: Page, queue: Queue) -> None:
    judged = {press(page, "j"): "relevant" for _ in range(3)}
    all_saved(page)
    shown, last = on_screen(page), page.locator("[data-part=last]").text_content()
    delete(queue)
    for _ in range(3):
        ready(page)
        page.keyboard.press("u")
    expect(page.locator("[data-part=notice]")).to_contain_text("This queue is deleted")
    expect(page.locator("[data-part=query_area]")).to_be_visible()
    expect(page.locator("[data-count=done]")).to_have_text(re.compile("3 in total"))
    expect(page.locator("[data-part=last]")).to_have_text(last or "")
    assert on_screen(page) == shown
    assert stored(queue) == judged
    judged |= {press(page, "f"): "not_relevant" for _ in range(7)}
    expect(page.locator("[data-part=empty]")).to_contain_text("This queue is deleted")
    expect(page.locator("[data-count=left]")).to_have_count(0)
    assert stored(queue) == judged
    page.get_by_role("link", name="Start page").last.click()
    expect(page).to_have_url(re.compile("/$"))


def test_undos_refused_one_by_one_leave_the_verdicts_in_their_order(page: Page, queue: Queue) -> None:
    judged = [press(page, "j") for _ in range(3)]
    all_saved(page)
    last = page.locator("[data-part=last]")
    before = last.text_content()
    delete(queue)
    calls: list[Route] = []
    page.context.route(re.compile("/undo/$"), lambda route: calls.append(route))
    for _ in range(2):
        ready(page)
        page.keyboard.press("u")
    eventually(page, lambda: len(calls) == 1)
    calls[0].continue_()
    expect(last).to_contain_text(judged[2].title)  # it stands again, while the other is still under way
    eventually(page, lambda: len(calls) == 2)
    ready(page)
    page.keyboard.press("u")
    for call in (1, 2):
        eventually(page, lambda wanted=call + 1: len(calls) >= wanted)  # type: ignore[misc]
        calls[call].continue_()
    all_saved(page)
    expect(last).to_have_text(before or "")


def test_a_full_disk_is_said_and_the_verdict_is_kept_until_there_is_room(
    page: Page, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("database or disk is full")

    with monkeypatch.context() as full:
        full.setattr("labeling.judging.api.record_judgment", fail)
        judged = press(page, "j")
        expect(save_state(page)).to_contain_text(
            "The server's disk is full. 1 verdict kept here, sent when there is room"
        )
        assert kept(page) == 1
    expect(save_state(page)).to_have_text("All saved")
    assert stored(queue) == {judged: "relevant"}


def test_two_tabs_do_not_show_what_the_other_has_judged(page: Page, queue: Queue) -> None:
    other = page.context.new_page()
    open_judging(other, queue)
    expect(other.locator("[data-part=others]")).to_contain_text("in another tab")
    expect(page.locator("[data-part=others]")).to_contain_text("in another tab")
    assert on_screen(other) == on_screen(page)
    first = press(page, "j")
    expect(other.locator("#document-title")).not_to_have_text(first.title)
    second = press(other, "f")
    assert second != first
    for tab in (page, other):
        all_saved(tab)
        expect(tab.locator("[data-count=done]")).to_have_text(re.compile("2 in total"))
    assert stored(queue) == {first: "relevant", second: "not_relevant"}
    ready(page)
    page.keyboard.press("u")
    for tab in (page, other):
        expect(tab.locator("[data-count=done]")).to_have_text(re.compile("1 in total"))


def test_two_devices_judge_the_same_item_and_the_later_verdict_stands(
    page: Page, page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    other = page_of(world.ben)
    open_judging(other, queue)
    judged = press(page, "j")
    all_saved(page)
    assert press(other, "f") == judged
    all_saved(other)
    assert stored(queue) == {judged: "not_relevant"}
    assert JudgmentEvent.objects.count() == 2
    assert not Item.objects.filter(done__gt=1).exists()


def test_a_wrong_clock_changes_neither_times_nor_leases(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ben)
    page.add_init_script("Date.now = () => 946684800000; const Real = Date; Date = class extends Real {}")
    open_judging(page, queue)
    press(page, "j")
    all_saved(page)
    event = JudgmentEvent.objects.get()
    assert 0 <= (event.active_ms or 0) < 60_000
    assert event.created_at.year > 2000
    assert Lease.objects.filter(item__queue=queue).count() == 9


def test_without_storage_the_page_says_that_it_keeps_nothing(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ben)
    page.add_init_script(
        "delete window.indexedDB; Object.defineProperty(window, 'indexedDB', {value: undefined})"
    )
    open_judging(page, queue)
    expect(page.locator("[data-part=others]")).to_contain_text("keep the page open until it says “All saved”")
    judged = press(page, "j")
    all_saved(page)
    assert stored(queue) == {judged: "relevant"}
