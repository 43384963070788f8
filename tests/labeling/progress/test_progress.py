"""How far a queue is said to be."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from labeling.adaptive.options import AdaptiveOptions
from labeling.judging.blind_counts import own_figures
from labeling.judging.leases import claim
from labeling.judging.sentences import progress_parts
from labeling.judging.verdicts import skip, undo
from labeling.models import Queue
from labeling.progress.counts import queue_progress
from tests.labeling.helpers import judge, make_adaptive_queue, make_queue
from tests.world import World

NOW = timezone.now()


def test_a_new_queue_has_everything_before_it(world: World) -> None:
    progress = queue_progress(make_queue(world, needed=2, pairs=6))
    assert progress["items"] == {"total": 6, "open": 6, "done": 0, "adjudication": 0}
    assert progress["judgments"] == {"needed": 12, "done": 0, "left": 12, "expected_for_ties": 0.0}
    assert progress["judged"] == 0
    assert progress["end_date"] is None
    assert progress["annotators"] == []


def test_the_first_hour_is_no_pace_of_a_day(world: World) -> None:
    queue = make_queue(world, pairs=6)
    for lease in claim(queue, world.ben, 2).leases:
        judge(queue, world.ben, lease.item_id, now=NOW - timedelta(minutes=10))
    progress = queue_progress(queue, now=NOW)
    assert progress["pace"]["per_annotator"] == 2.0
    assert progress["end_date"] == (NOW + timedelta(days=2)).date().isoformat()


def test_pace_cost_and_end_date_come_from_what_was_done(world: World) -> None:
    queue = make_queue(world, pairs=6)
    two_days_ago = NOW - timedelta(days=2)
    for lease in claim(queue, world.ben, 2).leases:
        judge(queue, world.ben, lease.item_id, active_ms=10_000, now=two_days_ago)
    extra = claim(queue, world.ben, 1).leases[0]
    judge(queue, world.ben, extra.item_id, key="k", active_ms=10_000, now=two_days_ago)
    undo(queue, world.ben, "k", now=two_days_ago)
    progress = queue_progress(queue, now=NOW)
    assert progress["judgments"] == {"needed": 6, "done": 2, "left": 4, "expected_for_ties": 0.0}
    assert progress["pace"]["per_day"] == 1.0  # two verdicts in two days
    times = {"active_seconds": 20.0, "seconds_per_judgment": 10.0, "seconds_left": 40.0}
    assert times.items() <= progress["cost"].items()
    assert progress["end_date"] == (NOW + timedelta(days=4)).date().isoformat()
    queue.state = Queue.State.CLOSED
    assert queue_progress(queue, now=NOW)["end_date"] is None


def test_adjudication_asks_for_no_more_judgments(world: World) -> None:
    queue = make_queue(world, pairs=2)
    (lease, _) = claim(queue, world.ben, 2).leases
    for person in (world.ben, world.cleo):
        judge(queue, person, lease.item_id, "cannot_judge", reason="other")
    progress = queue_progress(queue)
    assert progress["items"] == {"total": 2, "open": 1, "done": 0, "adjudication": 1}
    assert progress["judgments"]["needed"] == 1


def test_what_was_undone_or_revised_counts_once_or_not(world: World) -> None:
    queue = make_queue(world, pairs=6)
    first, second, third, *_ = claim(queue, world.ben, 6).leases
    judge(queue, world.ben, first.item_id, "relevant")
    judge(queue, world.ben, first.item_id, "not_relevant")
    judge(queue, world.ben, second.item_id, key="k")
    undo(queue, world.ben, "k")
    skip(queue, world.ben, third.item_id, lease=third.token)
    (row,) = queue_progress(queue)["annotators"]
    counts = ("judged", "relevant", "not_relevant", "cannot_judge", "skipped")
    assert [row[name] for name in counts] == [1, 0, 1, 0, 1]


def test_an_annotator_s_numbers_are_their_own(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=6)
    leases = claim(queue, world.ben, 6).leases
    for lease in leases[:2]:
        judge(queue, world.ben, lease.item_id)
        judge(queue, world.cleo, lease.item_id)
    judge(queue, world.cleo, leases[2].item_id)
    ben, cleo = (own_figures(queue, person) for person in (world.ben, world.cleo))
    names = ("done", "done_today", "left", "left_in_query")
    # Two pairs are settled; of the four open ones Cleo judged one, and Ben holds them all.
    assert [ben[name] for name in names] == [2, 2, 4, 2]
    assert [cleo[name] for name in names] == [3, 3, 3, None]


def left(queue: Queue, user: User, now: datetime = NOW) -> int:
    return own_figures(queue, user, now=now)["left"]


def test_what_is_left_in_an_adaptive_queue_ends_with_its_budget(world: World, client: Client) -> None:
    queue = make_adaptive_queue(world, adaptive=AdaptiveOptions(budget=4))
    assert queue.items.count() == 9
    assert left(queue, world.ben) == 4
    while leases := claim(queue, world.ben, 4).leases:
        for lease in leases:
            judge(queue, world.ben, lease.item_id)
    assert left(queue, world.ben) == 0
    client.force_login(world.ben)
    page = client.get(f"/queues/{queue.pk}/judge/").content.decode()
    assert "Every document of this queue is judged" in page
    assert "0 left for you" in page
    client.force_login(world.ada)
    page = client.get(queue.get_absolute_url()).content.decode()
    assert "h of work" not in page, "it ends on no day, for nothing is left"
    assert re.search(r"<dt>Done by</dt><dd>–\s*</dd>", page)


def test_what_is_left_is_grouped_by_thousands_as_on_other_pages() -> None:
    assert progress_parts({"left": 1232}) == [("left", "1,232 left for you")]


def test_what_is_left_is_not_counted_anew_before_twenty_verdicts(world: World) -> None:
    queue = make_queue(world, pairs=6)
    assert left(queue, world.ben) == 6
    judge(queue, world.cleo, queue.items.all()[0].pk)
    judge(queue, world.ben, queue.items.all()[1].pk)
    # Cleo's verdict does not show yet, nor after an hour: ben might learn of his own one.
    assert [left(queue, world.ben, NOW + timedelta(hours=age)) for age in (0, 2)] == [5, 5]
    assert left(queue, world.ben, NOW + timedelta(days=2)) == 4


def test_ones_own_figures_are_of_the_queue_alone(world: World, client: Client) -> None:
    first, second = make_queue(world, pairs=6), make_queue(world, pairs=6, needed=2)
    for item in first.items.all():
        judge(first, world.ben, item.pk)
    assert [own_figures(queue, world.ben)["done"] for queue in (first, second)] == [6, 0]
    client.force_login(world.ben)
    pages = [client.get(page).content.decode() for page in ("/collections/harbour/", "/")]
    assert "you judged 6" in pages[0]
    assert "you judged 0" in pages[0]
    assert "6 judged by you" in pages[1]


@pytest.mark.parametrize("page", ["/collections/harbour/", "/collections/harbour/queues/", "/queues/{}/"])
def test_judge_is_the_first_button_only_where_something_is_left_for_the_annotator(
    world: World, client: Client, page: str
) -> None:
    queue = make_queue(world, pairs=6, needed=2)
    for item in queue.items.all():
        judge(queue, world.ben, item.pk)
    first = re.compile(r'class="button primary" href="/queues/\d+/judge/"')
    for user, shown in ((world.ben, False), (world.cleo, True)):
        client.force_login(user)
        text = client.get(page.format(queue.pk)).content.decode()
        assert f'href="/queues/{queue.pk}/judge/"' in text
        assert bool(first.search(text)) == shown


def test_an_annotator_s_list_of_queues_tells_nothing_but_their_own_work(world: World, client: Client) -> None:
    queue = make_queue(world, pairs=6)
    judge(queue, world.cleo, queue.items.all()[0].pk)
    for user, shown in ((world.ben, False), (world.vera, True)):
        client.force_login(user)
        assert ("1 of 6 pairs judged" in client.get("/collections/harbour/queues/").content.decode()) == shown
