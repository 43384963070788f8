"""What must hold of an adaptive queue at any moment, for simulated campaigns and their tests alike.

The sentences are those of `labeling/queues/opening.py` and `labeling/adaptive/reordering.py`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from labeling.adaptive.next_documents import History
from labeling.adaptive.planners import history_of, planner_of
from labeling.adaptive.query_state import read_state
from labeling.items.slots import need
from labeling.models import Item, Judgment, JudgmentEvent, Lease, QueryPlan, Queue, Selection
from labeling.progress.counts import item_counts
from pooling.ranking.selection import BATCH

Pair = tuple[int, int]


@dataclass
class Said:
    """What a campaign remembers: the keys that were acknowledged, by query, and for each person and pair
    those that were not taken back, in their order."""

    acknowledged: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    standing: dict[tuple[int, int, int], list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, annotator: int, pair: Pair, key: str) -> None:
        self.acknowledged[pair[0]].append(key)
        self.standing[annotator, *pair].append(key)

    def take_back(self, annotator: int, pair: Pair, key: str) -> None:
        self.standing[annotator, *pair].remove(key)


def check_query(queue: Queue, query: int, said: Said) -> None:
    """AssertionError where a sentence does not hold of one query, after whatever anybody did."""
    votes: dict[int, Counter[str]] = defaultdict(Counter)
    counted = Judgment.objects.counted().filter(query=query)
    for document, verdict in counted.values_list("document", "verdict"):
        votes[document][verdict] += 1
    leases = Counter(
        Lease.objects.filter(item__queue=queue, item__query=query).values_list("item", flat=True)
    )
    for item in Item.objects.filter(queue=queue, query=query):
        said_of = votes[item.document_id]
        count = said_of["relevant"] + said_of["not_relevant"]
        assert item.needed == need(queue.bounds, said_of["relevant"], said_of["not_relevant"]), item
        assert item.done + item.leased <= item.needed, f"{item} is above its need"
        assert item.leased == leases[item.pk], f"{item} counts leases that are not there"
        assert (item.leased_until is None) == (item.leased == 0)
        assert item.done == min(count, item.needed - item.leased), f"{item} does not count its judgments"
        assert item.order_key > 0 or not (item.done or item.leased), f"{item} was given out of turn"
        assert (item.second_key is None) == (queue.bounds[1] == 1)
        assert item.second_key is None or (item.second_key > 0) == (item.order_key > 0)
    events = JudgmentEvent.objects.filter(queue=queue, query=query, kind="verdict")
    assert Counter(events.values_list("key", flat=True)) == Counter(said.acknowledged[query])
    rows = Judgment.objects.filter(query=query).values_list("annotator", "document", "event__key")
    kept = {(who, document): key for who, document, key in rows}
    expected = {
        (who, document): keys[-1]
        for (who, asked, document), keys in said.standing.items()
        if asked == query and keys
    }
    assert kept == expected, "A judgment is not the last verdict that stands"


def check_plan(queue: Queue, query: int) -> None:
    """AssertionError where the order of a query is not what its strategy and its audit may make of it."""
    selection = Selection.objects.get(queue=queue)
    selection.queue = queue
    plan = selection.plans.select_related("query").get(query=query)
    ahead = sum(len(handed) for handed, _, _ in plan.ahead)
    assert plan.spent + ahead <= plan.budget + plan.fresh, f"{plan} is beyond its budget"
    assert bool(plan.finished_by) == bool(plan.finished_at)
    items = {item.document_id: item for item in Item.objects.filter(queue=queue, query=query)}
    shown = {document for document, item in items.items() if item.order_key > 0}
    planned = {document for handed, _, _ in plan.ahead for document in handed}
    begun = {document for document, _ in plan.reached} | {document for document, _, _ in plan.drawn}
    assert planned <= shown <= begun | planned, f"{plan}: what is handed out is not what was planned"
    _check_audit(selection, plan)


def _check_audit(selection: Selection, plan: QueryPlan) -> None:
    """The audit is the beginning of its stored order but for what was reached by then, and what was said of
    its documents that the order has not reached moves nothing."""
    with transaction.atomic():
        state = read_state(selection.queue, plan.query_id)
    planner, known = planner_of(selection, plan, state), history_of(plan, state)
    reached_in: dict[int, int] = dict(plan.reached)
    drawn_in = {document: batch for document, batch, _ in plan.drawn}
    assert len(reached_in) == len(plan.reached)
    assert len(drawn_in) == len(plan.drawn)
    order = [planner.documents[number] for number in planner.audit_order]
    assert [document for document in order if document in drawn_in] == [row[0] for row in plan.drawn]
    passed = 0
    for document in order[: max((order.index(document) for document in drawn_in), default=-1) + 1]:
        if document in drawn_in:
            assert passed <= drawn_in[document], f"{plan}: the audit passed over what was reached later"
        else:
            assert document in reached_in, f"{plan}: the audit passed over what was not reached"
            passed = max(passed, reached_in[document])
    unseen = set(drawn_in) - set(reached_in) - set(known.used_up)
    other = History(
        known.reached,
        known.audit,
        known.spent,
        known.free,
        {document: label ^ (document in unseen) for document, label in known.labels.items()},
        known.used_up,
    )
    twin = planner_of(selection, plan, state)
    orders = []
    for one, seen in ((planner, known), (twin, other)):
        one.tell(seen)
        orders.append((one.lesson(), one.batches(seen, plan.budget, BATCH)))
    assert orders[0] == orders[1], f"{plan}: labels of the audit that were not reached move the order"


def check_queue(queue: Queue, said: Said) -> None:
    """AssertionError where a sentence does not hold of any query, or the queue's page counts wrongly."""
    for query in QueryPlan.objects.filter(selection=queue.pk).values_list("query", flat=True):
        check_query(queue, query, said)
        check_plan(queue, query)
    handed = list(Item.objects.filter(queue=queue, order_key__gt=0))
    told: dict[str, Any] = item_counts(queue)
    assert told["needed"] == sum(item.needed for item in handed if item.state == "open") + sum(
        item.done for item in handed if item.state != "open"
    )


def check_nothing_is_free(queue: Queue, annotator: int, now: Any) -> None:
    """AssertionError where somebody was told that there is nothing, and there was."""
    judged = set(Judgment.objects.filter(annotator=annotator).values_list("query", "document"))
    held = Counter(Lease.objects.filter(item__queue=queue, expires_at__gt=now).values_list("item", flat=True))
    for item in Item.objects.filter(queue=queue, state="open", order_key__gt=0):
        is_full = item.done + held[item.pk] >= item.needed
        assert is_full or (item.query_id, item.document_id) in judged, f"{item} was free for {annotator}"
    for plan in QueryPlan.objects.filter(selection=queue.pk, finished_by=""):
        waits = Item.objects.filter(queue=queue, query=plan.query_id, state="open", order_key__gt=0)
        assert waits.exists(), f"{plan} is not finished and has nothing to hand out"
