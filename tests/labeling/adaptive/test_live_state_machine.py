"""The sentences of `labeling/queues/opening.py` where labels move the order, and those of
`labeling/adaptive/reordering.py`.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis.stateful import invariant, rule

from labeling.adaptive import reordering
from labeling.adaptive.options import AdaptiveOptions
from labeling.gold import repeats
from labeling.models import Item, Lease, QueryPlan, Queue, Selection
from tests.labeling.helpers import make_adaptive_queue
from tests.labeling.judging import test_state_machine
from tests.labeling.judging.test_state_machine import Judging, run_machine
from tests.world import World

BUDGET = 7


class JudgingALiveQueue(Judging):
    """The same people and acts, nine pairs, of which seven are handed out; batches of two."""

    @rule()
    def somebody_stops_a_query(self) -> None:
        plan = QueryPlan.objects.filter(selection=self.queue.pk, finished_by="").order_by("place").first()
        if plan and plan.begun:
            reordering.stop_by_hand(self.queue, [plan.pk], self.now)

    @invariant()
    def nothing_beyond_the_budget_was_handed_out(self) -> None:
        held = Lease.objects.filter(item__order_key__lt=0).exclude(item__state="gold")
        # Whoever judged what nobody gave them, and takes it back, holds it again.
        assert not held.exclude(item__events__kind="undo").exists()
        for selection in Selection.objects.all():
            plans = list(selection.plans.all())
            assert sum(plan.budget for plan in plans) <= BUDGET
            for plan in plans:
                assert (
                    plan.spent + sum(len(handed) for handed, _, _ in plan.ahead) <= plan.budget + plan.fresh
                )

    @invariant()
    def a_finished_query_says_by_what_and_an_unfinished_one_has_something_left(self) -> None:
        for plan in QueryPlan.objects.select_related("selection__queue"):
            assert bool(plan.finished_by) == bool(plan.finished_at)
            if plan.finished_by in ("budget", "pool"):
                assert not any(handed for handed, _, _ in plan.ahead)

    @invariant()
    def what_is_reached_or_drawn_stands_once(self) -> None:
        for plan in QueryPlan.objects.all():
            reached = [document for document, _ in plan.reached]
            drawn = [document for document, _, _ in plan.drawn]
            assert len(reached) == len(set(reached))
            assert len(drawn) == len(set(drawn))
            ahead = [document for batch in plan.ahead for document in batch[1]]
            assert not set(reached) & set(ahead)

    def check_nothing_is_free_for(self, user: Any) -> None:
        """An empty answer is true of what the order holds, and the order holds what the budget allows."""
        if self.is_paused(user):
            return
        held_back = Item.objects.filter(queue=self.queue, state="open", order_key__lt=0)
        running = QueryPlan.objects.filter(selection=self.queue.pk, finished_by="")
        waiting = Item.objects.filter(queue=self.queue, state="open", order_key__gt=0)
        for plan in running.exclude(query__in=waiting.values("query")):
            handed = plan.spent + sum(len(batch[0]) for batch in plan.ahead)
            assert handed >= plan.budget or not held_back.filter(query=plan.query_id).exists()
        for item in waiting:
            held = Lease.objects.filter(item=item, expires_at__gt=self.now).count()
            judged = user.judgments.filter(query=item.query_id, document=item.document_id).exists()
            assert item.done + held >= item.needed or judged


@pytest.mark.hypothesis
@pytest.mark.django_db
@pytest.mark.parametrize("rule_of_budget", ["equal", "greedy"])
def test_the_sentences_hold_where_labels_move_the_order(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    rule_of_budget: str,
) -> None:
    def open_live(world: World, needed: int = 1, **options: Any) -> Queue:
        adaptive = AdaptiveOptions(budget=BUDGET, budget_rule=rule_of_budget, budget_floor=1)
        return make_adaptive_queue(world, needed, adaptive=adaptive, **options)

    monkeypatch.setattr(reordering, "BATCH", 2)
    monkeypatch.setattr(repeats, "GAP", 0)
    monkeypatch.setattr(test_state_machine, "make_queue", open_live)
    run_machine(type("JudgingInThisWorld", (JudgingALiveQueue,), {"world": world}), examples=2, steps=25)
    assert not [
        record
        for record in caplog.records
        if record.name == "labeling.adaptive.reordering" and record.exc_info
    ]
