"""A verdict against a sure pre-label asks for one judgment more; the pre-label itself never votes."""

from __future__ import annotations

import pytest

from labeling.labels import current_labels
from labeling.models import Item, Prelabeler, Queue
from labeling.prelabel_use import PrelabelUse, change_use
from labeling.quarantine import impose, lift
from labeling.queues import claim, undo
from tests.labeling.helpers import judge, make_prelabels, make_queue
from tests.world import World

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
