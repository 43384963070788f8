"""The page of a queue and its quality page in a real browser: what an admin does there, and axe-core."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from labeling.adaptive.options import AdaptiveOptions
from labeling.judging.leases import claim
from labeling.models import Prelabeler, PrelabelJob, Queue
from labeling.qrels.releases import release_qrels
from pooling.models import Job
from tests.browser.judging import follow
from tests.browser.test_accessibility import LOOKS, violations
from tests.labeling.gold.test_decisions import clicked_queue
from tests.labeling.helpers import judge, make_adaptive_queue
from tests.world import World


def test_an_admin_pauses_opens_again_and_hands_work_back(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    claim(queue, world.ben, 3)
    page = page_of(world.ada)
    page.goto(f"/queues/{queue.pk}/")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("The queue is paused")).to_be_visible()
    page.get_by_role("button", name="Open again").click()
    expect(page.get_by_text("The queue is open.")).to_be_visible()
    page.get_by_role("button", name="Hand back what ben holds").click()
    expect(page.get_by_text("3 pairs of ben returned to the queue.")).to_be_visible()
    expect(page.get_by_text("No items are held.")).to_be_visible()
    page.get_by_text("Change judgments per pair or prices").click()
    page.get_by_label("Judgments per pair").fill("2")
    page.get_by_label("Price per judgment").fill("0.1")
    page.get_by_role("button", name="Change", exact=True).click()
    expect(page.get_by_text("Changed.")).to_be_visible()
    expect(page.locator("#settings + dl")).to_contain_text("0.1 EUR")
    page.goto(f"/collections/{world.collection.slug}/activity/")
    for action in ("queue paused", "queue reopened", "work handed back", "redundancy changed"):
        expect(page.get_by_text(action).first).to_be_visible()


@pytest.mark.parametrize("look", LOOKS)
def test_both_pages_are_accessible_and_fit(
    look: str, page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    for place, item in enumerate(queue.items.order_by("pk")):
        said = "relevant" if place % 3 else "not_relevant"
        judge(queue, world.ben, item.pk, said, active_ms=3000)
    judge(queue, world.cleo, queue.items.order_by("pk")[0].pk, "cannot_judge", reason="query")
    page = page_of(world.ada, **LOOKS[look])
    for address in (f"/queues/{queue.pk}/", f"/queues/{queue.pk}/quality/"):
        page.goto(address)
        assert (address, violations(page)) == (address, [])
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), address
    for picture in page.locator("figure img").all():
        expect(picture).to_be_visible()
        expect(picture).not_to_have_js_property("naturalWidth", 0)


@pytest.mark.parametrize("look", LOOKS)
def test_a_live_order_says_how_far_it_is_and_a_query_is_finished(
    look: str, page_of: Callable[..., Page], world: World
) -> None:
    queue = make_adaptive_queue(
        world, documents=6, audit_share=0.4, adaptive=AdaptiveOptions(stop_missing=0.2)
    )
    for lease in claim(queue, world.ben, 12).leases:
        judge(queue, world.ben, lease.item_id, "relevant" if lease.pk % 2 else "not_relevant")
    page = page_of(world.ada, **LOOKS[look])
    page.goto(f"/queues/{queue.pk}/")
    page.locator("summary", has_text="Finish query").first.click()
    expect(page.get_by_text("you cannot undo this").first).to_be_visible()
    page.get_by_role("button", name="Finish for good").first.click()
    expect(page.get_by_text("1 query finished by hand.")).to_be_visible()
    expect(page.get_by_role("heading", name="Live order")).to_be_visible()
    release = release_qrels(world.collection, name="first", user=world.ada)
    new = f"/collections/{world.collection.slug}/queues/new/?pool={queue.pool_id}"
    for address in (queue.get_absolute_url(), release.get_absolute_url(), new, "/guide/adaptive/"):
        page.goto(address)
        assert (address, violations(page)) == (address, [])
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), address


def test_a_question_stays_open_while_its_page_is_brought_up_to_date(
    page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    job = Job.objects.create(collection=world.collection, kind="run", state=Job.State.RUNNING)
    model = Prelabeler.objects.create(collection=world.collection, model="small", options_hash="o")
    begun = PrelabelJob.objects.create(queue=queue, prelabeler=model, state="running", pair_count=5)
    PrelabelJob.objects.filter(pk=begun.pk).update(seen_at=timezone.now() + timedelta(minutes=5))
    page = page_of(world.ada)
    for address, answer in (
        (f"/jobs/{job.pk}/", "Cancel this job"),
        (f"/queues/{queue.pk}/prelabels/", "Cancel this pass"),
    ):
        page.goto(address)
        page.locator("summary", has_text="Cancel").click()
        page.get_by_role("button", name=answer).focus()
        with page.expect_response("**" + address):
            pass
        with page.expect_response("**" + address):
            pass
        expect(page.get_by_role("button", name=answer)).to_be_focused()
        assert violations(page) == []
        page.get_by_role("button", name=answer).click()
        expect(page.get_by_text("ancelling").first).to_be_visible()
        expect(page.get_by_role("button", name=answer)).to_be_hidden()


@pytest.mark.parametrize("look", LOOKS)
def test_implausible_work_is_decided_on_the_quality_page(
    look: str, page_of: Callable[..., Page], world: World
) -> None:
    queue = clicked_queue(world)
    page = page_of(world.ada, **LOOKS[look])
    page.goto(queue.get_absolute_url())
    follow(page.get_by_role("link", name="Decide", exact=True))
    assert violations(page) == []
    page.get_by_text("Ask ben", exact=True).click()
    page.get_by_label("Question to ben").fill("Is the text shown at all?")
    page.get_by_role("button", name="Send question to ben").click()
    expect(page.get_by_text("ben will see your question")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("undone by ada")).to_be_visible()
