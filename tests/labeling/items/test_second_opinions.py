"""A verdict against a sure pre-label asks for one more judgment; the pre-label itself never votes."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest
from rest_framework.test import APIClient

from labeling.exposure.use import PrelabelUse, change_use
from labeling.gold.quarantine import impose, lift
from labeling.judging.blind_counts import own_figures, own_queues
from labeling.judging.leases import claim
from labeling.judging.verdicts import undo
from labeling.models import Item, Prelabel, Prelabeler, PrelabelJob, Queue
from labeling.prelabels.options import prelabeler_for
from labeling.prelabels.passes import PassOptions, pause_abandoned_passes, run_here
from labeling.progress.counts import queue_progress
from labeling.qrels.labels import current_labels
from soundings.pages.overview import listed_collections
from tests.labeling.helpers import judge, make_prelabels, make_queue
from tests.labeling.model_server import ModelServer
from tests.world import World

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def prelabeler(world: World) -> Prelabeler:
    return make_prelabels(world, score=0.9)


def slots(item: Item) -> tuple[int, int, str]:
    item.refresh_from_db()
    return item.needed, item.done, item.state


def ask(queue: Queue, prelabeler: Prelabeler, sure: float | None = 0.9) -> int:
    return change_use(queue, PrelabelUse(prelabeler=prelabeler, second_opinion_from=sure))


def test_a_contradiction_needs_another_judgment_and_its_end_needs_none(
    world: World, prelabeler: Prelabeler
) -> None:
    queue = make_queue(world, pairs=2)
    first, second = queue.items.order_by("pk")
    ask(queue, prelabeler)
    judge(queue, world.ben, first.pk, "relevant")
    assert slots(first) == (1, 1, "done")
    judge(queue, world.ben, second.pk, "not_relevant", key="against")
    assert slots(second) == (2, 1, "open")
    assert [lease.item_id for lease in claim(queue, world.cleo, 9).leases] == [second.pk]
    undo(queue, world.ben, "against")
    assert slots(second) == (1, 0, "open")
    judge(queue, world.ben, second.pk, "not_relevant")
    judge(queue, world.cleo, second.pk, "not_relevant")
    assert slots(second) == (2, 2, "done")
    frame = current_labels(world.collection).frame
    assert sorted(frame["relevance"].to_list()) == [
        0,
        1,
    ]  # two people's word, and the model's is not among it


def told(queue: Queue, user: User) -> dict[str, Any]:
    """What an annotator can see of a queue's state."""
    api = APIClient()
    api.force_authenticate(user)
    progress = api.get(f"/api/queues/{queue.pk}/progress/").json()
    cost, left = progress["cost"], progress["own"]["left"]
    (card,), (listed,) = own_queues(queue.collection, user), listed_collections(user)
    return {
        **{name: progress[name] for name in ("items", "open_items", "judgments", "judged", "end_date")},
        "left": (left, own_figures(queue, user)["left"], cost["seconds_left"]),
        "answered": (card.own, listed.done),
        "empty": claim(queue, user, 9).empty,
    }


@pytest.mark.parametrize("needed", [1, 2])
def test_nobody_can_read_from_any_count_whether_a_model_doubts_their_verdict(
    world: World, prelabeler: Prelabeler, needed: int
) -> None:
    queue = make_queue(world, pairs=2, needed=needed)
    doubted, other = queue.items.order_by("pk")
    ask(queue, prelabeler)
    judge(queue, world.ben, other.pk, "relevant")
    judge(queue, world.ben, doubted.pk, "relevant", key="as the model")
    agreed = told(queue, world.ben)
    undo(queue, world.ben, "as the model")
    judge(queue, world.ben, doubted.pk, "not_relevant")
    assert slots(doubted) == (needed + 1, 1, "open")
    assert told(queue, world.ben) == agreed
    # An admin sees what is; somebody else is handed the pair, and then learns no more than ben.
    assert queue_progress(queue)["judgments"]["needed"] == 2 * needed + 1
    assert doubted.pk in [lease.item_id for lease in claim(queue, world.cleo, 9).leases]


@pytest.mark.parametrize(
    ("score", "said", "verdict", "needed"),
    [
        (0.9, "relevant", "not_relevant", 2),
        (0.89, "relevant", "not_relevant", 1),
        (0.1, "not_relevant", "relevant", 2),
        (0.11, "not_relevant", "relevant", 1),
        (None, "relevant", "not_relevant", 1),
        (0.9, "relevant", "cannot_judge", 1),
    ],
)
def test_only_a_sure_pre_label_counts(
    score: float | None, said: str, verdict: str, needed: int, world: World
) -> None:
    queue = make_queue(world)
    ask(queue, make_prelabels(world, verdict=said, score=score))
    item = queue.items.all()[0]
    judge(queue, world.ben, item.pk, verdict, reason="expert" if verdict == "cannot_judge" else "")
    assert slots(item)[0] == needed


