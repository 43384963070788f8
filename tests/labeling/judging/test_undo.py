"""Taking a verdict back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from labeling.judging.leases import claim
from labeling.judging.verdicts import skip, undo
from labeling.models import Item, Judgment, JudgmentEvent, Lease
from pooling.interface.problems import InputError
from tests.labeling.helpers import judge, make_queue, only_lease
from tests.world import World


def test_undo_removes_the_verdict_reopens_the_item_and_leases_it_again(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item, key="k")
    lease = undo(queue, world.ben, "k")
    assert lease is not None
    assert (lease.item_id, lease.annotator) == (item, world.ben)
    assert lease.item.query.text
    assert not Judgment.objects.exists()
    row = Item.objects.get(pk=item)
    assert (row.done, row.leased, row.state) == (0, 1, "open")
    assert list(JudgmentEvent.objects.order_by("pk").values_list("kind", flat=True)) == ["verdict", "undo"]


def test_undo_asked_again_answers_the_same_and_changes_nothing(world: World) -> None:
    queue = make_queue(world)
    judge(queue, world.ben, only_lease(queue, world.ben).item_id, key="k")
    first, again = undo(queue, world.ben, "k"), undo(queue, world.ben, "k")
    assert first == again
    assert JudgmentEvent.objects.filter(kind="undo").count() == 1
    assert Lease.objects.count() == 1


def test_undo_takes_no_slot_that_others_hold(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    held = [{lease.item_id for lease in claim(queue, one, 50).leases} for one in (world.cleo, world.ada)]
    item = min(held[0] & held[1])
    judge(queue, world.ben, item, key="k")
    assert undo(queue, world.ben, "k") is None
    assert Lease.objects.filter(item=item).count() == 2


def test_an_old_undo_does_not_touch_the_verdict_given_since(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item, "relevant", key="k1")
    undo(queue, world.ben, "k1")
    judge(queue, world.ben, item, "not_relevant", key="k2")
    assert undo(queue, world.ben, "k1") is None
    assert Judgment.objects.get().verdict == "not_relevant"


def test_undo_of_a_second_thought_restores_the_first(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item, "relevant", key="k1")
    judge(queue, world.ben, item, "not_relevant", key="k2")
    assert undo(queue, world.ben, "k2") is None
    judgment = Judgment.objects.get()
    assert (judgment.verdict, judgment.event.key) == ("relevant", "k1")
    assert Item.objects.get(pk=item).state == "done"


def test_undo_of_an_extra_verdict_gives_no_lease(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item)
    judge(queue, world.cleo, item, key="extra")
    assert undo(queue, world.cleo, "extra") is None
    assert Judgment.objects.get().annotator == world.ben


def test_an_extra_verdict_fills_the_slot_of_the_one_undone(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item, key="k")
    judge(queue, world.cleo, item)
    assert undo(queue, world.ben, "k") is None
    assert Item.objects.get(pk=item).state == "done"


def test_undo_of_cannot_judge_takes_the_item_back_from_adjudication(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    for person in (world.ben, world.cleo):
        judge(queue, person, item, "cannot_judge", reason="other", key="k")
    assert undo(queue, world.cleo, "k") is not None
    assert Item.objects.get(pk=item).state == "open"


def test_undo_reaches_back_twenty_verdicts(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    for number in range(21):
        judge(queue, world.ben, item, key=f"k{number}")
    undo(queue, world.ben, "k1")
    with pytest.raises(InputError, match="None of your last 20 verdicts"):
        undo(queue, world.ben, "k0")


def test_nobody_undoes_somebody_else_s_verdict(world: World) -> None:
    queue = make_queue(world)
    judge(queue, world.ben, only_lease(queue, world.ben).item_id, key="k")
    with pytest.raises(InputError):
        undo(queue, world.cleo, "k")


def test_an_undone_lease_runs_out_like_any_other(world: World) -> None:
    queue = make_queue(world, pairs=2)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item, key="k")
    undo(queue, world.ben, "k")
    later = timezone.now() + timedelta(seconds=601)
    assert item in [lease.item_id for lease in claim(queue, world.cleo, 2, now=later).leases]


def test_a_skip_is_an_event_and_the_same_one_twice_is_one(world: World) -> None:
    queue = make_queue(world)
    lease = only_lease(queue, world.ben)
    for _ in range(2):
        skip(queue, world.ben, lease.item_id, lease=lease.token)
    assert JudgmentEvent.objects.get().kind == "skip"
    assert Item.objects.get(pk=lease.item_id).leased == 0


def test_what_is_not_in_the_queue_cannot_be_skipped(world: World) -> None:
    queue = make_queue(world)
    with pytest.raises(InputError, match="not in this queue"):
        skip(queue, world.ben, 999_999)
