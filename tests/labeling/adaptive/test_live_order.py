"""Adaptive queues: what moves the order of what is left, what does not, and what ends it."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.adaptive import reordering
from labeling.adaptive.options import AdaptiveOptions
from labeling.adaptive.stopping import look_points
from labeling.gold.quarantine import impose
from labeling.judging.leases import claim
from labeling.judging.verdicts import skip, undo
from labeling.models import ImportedLabel, Item, QueryPlan, Queue, Selection
from labeling.queues.opening import open_queue
from labeling.queues.options import QueueOptions
from labeling.queues.redundancy import change_redundancy
from labeling.queues.views import workload_of
from pooling.interface.problems import InputError
from pooling.models import Document
from pooling.strategies import STRATEGIES, candidates_of_query
from tests.labeling.helpers import judge, make_adaptive_pool, make_adaptive_queue
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reordering, "BATCH", 2)


def order_of(queue: Queue, query: str = "q1") -> list[str]:
    """What is left of a query, in the order in which a claim reads it."""
    left = queue.items.filter(query__external_id=query, state="open", leased=0, done=0, order_key__gt=0)
    return list(left.order_by("order_key").values_list("document__external_id", flat=True))


def one_query(world: World, **options: Any) -> Queue:
    """An adaptive queue over six documents of one query: run 0 has d1 first, run 1 has d6 first."""
    return make_adaptive_queue(world, queries=1, documents=6, **{"audit_share": 0.0, **options})


def judge_next(queue: Queue, world: World, relevant: set[str], count: int = 2) -> list[str]:
    """Claim some items, and find relevant what is among `relevant`."""
    leases = claim(queue, world.ben, count).leases
    for lease in leases:
        name = lease.item.document.external_id
        judge(queue, world.ben, lease.item_id, "relevant" if name in relevant else "not_relevant")
    return [lease.item.document.external_id for lease in leases]


def test_labels_move_what_is_left_towards_the_run_that_was_right(world: World) -> None:
    queue = one_query(world, strategy="maxmean")
    assert set(judge_next(queue, world, {"d1", "d2", "d3"})) == {"d1", "d6"}
    assert set(order_of(queue)[:2]) == {"d2", "d3"}
    other = one_query(world, strategy="maxmean", name="the other way")
    assert [item.state for item in other.items.filter(document__external_id__in=["d1", "d6"])] == ["done"] * 2
    assert set(order_of(other)[:2]) != {"d1", "d6"}


def test_what_is_held_or_judged_is_not_moved_nor_any_batch_of_which_something_was_handed_out(
    world: World,
) -> None:
    queue = one_query(world)
    held = claim(queue, world.cleo, 1).leases[0].item
    before = dict(queue.items.values_list("pk", "order_key"))
    reordering.order_anew(queue)
    (first,) = set(order_of(queue)[:1])
    after = dict(queue.items.values_list("pk", "order_key"))
    assert after[held.pk] == before[held.pk]
    assert first in {"d1", "d6"}
    plan = QueryPlan.objects.get(selection=queue.pk)
    assert (plan.begun, plan.spent) == (1, 2)


def test_within_a_batch_the_order_hangs_on_the_seed_and_not_on_the_choice(world: World) -> None:
    queues = [one_query(world, name=f"seed {seed}") for seed in range(2)]
    assert order_of(queues[0]) == order_of(queues[1])
    shown = set()
    for seed in range(6):
        Queue.objects.filter(pk=queues[0].pk).update(seed=seed)
        reordering.order_anew(Queue.objects.get(pk=queues[0].pk))
        Item.objects.filter(queue=queues[0]).update(order_key=-1)
        reordering.order_anew(Queue.objects.get(pk=queues[0].pk))
        shown.add(tuple(order_of(queues[0])[:2]))
    assert len(shown) == 2
    assert len({frozenset(pair) for pair in shown}) == 1


def test_a_budget_holds_back_what_is_beyond_it_and_finishes_the_query(world: World) -> None:
    queue = one_query(world, adaptive=AdaptiveOptions(budget=4))
    assert len(order_of(queue)) == 4
    judge_next(queue, world, {"d1"})
    assert len(order_of(queue)) == 2
    judge_next(queue, world, {"d1"})
    assert claim(queue, world.ben, 5).leases == []
    plan = QueryPlan.objects.get(selection=queue.pk)
    assert (plan.finished_by, plan.settled, plan.found) == ("budget", 4, 1)
    assert queue.items.filter(order_key__lt=0, state="open").count() == 2


def test_a_pool_that_is_judged_whole_is_finished_by_its_end_and_an_undo_takes_that_back(world: World) -> None:
    queue = one_query(world)
    while claimed := claim(queue, world.ben, 2).leases:
        for lease in claimed:
            judge(queue, world.ben, lease.item_id, key=f"k{lease.item_id}")
    assert QueryPlan.objects.get(selection=queue.pk).finished_by == "pool"
    undo(queue, world.ben, f"k{queue.items.first().pk}")
    assert QueryPlan.objects.get(selection=queue.pk).finished_by == ""


def test_a_skip_leaves_the_document_to_others_and_moves_nothing(world: World) -> None:
    queue = one_query(world)
    lease = claim(queue, world.ben, 1).leases[0]
    skip(queue, world.ben, lease.item_id, lease=lease.token)
    assert lease.item.document.external_id in order_of(queue)[:2]
    assert lease.item_id in [held.item_id for held in claim(queue, world.cleo, 6).leases]


def test_an_item_counts_when_it_has_a_label_not_when_one_of_two_has_judged(world: World) -> None:
    queue = one_query(world, needed=2, strategy="maxmean")
    judge_next(queue, world, {"d1"})
    reordering.order_anew(queue)
    assert QueryPlan.objects.get(selection=queue.pk).found == 0
    for lease in claim(queue, world.cleo, 2).leases:
        judge(queue, world.cleo, lease.item_id, "relevant")
    reordering.order_anew(queue)
    assert QueryPlan.objects.get(selection=queue.pk).found >= 1


def test_a_quarantine_takes_labels_back_and_the_pairs_come_up_again(world: World) -> None:
    queue = one_query(world, adaptive=AdaptiveOptions(budget=4))
    judge_next(queue, world, {"d1", "d6"}, count=4)
    assert QueryPlan.objects.get(selection=queue.pk).finished_by == "budget"
    impose(queue, world.ben)
    plan = QueryPlan.objects.get(selection=queue.pk)
    assert (plan.finished_by, plan.found) == ("", 0)
    assert len(claim(queue, world.cleo, 6).leases) == 4


def test_redundancy_can_be_raised_and_the_second_order_follows(world: World) -> None:
    queue = one_query(world, adaptive=AdaptiveOptions(budget=4))
    judge_next(queue, world, set())
    change_redundancy(queue, 2)
    assert not queue.items.filter(second_key=None).exists()
    assert queue.items.filter(second_key__gt=0).count() == 4
    queue.refresh_from_db()
    assert len(claim(queue, world.cleo, 6).leases) == 4


def test_documents_of_the_audit_are_judged_once_and_their_labels_wait_until_the_order_reaches_them(
    world: World,
) -> None:
    queue = one_query(world, audit_share=0.5)
    plan = QueryPlan.objects.get(selection=queue.pk)
    (first, *_) = plan.ahead
    assert len(first[2]) == 1
    judge_next(queue, world, set())
    plan.refresh_from_db()
    drawn = {document for document, _, _ in plan.drawn}
    reached = {document for document, _ in plan.reached}
    assert drawn
    assert len(drawn | reached) == 2 + len(drawn & reached) or len(drawn | reached) >= 2
    everything = [document for batch in plan.ahead for document in batch[0]]
    assert not set(everything) & drawn


def test_labels_known_before_the_draw_teach_and_cost_nothing(world: World) -> None:
    pool = make_adaptive_pool(world, queries=1, documents=4, strategy="maxmean", audit_share=0.0)
    known = Document.objects.get(external_id="d1")
    label = ImportedLabel.objects.create(
        collection=world.collection,
        query=pool.entries.first().query,
        document=known,
        relevance=1,
        source_name="earlier",
    )
    ImportedLabel.objects.filter(pk=label.pk).update(imported_at=pool.built_at.replace(year=2020))
    queue = open_queue(pool, adaptive=AdaptiveOptions(budget=2))
    plan = QueryPlan.objects.get(selection=queue.pk)
    assert plan.reached == [[known.pk, 0]]
    assert plan.found == 1
    assert len(order_of(queue)) == 2


def test_what_labels_leave_of_a_pool_limits_its_share_and_the_others_get_the_rest(world: World) -> None:
    pool = make_adaptive_pool(world, queries=2, documents=6, audit_share=0.0)
    ImportedLabel.objects.bulk_create(
        ImportedLabel(collection=world.collection, query=entry.query, document=entry.document, relevance=0)
        for entry in pool.entries.filter(query__external_id="q1")[:4]
    )
    ImportedLabel.objects.update(imported_at=pool.built_at.replace(year=2020))
    options = QueueOptions(adaptive=AdaptiveOptions(budget=8))
    assert workload_of(pool, options).pairs == 8
    queue = open_queue(pool, adaptive=options.adaptive)
    assert [len(order_of(queue, query)) for query in ("q1", "q2")] == [2, 6]


def test_a_budget_for_what_turns_up_goes_to_the_query_with_relevant_documents(world: World) -> None:
    adaptive = AdaptiveOptions(budget=10, budget_rule="greedy", budget_floor=2)
    queue = make_adaptive_queue(world, queries=2, documents=6, audit_share=0.0, adaptive=adaptive)
    while leases := claim(queue, world.ben, 2).leases:
        for lease in leases:
            is_first = lease.item.query.external_id == "q1"
            judge(queue, world.ben, lease.item_id, "relevant" if is_first else "not_relevant")
    settled = dict(QueryPlan.objects.filter(selection=queue.pk).values_list("query__external_id", "settled"))
    assert sum(settled.values()) == 10
    assert settled["q1"] > settled["q2"] >= 2
    finished = QueryPlan.objects.filter(selection=queue.pk).values_list("finished_by", flat=True)
    assert set(finished) <= {"budget", "pool"}


def test_an_order_that_cannot_be_made_loses_no_verdict(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    queue = one_query(world)
    monkeypatch.setattr(reordering, "_order", lambda *arguments, **options: 1 / 0)
    for lease in claim(queue, world.ben, 2).leases:
        assert judge(queue, world.ben, lease.item_id).status == "stored"
    assert "could not be ordered again" in caplog.text
    assert claim(queue, world.ben, 4).leases


def test_one_query_is_ordered_as_if_all_were_at_hand(world: World) -> None:
    """What the other queries teach is summed, and makes the same order as all labels together."""
    finds = [(f"d{n}", 1 / (61 + n), [[run, n * (run + 1) % 7 + 1] for run in range(3)]) for n in range(6)]
    pools = {name: candidates_of_query(name, finds, runs=3, depth=7) for name in ("a", "b", "c")}
    learned = STRATEGIES["learned"].start(pools)
    lessons = []
    for place, name in enumerate(pools):
        for number in range(place + 2):
            learned.tell(name, f"d{number}", (number + place) % 2 == 0)
        lessons.append(learned.lesson(pools[name]))
    alone = STRATEGIES["learned"].start({"c": pools["c"]})
    alone.heed(lessons[0] + lessons[1])
    for number in range(4):
        alone.tell("c", f"d{number}", number % 2 == 0)
    assert alone.score(pools["c"]) == pytest.approx(learned.score(pools["c"]), abs=1e-12)


@pytest.mark.parametrize(
    ("strategy", "audit_share", "adaptive", "field"),
    [
        ("rrf", 0.2, AdaptiveOptions(), "adaptive"),
        ("learned", 0.2, AdaptiveOptions(budget=0), "budget"),
        ("learned", 0.2, AdaptiveOptions(budget_rule="wild"), "budget_rule"),
        ("learned", 0.2, AdaptiveOptions(budget_rule="greedy"), "budget_rule"),
        ("learned", 0.2, AdaptiveOptions(budget=3, budget_floor=4), "budget_floor"),
        ("learned", 0.0, AdaptiveOptions(stop_missing=0.1), "stop_missing"),
        ("learned", 0.2, AdaptiveOptions(stop_missing=1.5), "stop_missing"),
        ("learned", 0.2, AdaptiveOptions(stop_missing=0.1, stop_looks=0), "stop_looks"),
        ("learned", 0.2, AdaptiveOptions(stop_over="week"), "stop_over"),
        ("learned", 0.2, AdaptiveOptions(budget=5, budget_rule="greedy", stop_missing=0.1), "stop_over"),
    ],
)
def test_what_will_not_do_is_refused_and_nothing_is_stored(
    world: World, strategy: str, audit_share: float, adaptive: AdaptiveOptions, field: str
) -> None:
    with pytest.raises(InputError) as refused:
        make_adaptive_queue(world, strategy=strategy, audit_share=audit_share, adaptive=adaptive)
    assert field in refused.value.fields
    assert not Queue.objects.exists()
    assert not Selection.objects.exists()


def test_the_looks_are_fixed_beforehand_and_never_at_the_end() -> None:
    assert look_points(100, 4) == [20, 40, 60, 80]
    assert look_points(7, 1) == [4]