def test_turning_it_on_opens_what_was_judged_and_turning_it_off_settles_it(
    world: World, prelabeler: Prelabeler
) -> None:
    queue = make_queue(world)
    against, agreeing = queue.items.order_by("pk")[:2]
    judge(queue, world.ben, against.pk, "not_relevant")
    judge(queue, world.ben, agreeing.pk, "relevant")
    assert ask(queue, prelabeler) == 2
    assert (slots(against), slots(agreeing)) == ((2, 1, "open"), (1, 1, "done"))
    assert ask(queue, prelabeler) == 0
    assert ask(queue, prelabeler, None) == 2
    assert slots(against) == (1, 1, "done")


def test_what_is_set_aside_contradicts_nothing(world: World, prelabeler: Prelabeler) -> None:
    queue = make_queue(world)
    ask(queue, prelabeler)
    item = queue.items.all()[0]
    judge(queue, world.ben, item.pk, "not_relevant")
    impose(queue, world.ben, by=world.ada)
    assert slots(item) == (1, 0, "open")
    lift(queue, world.ben, by=world.ada)
    assert slots(item) == (2, 1, "open")


def test_a_verdict_in_one_queue_counts_in_another_that_asks(world: World, prelabeler: Prelabeler) -> None:
    queue, other = make_queue(world), make_queue(world)
    ask(other, prelabeler)
    item = queue.items.order_by("pk")[0]
    judge(queue, world.ben, item.pk, "not_relevant")
    twin = other.items.get(query=item.query, document=item.document)
    assert (slots(item)[0], slots(twin)[0]) == (1, 2)


# Verdict first, then a pass by a model that is sure of relevance in every pair.


@pytest.fixture
def late(world: World, server: ModelServer) -> Prelabeler:
    server.judge = lambda query, document: 0.97
    return prelabeler_for(world.collection, "small")


def test_a_pre_label_that_comes_after_the_verdict_asks_for_another_judgment_once(
    world: World, late: Prelabeler
) -> None:
    queue, quiet = make_queue(world, needed=2), make_queue(world)
    ask(queue, late)
    half, closed, agreed, set_aside, settled, untouched = queue.items.order_by("pk")
    judge(queue, world.ben, half.pk, "not_relevant")
    for person in (world.ben, world.cleo):
        judge(queue, person, closed.pk, "not_relevant")
        judge(queue, person, agreed.pk, "relevant")
    judge(queue, world.cleo, settled.pk, "not_relevant", adjudicates=True, overrules=True)
    judge(queue, world.ada, set_aside.pk, "not_relevant")
    impose(queue, world.ada, by=world.ada)
    run_here(queue, late, PassOptions())
    everything = [slots(item) for item in (half, closed, agreed, set_aside, untouched)]
    assert everything == [(3, 1, "open"), (3, 2, "open"), (2, 2, "done"), (2, 0, "open"), (2, 0, "open")]
    assert slots(settled)[2] == "done"
    # What was never set to ask for second opinions holds the same pairs, judged as well.
    assert {item.needed for item in quiet.items.all()} == {1}
    lift(queue, world.ada, by=world.ada)
    assert slots(set_aside) == (3, 1, "open")
    judge(queue, world.ada, closed.pk, "not_relevant")
    run_here(queue, late, PassOptions())
    assert slots(closed) == (3, 3, "done")


def test_a_pass_asks_in_every_queue_that_holds_the_pair_and_where_it_was_killed_too(
    world: World, late: Prelabeler
) -> None:
    asked, asking = make_queue(world), make_queue(world)
    ask(asking, late)
    items = list(asking.items.order_by("pk"))
    for item in items:
        judge(asking, world.ben, item.pk, "not_relevant")
    job = run_here(asked, late, PassOptions(limit=1))
    assert sorted(slots(item)[0] for item in items) == [1, 1, 1, 1, 1, 2]
    # Its process died after it had stored another one.
    stored = Prelabel.objects.get()
    other = next(item for item in items if slots(item)[0] == 1)
    stored.pk, stored.query, stored.document = None, other.query, other.document
    stored.save()
    PrelabelJob.objects.update(state="running", worker=f"{socket.gethostname()}:gone")
    assert pause_abandoned_passes() == 1
    job.refresh_from_db()
    assert (job.state, slots(other)) == ("paused", (2, 1, "open"))
