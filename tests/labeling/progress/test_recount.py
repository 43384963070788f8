"""What lists and pages say of queues is what a walk over every row says, after each step of a campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from labeling.judging.leases import claim
from labeling.judging.verdicts import skip, undo
from labeling.models import Item, Judgment, Queue
from labeling.progress.counts import listed_queues, queue_progress
from labeling.progress.of_queues import queue_states
from pooling.models import Document
from pooling.tidying.doing import delete, restore
from tests.labeling.helpers import judge, make_queue
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
