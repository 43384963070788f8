"""Judging by keyboard, mouse and thumb in a real browser, with a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import OperationalError
from playwright.sync_api import BrowserContext, Page, Route, expect

from labeling.judging.leases import claim
from labeling.models import JudgmentEvent, Queue
from tests.browser.conftest import sign_in
from tests.browser.judging import (
    JUDGMENTS,
    VERDICT_KEYS,
    all_saved,
    begin,
    eventually,
    exported,
    leased,
    on_screen,
    open_judging,
    press,
    ready,
    save_state,
    stored,
    tap_verdict,
)
from tests.labeling.helpers import judge
from tests.world import World


@pytest.mark.way
def test_ten_pairs_by_keyboard_and_one_undone(
    context: Callable[..., BrowserContext], world: World, queue: Queue
) -> None:
    page = context().new_page()
    sign_in(page, "ben")
    open_judging(page, queue)
    judged = {press(page, key): VERDICT_KEYS[key] for key in "jfjjfjffjf"}

    ready(page)
    undone = list(judged)[-1]
    page.keyboard.press("u")
    expect(page.locator("#document-title")).to_have_text(undone.title)
    all_saved(page)

    del judged[undone]
    assert len(judged) == 9
    assert exported(world) == judged
    assert on_screen(page) == undone


def test_every_key_has_its_verdict(page: Page, queue: Queue) -> None:
    keys = {"ArrowRight": "relevant", "1": "relevant", "ArrowLeft": "not_relevant", "0": "not_relevant"}
    judged = {press(page, key): verdict for key, verdict in keys.items()}
    all_saved(page)
    assert stored(queue) == judged


def test_a_held_key_judges_once(page: Page, queue: Queue) -> None:
    first = on_screen(page)
    page.keyboard.down("j")
    for _ in range(5):
        ready(page)
        page.keyboard.down("j")  # pressed without a release: the browser marks it as a repeat
    page.keyboard.up("j")
    all_saved(page)
    assert stored(queue) == {first: "relevant"}


def test_a_second_key_before_the_next_document_is_seen_does_not_count(page: Page, queue: Queue) -> None:
    first = on_screen(page)
    page.evaluate(
        "for (const key of 'jj') document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    )
    ready(page)
    all_saved(page)
    assert stored(queue) == {first: "relevant"}


def test_keys_with_a_modifier_and_keys_in_the_note_do_not_judge(page: Page, queue: Queue) -> None:
    shown = on_screen(page)
    page.keyboard.press("Alt+j")
    page.keyboard.press("n")
    page.keyboard.type("just a fjord")
    assert on_screen(page) == shown
    page.keyboard.press("Enter")
    press(page, "j")
    all_saved(page)
    assert JudgmentEvent.objects.get().note == "just a fjord"


def test_cannot_judge_takes_a_reason(page: Page, queue: Queue) -> None:
    page.keyboard.press("x")
    expect(page.get_by_text("Why can't you judge it?")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Why can't you judge it?")).to_be_hidden()
    page.keyboard.press("x")
    page.keyboard.press("3")
    expect(page.locator("[data-part=last]")).to_contain_text("can't judge")
    all_saved(page)
    event = JudgmentEvent.objects.get()
    assert (event.verdict, event.reason) == ("cannot_judge", "expert")


def test_a_verdict_names_what_was_on_screen(page: Page, queue: Queue) -> None:
    press(page, "j")
    all_saved(page)
    event = JudgmentEvent.objects.get()
    assert (event.shown, event.document_version) == ("document", 1)
    assert event.active_ms is not None
    assert event.lease is not None


def test_a_skipped_item_is_free_again_and_the_next_is_shown(page: Page, queue: Queue) -> None:
    skipped = press(page, "s")
    assert on_screen(page) != skipped
    all_saved(page)
    assert stored(queue) == {}
    assert leased(queue) == 9


def test_a_failed_save_is_tried_again_and_said(page: Page, queue: Queue) -> None:
    def fail(route: Route) -> None:
        route.abort("internetdisconnected")

    page.route(JUDGMENTS, fail)
    judged = {press(page, "j"): "relevant", press(page, "f"): "not_relevant"}
    expect(save_state(page)).to_contain_text("2 waiting, trying again")
    assert stored(queue) == {}
    page.unroute(JUDGMENTS, fail)
    expect(save_state(page)).to_have_text("All saved")
    assert stored(queue) == judged


def test_an_answer_that_is_lost_does_not_store_a_verdict_twice(page: Page, queue: Queue) -> None:
    tries: list[Route] = []

    def lose_the_first(route: Route) -> None:
        tries.append(route)
        if len(tries) == 1:
            route.fetch()
            route.abort("connectionreset")

    page.route(JUDGMENTS, lose_the_first)
    judged = press(page, "j")
    eventually(page, lambda: len(tries) == 2)
    expect(save_state(page)).to_contain_text("1 waiting, trying again")
    tries[1].continue_()
    all_saved(page)
    assert stored(queue) == {judged: "relevant"}
    assert JudgmentEvent.objects.count() == 1


def test_leaving_with_unsent_verdicts_asks_first(page: Page, queue: Queue) -> None:
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.route(JUDGMENTS, lambda route: route.abort())
    press(page, "j")
    page.goto("/")
    assert asked == ["beforeunload"]


def test_leaving_returns_what_was_not_judged(page: Page, queue: Queue) -> None:
    assert leased(queue) == 10
    page.goto("/health/")
    eventually(page, lambda: leased(queue) == 0)


def test_leaving_sends_a_verdict_that_just_fell(page: Page, queue: Queue) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    judged = on_screen(page)
    page.keyboard.press("j")
    page.goto("/health/")
    eventually(page, lambda: stored(queue) == {judged: "relevant"})


def test_a_reload_goes_on_with_the_same_item(page: Page, queue: Queue) -> None:
    press(page, "j")
    all_saved(page)
    shown = on_screen(page)
    open_judging(page, queue)
    assert on_screen(page) == shown
    press(page, "f")
    all_saved(page)
    assert stored(queue)[shown] == "not_relevant"


def test_undo_after_a_reload_reaches_what_was_judged_before(page: Page, queue: Queue) -> None:
    judged = [press(page, "j"), press(page, "f")]
    all_saved(page)
    open_judging(page, queue)
    page.keyboard.press("u")
    expect(page.locator("#document-title")).to_have_text(judged[1].title)
    all_saved(page)
    assert stored(queue) == {judged[0]: "relevant"}


def test_an_undo_before_the_verdict_was_sent_leaves_no_trace(page: Page, queue: Queue) -> None:
    under_way: list[Route] = []
    page.route(JUDGMENTS, lambda route: under_way.append(route))
    first = press(page, "j")
    eventually(page, lambda: len(under_way) == 1)
    second = press(page, "j")  # waits behind the first
    ready(page)
    page.keyboard.press("u")
    expect(page.locator("#document-title")).to_have_text(second.title)
    under_way.pop().continue_()
    page.unroute(JUDGMENTS)
    all_saved(page)
    assert stored(queue) == {first: "relevant"}
    assert JudgmentEvent.objects.count() == 1


def test_time_without_input_is_not_counted_and_leases_are_renewed_on_return(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ben)
    page.clock.install()
    open_judging(page, queue)
    page.clock.fast_forward("08:00")
    with page.expect_response("**/renew/"):
        press(page, "j")
    all_saved(page)
    assert 60_000 <= (JudgmentEvent.objects.get().active_ms or 0) < 75_000


def test_pause_returns_leases_and_resume_takes_new_ones(page: Page, queue: Queue) -> None:
    page.keyboard.press("p")
    eventually(page, lambda: leased(queue) == 0)
    page.keyboard.press("j")
    with page.expect_response("**/claim/"):
        page.get_by_role("button", name="Resume").click()
    ready(page)
    press(page, "j")
    all_saved(page)
    assert len(stored(queue)) == 1


def test_a_batch_that_comes_after_the_pause_goes_back_at_once(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    page = page_of(world.ben)
    claims: list[Route] = []
    page.route("**/claim/", lambda route: claims.append(route))
    page.goto(f"/queues/{queue.pk}/judge/")
    begin(page)
    ready(page)
    eventually(page, lambda: len(claims) == 1)
    page.keyboard.press("p")
    expect(page.locator("[data-part=paused]")).to_be_visible()
    with page.expect_request("**/release/"):
        claims[0].continue_()
    eventually(page, lambda: leased(queue) == 0)


def test_the_call_that_sends_a_verdict_brings_the_next_batch(page: Page, queue: Queue) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path.split("/")[-2]))
    judged = {press(page, "j"): "relevant" for _ in range(17)}
    all_saved(page)
    assert stored(queue) == judged
    # Once for each query, its list of one's own verdicts.
    assert asked.count("own-verdicts") <= len({pair.query for pair in judged}) + 1
    sent = [call for call in asked if call != "own-verdicts"]
    assert set(sent) == {"judgments"}
    assert len(sent) <= len(judged)


def test_a_batch_that_a_verdict_brings_after_the_pause_goes_back_at_once(page: Page, queue: Queue) -> None:
    under_way: list[Route] = []

    def hold(route: Route) -> None:
        under_way.append(route) if "claim=" in route.request.url else route.continue_()

    page.route(JUDGMENTS, hold)
    judged = {press(page, "j"): "relevant" for _ in range(5)}
    eventually(page, lambda: len(under_way) == 1)
    page.keyboard.press("p")
    expect(page.locator("[data-part=paused]")).to_be_visible()
    under_way.pop().continue_()
    page.unroute(JUDGMENTS)
    all_saved(page)
    eventually(page, lambda: leased(queue) == 0)
    assert stored(queue) == judged
    page.keyboard.press("p")
    judged[press(page, "f")] = "not_relevant"
    all_saved(page)
    assert stored(queue) == judged


def test_a_resume_while_the_old_batch_is_under_way_takes_a_new_one(page: Page, queue: Queue) -> None:
    under_way: list[Route] = []

    def hold(route: Route) -> None:
        under_way.append(route) if "claim=" in route.request.url else route.continue_()

    page.route(JUDGMENTS, hold)
    for _ in range(5):
        press(page, "j")
    eventually(page, lambda: len(under_way) == 1)
    page.keyboard.press("p")
    page.keyboard.press("p")
    under_way.pop().continue_()
    page.unroute(JUDGMENTS)
    all_saved(page)
    for _ in range(4):
        press(page, "f")
    all_saved(page)
    assert len(stored(queue)) == 9
    page.keyboard.press("p")
    eventually(page, lambda: leased(queue) == 0)


def test_a_claim_that_fails_beside_a_verdict_is_tried_again_by_itself(
    page: Page, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims: list[int] = []

    def fail_once(*arguments: Any) -> Any:
        claims.append(1)
        if len(claims) == 1:
            raise OperationalError("gone for a moment")
        return claim(*arguments)

    monkeypatch.setattr("labeling.judging.api.claim", fail_once)
    judged = {press(page, "j"): "relevant" for _ in range(12)}
    all_saved(page)
    assert stored(queue) == judged
    assert len(claims) >= 2


def test_an_empty_queue_explains_itself(page_of: Callable[..., Page], world: World, queue: Queue) -> None:
    for lease in claim(queue, world.cleo, 16).leases[4:]:
        judge(queue, world.cleo, lease.item_id)
    page = page_of(world.ben)
    open_judging(page, queue)
    press(page, "j")
    ready(page)
    page.keyboard.press("f")
    expect(page.locator("[data-part=empty]")).to_contain_text(
        "Nothing for you right now: 4 are held by others; the next becomes free at"
    )
    expect(page.get_by_role("link", name="Look again")).to_be_focused()
    assert len(stored(queue)) == 14


def test_the_last_verdict_of_a_queue_leads_away_from_it(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    for lease in claim(queue, world.cleo, 17).leases:
        judge(queue, world.cleo, lease.item_id)
    page = page_of(world.ben)
    open_judging(page, queue)
    page.keyboard.press("j")
    back = page.get_by_role("link", name="Back to the queue")
    expect(back).to_be_focused()
    expect(back).to_have_class("button primary")
    expect(page.get_by_role("link", name="Look again")).to_have_class("button")


def test_the_next_title_is_announced_and_focused(page: Page, queue: Queue) -> None:
    press(page, "j")
    title = on_screen(page).title
    expect(page.locator("[data-part=live]")).to_have_text(f"Saved: relevant. Next: {title}.")
    expect(page.locator("#document-title")).to_be_focused()


def test_a_text_of_markup_stays_text(page_of: Callable[..., Page], world: World, queue: Queue) -> None:
    world.collection.documents.update(text="<img src=x onerror=alert(1)> a bus 🚌 bus", title="<b>bus</b>")
    world.collection.queries.update(text="<i>bus</i>")
    page = page_of(world.ben)
    open_judging(page, queue)
    for _ in range(2):
        expect(page.locator("[data-part=text]")).to_have_text("<img src=x onerror=alert(1)> a bus 🚌 bus")
        assert page.locator("[data-part=text] mark").all_inner_texts() == ["bus", "bus"]
        expect(page.locator("[data-part=query]")).to_have_text("<i>bus</i>")
        press(page, "j")  # the first item is the server's, the second the script's


def test_help_names_the_keys(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Not relevant")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.way
def test_a_thumb_can_judge_on_a_phone(page_of: Callable[..., Page], world: World, queue: Queue) -> None:
    world.collection.guidelines = "One long sentence after another. " * 100
    world.collection.save()
    page = page_of(world.ben, viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    open_judging(page, queue)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    boxes = {}
    for name in ("Not relevant", "Relevant", "Skip", "Undo"):
        boxes[name] = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert boxes[name] is not None
        assert boxes[name]["height"] >= 48
        assert boxes[name]["y"] + boxes[name]["height"] <= 780
    judged = on_screen(page)
    tap_verdict(page, "Relevant")
    expect(page.locator("[data-part=last]")).to_contain_text(judged.title)
    assert page.get_by_role("button", name="Relevant", exact=True).bounding_box() == boxes["Relevant"]
    all_saved(page)
    assert stored(queue) == {judged: "relevant"}
    page.get_by_role("button", name="Pause").tap()
    expect(page.get_by_role("button", name="Resume")).to_be_in_viewport(ratio=1)
