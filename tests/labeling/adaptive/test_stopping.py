"""Stopping by what the audit says: the looks, the bounds and their error, and what follows a stop."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.bench_bounds import rates
from evaluation.estimates.stored_sample import read_sample
from labeling.adaptive import reordering
from labeling.adaptive.finishing import finish_queries
from labeling.adaptive.options import AdaptiveOptions
from labeling.adaptive.state import endings_sentence, order_by_query
from labeling.judging.leases import claim
from labeling.models import QueryPlan, Queue, Selection
from labeling.qrels.labels import current_labels
from labeling.qrels.releases import read_release, release_qrels
from pooling.interface.problems import InputError
from pooling.models import Job, Query
from tests.labeling.helpers import judge, make_adaptive_queue
from tests.world import World


@pytest.mark.parametrize(
    ("strategy", "campaigns", "has_prior"),
    [("maxmean", 80, False), ("learned", 40, False), ("learned", 40, True)],
)
def test_the_looks_of_a_campaign_err_in_at_most_five_of_a_hundred_where_labels_move_the_order(
    strategy: str, campaigns: int, has_prior: bool
) -> None:
    """And what was drawn is a fair sample of what is not reached, also where scores are taken up midway."""
    found = rates(strategy, campaigns, has_prior=has_prior)
    assert found.hold, found


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reordering, "BATCH", 2)


def one_query(world: World, **options: float | str) -> Queue:
    """Six documents of one query, half of them drawn, and a generous bound."""
    adaptive = AdaptiveOptions(**{"stop_missing": 0.9, "stop_looks": 1, **options})
    return make_adaptive_queue(world, queries=1, documents=6, audit_share=0.5, adaptive=adaptive)


def judge_all(queue: Queue, world: World, relevant: bool = True, most: int = 99) -> int:
    """Judge what comes, until nothing does; returns how many."""
    count = 0
    while count < most and (leases := claim(queue, world.ben, min(2, most - count)).leases):
        for lease in leases:
            judge(queue, world.ben, lease.item_id, "relevant" if relevant else "not_relevant")
            count += 1
    return count


@pytest.mark.django_db
@pytest.mark.usefixtures("small_batches")
def test_a_bound_stops_a_query_and_documents_are_drawn_anew(world: World) -> None:
    queue = one_query(world)
    count = judge_all(queue, world)
    plan = QueryPlan.objects.get(selection=queue.pk)
    assert plan.finished_by == "bound"
    (look,) = [look for look in plan.looks if look]
    assert look["stops"]
    assert look["level"] == 0.05
    assert look["at_most_missing"] <= 0.9 / 0.1 * look["found"]
    assert plan.draw == 2
    assert plan.fresh >= 1
    assert count == plan.spent
    audit = read_sample(queue.pool, release_qrels(world.collection, name="r"), labels(world), 1)
    (row,) = audit.strata.to_dicts()
    assert row["sampled"] == plan.fresh
    assert row["certain"] == count - plan.fresh
    assert row["remainder"] == 6 - row["certain"]


def labels(world: World):  # type: ignore[no-untyped-def]
    """The labels as a report takes them."""
    return current_labels(world.collection).frame.select("query_id", "document_id", "relevance")


@pytest.mark.django_db
@pytest.mark.usefixtures("small_batches")
def test_a_run_of_documents_that_are_not_relevant_stops_nothing(world: World) -> None:
    queue = one_query(world)
    assert judge_all(queue, world, relevant=False) == 6
    assert QueryPlan.objects.get(selection=queue.pk).finished_by == "pool"


@pytest.mark.django_db
@pytest.mark.usefixtures("small_batches")
def test_a_bound_over_the_queue_stops_all_queries_at_one_look(world: World) -> None:
    adaptive = AdaptiveOptions(stop_missing=0.9, stop_looks=1, stop_over="queue")
    queue = make_adaptive_queue(world, queries=3, documents=4, audit_share=0.5, adaptive=adaptive)
    judge_all(queue, world)
    selection = Selection.objects.get(queue=queue)
    (look,) = selection.looks
    assert look["stops"]
    by = set(selection.plans.values_list("finished_by", flat=True))
    assert "bound" in by
    assert by <= {"bound", "pool"}
    # The look has used up the audit of every query: estimates rest on what is drawn anew.
    for plan in selection.plans.filter(finished_by="bound"):
        assert (plan.draw, plan.fresh >= 1) == (2, True)


@pytest.mark.django_db
@pytest.mark.usefixtures("small_batches")
def test_a_job_finishes_at_once_all_queries_that_one_request_does_not(
    world: World, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(reordering, "AT_ONCE", 1)
    adaptive = AdaptiveOptions(stop_missing=0.9, stop_looks=1, stop_over="queue")
    queue = make_adaptive_queue(world, queries=3, documents=8, audit_share=0.5, adaptive=adaptive)
    selection = Selection.objects.get(queue=queue)
    # The first query is at its budget: nothing of it is left to stop, and it is in nobody's way.
    first = selection.plans.order_by("place").first()
    selection.plans.filter(pk=first.pk).update(budget=2)
    while not reordering.is_stopped(selection):
        with django_capture_on_commit_callbacks(execute=True):
            assert judge_all(queue, world, most=1)
        selection.refresh_from_db()
    others = selection.plans.exclude(pk=first.pk)
    assert set(others.values_list("finished_by", flat=True)) == {"bound"}
    job = Job.objects.get(kind="finish")
    assert (job.state, job.result["finished"]) == ("done", 1)


@pytest.mark.django_db
@pytest.mark.usefixtures("small_batches")
def test_a_query_finished_by_hand_after_a_look_at_all_queries_draws_anew_too(world: World) -> None:
    adaptive = AdaptiveOptions(stop_missing=0.01, stop_looks=1, stop_over="queue")
    queue = make_adaptive_queue(world, queries=2, documents=6, audit_share=0.5, adaptive=adaptive)
    judge_all(queue, world, most=6)
    assert Selection.objects.get(queue=queue).looks
    finish_queries(queue, None)
    plans = QueryPlan.objects.filter(selection=queue.pk, finished_by="hand", spent__lt=6)
    assert plans
    assert {plan.draw for plan in plans} == {2}


@pytest.mark.django_db
@pytest.mark.usefixtures("small_batches")
def test_an_admin_finishes_a_query_and_the_release_says_by_what(world: World) -> None:
    queue = make_adaptive_queue(
        world, queries=2, documents=6, audit_share=0.3, adaptive=AdaptiveOptions(budget=8)
    )
    judge_all(queue, world, most=2)
    first = Query.objects.get(items__pk=queue.items.filter(state="done").first().pk)
    assert finish_queries(queue, [first.external_id], by=world.ada) == 1
    assert finish_queries(queue, [first.external_id], by=world.ada) == 0
    judge_all(queue, world)
    release = release_qrels(world.collection, name="r")
    (frozen,) = release.sidecar["selections"]
    assert frozen["finished"] == {"": 0, "budget": 1, "pool": 0, "bound": 0, "hand": 1}
    assert endings_sentence(frozen["finished"]) == "2 queries: 1 by its budget, 1 by hand."
    ends = {row["query_id"]: row["finished_by"] for row in frozen["queries"]}
    assert ends[first.external_id] == "hand"
    audit = read_sample(queue.pool, release, read_release(release), 1)
    assert set(audit.defined) == set(ends)
    assert audit.sample.height + audit.unsampled.height == 12


@pytest.mark.django_db
def test_what_cannot_be_finished_is_refused(world: World) -> None:
    queue = make_adaptive_queue(world)
    with pytest.raises(InputError, match="no query “q9”"):
        finish_queries(queue, ["q9"])
    queue.is_adaptive = False
    with pytest.raises(InputError, match="fixed order"):
        finish_queries(queue, None)


@pytest.mark.django_db
def test_what_the_audit_shows_is_told_only_where_it_was_looked_at(world: World) -> None:
    queue = make_adaptive_queue(world, audit_share=0.5, adaptive=AdaptiveOptions(stop_missing=0.1))
    told = order_by_query(queue)
    assert told is not None
    assert all(row["looks"] == [] and row["next_look"] for row in told["queries"])
    assert not {"sampled", "remainder", "audit"} & set(told["queries"][0])
