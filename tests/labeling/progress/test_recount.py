"""What the database counts and pages say of queues is what a walk over every row says, after each step of a
campaign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from django.db import connection, transaction

from labeling.adjudication.settling import adjudicate, take_back
from labeling.exposure.use import PrelabelUse, change_use
from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.items.counts import ADDED_UP, POSTGRESQL, TRIGGERS, keep_counts
from labeling.judging.leases import claim
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import skip, undo
from labeling.models import Item, ItemCount, Judgment, Queue
from labeling.progress.counts import listed_queues, queue_progress
from labeling.progress.of_collection import queue_states
from labeling.queues.redundancy import change_redundancy
from pooling.models import Document, Query
from pooling.tidying.doing import delete, restore
from pooling.tidying.erasing import erase, erase_collection
from tests.labeling.helpers import (
    assert_counts_are_true,
    judge,
    make_adaptive_queue,
    make_prelabels,
    make_queue,
)
from tests.world import World


def campaign(world: World, first: Queue, second: Queue) -> Iterator[str]:
    """Steps that open, settle, reopen and withdraw pairs, some of them in both queues."""
    ben = [lease.item_id for lease in claim(first, world.ben, 6).leases]
    cleo = [lease.item_id for lease in claim(second, world.cleo, 6).leases]
    yield "claimed"
    for number, item in enumerate(ben[:4]):
        judge(first, world.ben, item, "relevant" if number % 2 else "not_relevant", key=f"ben {number}")
        yield "judged by Ben"
    for number, item in enumerate(cleo[:3]):
        verdict, reason = ("cannot_judge", "other") if number == 2 else ("relevant", "")
        judge(second, world.cleo, item, verdict, reason=reason)
        yield "judged by Cleo"
    judge(second, world.ben, cleo[2], "cannot_judge", reason="other")
    yield "in adjudication"
    undo(first, world.ben, "ben 3")
    yield "undone"
    skip(second, world.cleo, cleo[3])
    yield "skipped"
    document = Document.objects.get(pk=Item.objects.get(pk=ben[0]).document_id)
    delete(document, by=world.ada)
    yield "document deleted"
    restore(document, by=world.ada)
    yield "document restored"


def later_changes(world: World, first: Queue, second: Queue) -> Iterator[str]:
    """Steps after the campaign, by admins: needs, answers, whole queues and the collection."""
    waiting = second.items.filter(state=Item.State.ADJUDICATION)[0]
    adjudicate(second, world.ada, Submission(waiting.pk, "settled", "relevant"))
    yield "adjudicated"
    take_back(second, world.ada, "settled")
    yield "adjudication taken back"
    for needed, most in ((2, None), (2, 3), (1, None)):
        change_redundancy(first, needed, most)
        yield f"{needed} to {most} judgments"
    change_use(first, PrelabelUse(prelabeler=make_prelabels(world), second_opinion_from=0.9))
    yield "a model asks for second opinions"
    judge(first, world.cleo, first.items.filter(state=Item.State.OPEN)[0].pk, "not_relevant")
    yield "the model contradicted"
    add_question(world.collection, NewQuestion("q1", "d1", "relevant"), user=world.ada)
    yield "a gold question"
    make_queue(world, gold=GoldOptions(0.2, 0.2), name="with gold and what was judged")
    yield "one more queue"
    live = make_adaptive_queue(world, audit_share=0.0)
    judge(live, world.ben, claim(live, world.ben, 1).leases[0].item_id)
    yield "an order that learns"
    delete(Query.objects.get(external_id="q2"), by=world.ada)
    yield "query deleted"
    delete(second)
    erase(second)
    yield "queue with verdicts erased"
    live.items.filter(done=0).delete()
    yield "items deleted"
    erase_collection(world.collection)
    yield "collection erased"


def add_up_after(rows: int) -> None:
    """Have PostgreSQL add up the counts of a queue after each so many rows; SQLite has one row of a kind."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(POSTGRESQL[0].replace(f"% {ADDED_UP} ", f"% {rows} "))


def count_as_at_first() -> None:
    keep_counts("default", ["an upgrade"])


@pytest.mark.parametrize("rows", [1, ADDED_UP])
def test_the_database_counts_every_change_of_items(world: World, rows: int) -> None:
    add_up_after(rows)
    first, second = make_queue(world, pairs=6), make_queue(world, needed=2, pairs=6)
    for steps in (campaign, later_changes):
        for step in steps(world, first, second):
            assert_counts_are_true(step)
    assert not ItemCount.objects.exists()


def test_rows_that_are_alike_stay_few(world: World) -> None:
    queue = make_queue(world)
    for number in range(300):
        queue.items.update(needed=1 + number % 2)
    assert ItemCount.objects.count() < ADDED_UP + 10
    assert_counts_are_true()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("sqlite" in connection.settings_dict["ENGINE"], reason="SQLite has one writer")
def test_nobody_waits_for_a_row_that_somebody_else_counts_in(world: World) -> None:
    first, second, *_ = make_queue(world).items.order_by("pk").values_list("pk", flat=True)
    add_up_after(1)
    other = connection.copy()
    try:
        with transaction.atomic(), other.cursor() as cursor:
            Item.objects.filter(pk=first).update(state=Item.State.DONE)
            cursor.execute("SET lock_timeout = 1")
            cursor.execute("UPDATE labeling_item SET state = 'done' WHERE id = %s", [second])
        assert_counts_are_true()
    finally:
        other.close()
        count_as_at_first()


def test_triggers_that_are_gone_come_back_with_true_counts(world: World) -> None:
    """SQLite drops them with a table that a migration copies."""
    queue = make_queue(world)
    with connection.cursor() as cursor:
        for name in TRIGGERS:
            table = " ON labeling_item" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER {name}{table}")
    queue.items.filter(pk=queue.items.order_by("pk")[0].pk).update(state=Item.State.DONE)
    keep_counts("default")
    assert_counts_are_true()
    queue.items.update(done=1)
    assert_counts_are_true()


def test_counts_equal_a_walk_over_every_row_at_every_step(world: World) -> None:
    first, second = make_queue(world, pairs=6), make_queue(world, needed=2, pairs=6)
    empty = make_queue(world, pairs=2)
    empty.items.all().delete()
    for step in campaign(world, first, second):
        listed = {queue.pk: queue for queue in listed_queues(world.collection, world.ada)}
        states = {one.pk: one for one in queue_states([world.collection.pk])[world.collection.pk]}
        for queue in (first, second, empty):
            items = [item for item in queue.items.all() if item.state != Item.State.WITHDRAWN]
            walked = Counter(item.state for item in items)
            closed = len(items) - walked["open"]
            shown = listed[queue.pk]
            assert (shown.total, shown.settled) == (len(items), closed), step  # type: ignore[attr-defined]
            assert (states[queue.pk].pairs, states[queue.pk].settled) == (len(items), closed), step
            progress = queue_progress(queue)
            assert progress["items"] == {
                "total": len(items),
                **{state: walked[state] for state in ("open", "done", "adjudication")},
            }, step
            assert progress["judgments"]["done"] == sum(item.done for item in items), step
            people = Counter(
                judgment.annotator.username
                for judgment in Judgment.objects.select_related("event", "annotator")
                if judgment.event.queue_id == queue.pk
            )
            assert {
                row["username"]: row["judged"] for row in progress["annotators"] if row["judged"]
            } == people
            assert progress["pace"]["annotators"] == len(people), step
