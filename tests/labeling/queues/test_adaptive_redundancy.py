"""Two opinions, and a third where they differ: what a queue asks for, and what it expects to."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from labeling.gold.quarantine import impose, lift
from labeling.items.slots import need
from labeling.judging.leases import claim
from labeling.judging.verdicts import undo
from labeling.models import Item, Queue
from labeling.progress.counts import queue_progress
from labeling.qrels.labels import current_labels
from labeling.queues.opening import open_or_start
from labeling.queues.options import QueueOptions
from labeling.queues.redundancy import change_redundancy, has_unfinished_change
from pooling.interface.problems import InputError
from pooling.models import AdminAction
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import World


@pytest.fixture
def queue(world: World) -> Queue:
    return make_queue(world, needed=2, most_judgments_per_item=3, pairs=2)


@pytest.fixture
def tied(world: World, queue: Queue) -> Item:
    """An item that Ben and Cleo see differently."""
    item = queue.items.order_by("pk")[0]
    judge(queue, world.ben, item.pk, "relevant", key="ben")
    judge(queue, world.cleo, item.pk, "not_relevant", key="cleo")
    return item


def slots(item: Item) -> tuple[int, int, int, str]:
    item.refresh_from_db()
    return item.needed, item.done, item.leased, item.state


@pytest.mark.parametrize(
    ("bounds", "votes", "needed"),
    [
        ((2, 2), (1, 1), 2),  # a fixed number asks for no more
        ((2, 3), (0, 0), 2),
        ((2, 3), (2, 0), 2),
        ((2, 3), (1, 1), 3),
        ((2, 3), (1, 2), 3),  # the third was needed, whichever it was
        ((2, 3), (2, 2), 3),  # one too late: no more than three are asked for
        ((2, 5), (2, 2), 5),
        ((4, 5), (2, 1), 4),
        ((4, 5), (2, 2), 5),
        ((4, 5), (3, 1), 4),
    ],
)
def test_an_item_needs_one_more_than_a_tie(
    bounds: tuple[int, int], votes: tuple[int, int], needed: int
) -> None:
    assert need(bounds, *votes) == need(bounds, *reversed(votes)) == needed


def test_a_tie_goes_to_a_third_person_and_two_to_one_decides(world: World, queue: Queue, tied: Item) -> None:
    assert slots(tied) == (3, 2, 0, "open")
    assert tied.pk not in {lease.item_id for lease in claim(queue, world.ben, 10).leases}
    assert tied.pk in {lease.item_id for lease in claim(queue, world.ada, 10).leases}
    assert slots(tied) == (3, 2, 1, "open")
    assert judge(queue, world.ada, tied.pk, "relevant").status == "stored"
    assert slots(tied) == (3, 3, 0, "done")
    labels = current_labels(world.collection)
    assert labels.frame["relevance"].to_list() == [1]


def test_where_two_agree_nobody_else_is_asked(world: World, queue: Queue) -> None:
    for person in (world.ben, world.cleo):
        for lease in claim(queue, person, 10).leases:
            judge(queue, person, lease.item_id)
    assert not claim(queue, world.ada, 10).leases
    assert set(queue.items.values_list("needed", "state")) == {(2, "done")}


def test_the_need_ends_with_the_tie(world: World, queue: Queue, tied: Item) -> None:
    judge(queue, world.cleo, tied.pk, "relevant", key="cleo again")
    assert slots(tied) == (2, 2, 0, "done")
    undo(queue, world.cleo, "cleo again")
    assert slots(tied) == (3, 2, 0, "open")
    undo(queue, world.cleo, "cleo")
    assert slots(tied)[:2] == (2, 1)


def test_a_third_judgment_stays_and_counts_when_the_tie_ends(world: World, queue: Queue, tied: Item) -> None:
    judge(queue, world.ada, tied.pk, "relevant")
    impose(queue, world.ben, by=world.ada)
    assert slots(tied) == (3, 2, 0, "open")  # Cleo against Ada: a tie again
    judge(queue, world.cleo, tied.pk, "relevant")
    assert slots(tied) == (2, 2, 0, "done")
    lift(queue, world.ben, by=world.ada)
    assert slots(tied) == (2, 2, 0, "done")
    assert current_labels(world.collection).frame["relevance"].to_list() == [1]


def test_who_holds_the_third_opinion_is_let_finish_when_the_tie_ends(
    world: World, queue: Queue, tied: Item
) -> None:
    held = {lease.item_id for lease in claim(queue, world.ada, 10).leases}
    judge(queue, world.cleo, tied.pk, "relevant")
    assert tied.pk in held
    assert slots(tied) == (2, 1, 1, "open")
    judge(queue, world.ada, tied.pk, "not_relevant")
    assert slots(tied) == (3, 3, 0, "done")


def test_a_running_queue_may_begin_to_ask_for_a_third_opinion_and_stop(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    item = queue.items.order_by("pk")[0]
    judge(queue, world.ben, item.pk, "relevant")
    judge(queue, world.cleo, item.pk, "not_relevant")
    assert slots(item) == (2, 2, 0, "adjudication")
    assert change_redundancy(queue, 2, 3, by=world.ada) == 2
    assert slots(item) == (3, 2, 0, "open")
    assert not has_unfinished_change(queue)
    assert AdminAction.objects.latest("pk").detail == {
        "before": 2,
        "judgments_per_item": 2,
        "most_judgments_per_item": 3,
    }
    change_redundancy(queue, 2)
    assert slots(item) == (2, 2, 0, "adjudication")


def test_what_ties_will_ask_for_is_expected(world: World) -> None:
    queue = make_queue(world, needed=2, most_judgments_per_item=3, pairs=6)
    told = queue_progress(queue)
    assert told["judgments"] == {"needed": 12, "done": 0, "left": 12, "expected_for_ties": 0.6}
    first, second, third, *_ = queue.items.order_by("pk")
    for item, verdict in ((first, "relevant"), (second, "not_relevant"), (third, "not_relevant")):
        judge(queue, world.ben, item.pk, "relevant")
        judge(queue, world.cleo, item.pk, verdict)
    told = queue_progress(queue)
    # Two of three tied; three are open and have not: (2 + 1) of (3 + 10), three times.
    assert told["judgments"]["expected_for_ties"] == pytest.approx(3 * 3 / 13)
    assert (told["judgments"]["needed"], told["judgments"]["left"]) == (14, 8)
    assert told["cost"]["judgments_to_pay"] == round(8 + 9 / 13)
    assert told["judged"] == pytest.approx(6 / (14 + 9 / 13))


@pytest.mark.parametrize(
    ("needed", "most", "problem"),
    [(2, 2, "more than the 2"), (2, 21, "at most 20"), (1, 3, "never tie"), (3, 5, "never tie")],
)
def test_bounds_between_which_no_tie_can_be_ended_are_refused(
    world: World, needed: int, most: int, problem: str
) -> None:
    pool = make_pool(world)
    with pytest.raises(InputError, match=problem) as refused:
        open_or_start(pool, QueueOptions(needed, most))
    assert "most_judgments_per_item" in refused.value.fields
    assert not Queue.objects.exists()


def test_page_call_and_command_open_and_change_such_a_queue(world: World, client: Client) -> None:
    pool = make_pool(world)
    client.force_login(world.ada)
    body = {"name": "called", "judgments_per_item": 2, "most_judgments_per_item": 3}
    made = client.post(f"/api/pools/{pool.pk}/queue/", body, "application/json").json()
    assert made["most_judgments_per_item"] == 3
    client.post("/collections/harbour/queues/new/", {**body, "pool": pool.pk, "name": "page"})
    out = StringIO()
    options = {"name": "command", "judgments_per_item": 2, "most_judgments_per_item": 3}
    call_command("open_queue", "harbour", "pool", stdout=out, **options)
    assert "2 judgments each and up to 3 on a tie" in out.getvalue()
    assert set(Queue.objects.values_list("most_judgments_per_item", flat=True)) == {3}
    assert Queue.objects.count() == 3
    address = f"/api/queues/{made['id']}/"
    refused = client.patch(address, {"judgments_per_item": 3}, "application/json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["most_judgments_per_item"])
    body = {"judgments_per_item": 3, "most_judgments_per_item": None}
    changed = client.patch(address, body, "application/json").json()
    assert (changed["judgments_per_item"], changed["most_judgments_per_item"]) == (3, None)
    out = StringIO()
    call_command("queue_status", "harbour", "page", stdout=out)
    assert "0.6 more" in out.getvalue()
    out = StringIO()
    call_command("queue_status", "harbour", "page", format="json", stdout=out)
    assert json.loads(out.getvalue())["judgments"]["expected_for_ties"] == 0.6
    page = client.get(f"/queues/{Queue.objects.get(name='page').pk}/").content.decode()
    assert "plus one more while they tie, up to 3" in page
