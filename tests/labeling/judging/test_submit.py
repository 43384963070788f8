"""What becomes of a verdict: sentences 4 and 5 of `labeling/queues/opening.py`."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from labeling.judging.leases import claim, release
from labeling.models import Item, Judgment, JudgmentEvent, Lease
from labeling.queues.opening import change_state
from pooling.models import Membership
from tests.labeling.helpers import judge, make_pool, make_queue, only_lease
from tests.world import World

NOW = timezone.now()
LATER = NOW + timedelta(seconds=601)


def counters(item: int) -> tuple[int, int, str]:
    row = Item.objects.get(pk=item)
    return row.done, row.leased, row.state


def test_a_verdict_is_stored_with_all_that_was_sent(world: World) -> None:
    queue = make_queue(world)
    lease = only_lease(queue, world.ben)
    outcome = judge(
        queue,
        world.ben,
        lease.item_id,
        "cannot_judge",
        key="k",
        reason="language",
        note="Norwegian?",
        shown="passage",
        version=1,
        active_ms=1200,
        lease=lease.token,
    )
    assert (outcome.key, outcome.status) == ("k", "stored")
    event = JudgmentEvent.objects.get()
    assert (event.verdict, event.reason, event.note) == ("cannot_judge", "language", "Norwegian?")
    assert (event.shown, event.document_version, event.active_ms, event.lease) == (
        "passage",
        1,
        1200,
        lease.token,
    )
    assert Judgment.objects.get().event == event


def test_a_verdict_on_a_text_that_was_never_there_is_rejected(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    outcome = judge(queue, world.ben, item, version=77)
    assert (outcome.status, outcome.detail) == (
        "rejected",
        "This document has no version 77 yet: the newest is 1.",
    )
    assert not JudgmentEvent.objects.exists()
    assert judge(queue, world.ben, item, version=1).status == "stored"


def test_a_verdict_fills_the_slot_and_returns_the_lease(world: World) -> None:
    queue = make_queue(world)
    lease = only_lease(queue, world.ben)
    judge(queue, world.ben, lease.item_id)
    assert counters(lease.item_id) == (1, 0, "done")
    assert not Lease.objects.exists()


def test_the_same_key_again_is_a_duplicate_and_changes_nothing(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item, "relevant", key="k")
    outcome = judge(queue, world.ben, item, "not_relevant", key="k")
    assert outcome.status == "duplicate"
    assert JudgmentEvent.objects.count() == 1
    assert Judgment.objects.get().verdict == "relevant"


def test_two_people_may_choose_the_same_key(world: World) -> None:
    queue = make_queue(world, needed=2)
    item = only_lease(queue, world.ben).item_id
    outcomes = [judge(queue, person, item, key="1").status for person in (world.ben, world.cleo)]
    assert outcomes == ["stored", "stored"]


def test_a_late_verdict_fills_a_slot_that_is_free(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben, now=NOW).item_id
    assert judge(queue, world.ben, item, now=LATER).status == "stored"
    assert counters(item) == (1, 0, "done")


def test_a_late_verdict_is_extra_when_another_holds_the_slot(world: World) -> None:
    queue = make_queue(world, pairs=2)
    item = only_lease(queue, world.ben, now=NOW).item_id
    claim(queue, world.cleo, 2, now=LATER)
    assert judge(queue, world.ben, item, now=LATER).status == "extra"
    assert counters(item) == (0, 1, "open")
    assert judge(queue, world.cleo, item, now=LATER).status == "stored"
    assert counters(item) == (1, 0, "done")
    assert Judgment.objects.count() == 2


def test_an_extra_verdict_fills_the_slot_that_the_other_gives_back(world: World) -> None:
    queue = make_queue(world, pairs=2)
    item = only_lease(queue, world.ben, now=NOW).item_id
    leases = claim(queue, world.cleo, 2, now=LATER).leases
    judge(queue, world.ben, item, now=LATER)
    release(queue, world.cleo, [lease.token for lease in leases], now=LATER)
    assert counters(item) == (1, 0, "done")


def test_an_extra_verdict_fills_the_slot_that_the_other_lets_expire(world: World) -> None:
    queue = make_queue(world, pairs=2)
    item = only_lease(queue, world.ben, now=NOW).item_id
    claim(queue, world.cleo, 2, now=LATER)
    judge(queue, world.ben, item, now=LATER)
    offered = claim(queue, world.ada, 2, now=LATER + timedelta(seconds=601)).leases
    assert item not in [lease.item_id for lease in offered]
    assert counters(item) == (1, 0, "done")


def test_a_verdict_beyond_the_need_is_extra(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item)
    assert judge(queue, world.cleo, item).status == "extra"
    assert JudgmentEvent.objects.filter(extra=True).get().annotator == world.cleo
    assert counters(item) == (1, 0, "done")


def test_a_second_thought_replaces_the_verdict_and_keeps_both_events(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item, "relevant")
    assert judge(queue, world.ben, item, "not_relevant").status == "stored"
    assert Judgment.objects.get().verdict == "not_relevant"
    assert JudgmentEvent.objects.count() == 2
    assert counters(item) == (1, 0, "done")


def test_cannot_judge_fills_no_slot_and_two_of_them_go_to_adjudication(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item, "cannot_judge", reason="expert")
    assert counters(item) == (0, 0, "open")
    judge(queue, world.cleo, item, "cannot_judge", reason="other")
    assert counters(item) == (0, 0, "adjudication")
    judge(queue, world.ada, item)
    assert counters(item) == (1, 0, "done")


def test_a_tie_goes_to_adjudication_and_a_third_voice_settles_it(world: World) -> None:
    queue = make_queue(world, needed=2)
    item = only_lease(queue, world.ben).item_id
    judge(queue, world.ben, item, "relevant")
    judge(queue, world.cleo, item, "not_relevant")
    assert counters(item) == (2, 0, "adjudication")
    judge(queue, world.ada, item, "relevant")
    assert counters(item) == (2, 0, "done")


def test_a_judgment_counts_in_every_queue_that_holds_the_pair(world: World) -> None:
    first, second = make_queue(world), make_queue(world, needed=2)
    item = only_lease(first, world.ben).item
    judge(first, world.ben, item.pk)
    twin = Item.objects.get(queue=second, query=item.query, document=item.document)
    assert counters(twin.pk) == (1, 0, "open")
    claimed = claim(second, world.ben, 10).leases
    assert twin.pk not in [lease.item_id for lease in claimed]


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_verdict_is_stored_when_the_queue_was_stopped_meanwhile(world: World, state: str) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    change_state(queue, state)
    assert judge(queue, world.ben, item).status == "stored"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"verdict": "perhaps"}, "Unknown verdict “perhaps”. Use relevant, not_relevant, cannot_judge."),
        (
            {"verdict": "cannot_judge"},
            "“Can't judge” needs a reason: broken, language, expert, query, other.",
        ),
        ({"key": ""}, "A key is 1 to 64 ASCII characters."),
        ({"key": "k" * 65}, "A key is 1 to 64 ASCII characters."),
        ({"note": "n" * 5001}, "A note may have at most 5,000 characters."),
        ({"shown": "title"}, "“shown” must be “passage” or “document”."),
    ],
)
def test_a_verdict_that_makes_no_sense_is_rejected(
    world: World, change: dict[str, str], sentence: str
) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    outcome = judge(queue, world.ben, item, **change)
    assert (outcome.status, outcome.detail) == ("rejected", sentence)
    assert not JudgmentEvent.objects.exists()


def test_an_item_of_another_queue_is_rejected(world: World) -> None:
    first, second = make_queue(world), make_queue(world)
    item = only_lease(second, world.ben).item_id
    assert judge(first, world.ben, item).status == "rejected"


def test_whoever_left_the_collection_is_rejected(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    Membership.objects.filter(user=world.ben).delete()
    outcome = judge(queue, world.ben, item)
    assert (outcome.status, outcome.detail) == (
        "rejected",
        "You are no longer an annotator of this collection.",
    )


def test_what_no_database_keeps_is_taken_out_of_a_note(world: World) -> None:
    queue = make_queue(world)
    judge(queue, world.ben, only_lease(queue, world.ben).item_id, note="a\0b\ud800c")
    assert JudgmentEvent.objects.get().note == "ab?c"


def test_a_submit_takes_eight_queries(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    queue = make_queue(world, needed=2)
    lease = only_lease(queue, world.ben)
    judge(queue, world.cleo, lease.item_id)
    with django_assert_max_num_queries(9):  # with the savepoint that the test's own transaction makes of ours
        judge(queue, world.ben, lease.item_id)


def test_earlier_judgments_fill_slots_of_a_new_queue(world: World) -> None:
    first = make_queue(world)
    for lease in claim(first, world.ben, 2).leases:
        judge(first, world.ben, lease.item_id)
    second = make_queue(world, pairs=6)
    assert sorted(second.items.values_list("done", flat=True)) == [0, 0, 0, 0, 1, 1]
    assert second.items.filter(state="done").count() == 2
    assert make_pool(world, "third").entries.count() == 6
