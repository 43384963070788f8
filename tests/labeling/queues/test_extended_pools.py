"""A queue over the next version of a pool: only what is new is judged, and labels that are there count."""

from __future__ import annotations

import pytest

from labeling.models import Queue
from labeling.progress.judged_share import judged_share, judged_share_of_pool
from labeling.qrels.imported import import_qrels
from labeling.qrels.releases import release_qrels
from labeling.queues.opening import change_state, open_queue
from labeling.queues.options import QueueOptions
from labeling.queues.views import queue_figures
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.pools.building import build_pool, pooled_frame
from pooling.pools.versions import extend_pool
from pooling.runs.stored import import_run
from pooling.texts.importing import import_queries
from tests.labeling.helpers import judge
from tests.pooling.merging.test_extension import gamma
from tests.testdata import DATA, needs_data
from tests.world import World


def pairs(queue: Queue) -> set[tuple[str, str]]:
    return set(queue.items.values_list("query__external_id", "document__external_id"))


def judge_all(world: World, queue: Queue) -> None:
    for item in queue.items.order_by("pk"):
        judge(queue, world.ben, item.pk)


def test_only_new_pairs_are_queued_and_releases_name_the_version(world: World) -> None:
    pool = world.build_pool(depth=2)
    first = open_queue(pool, seed=1)
    judge_all(world, first)
    wider = extend_pool(pool, runs=[gamma(world)])
    before = {row["run"]: (row["before"], row["now"]) for row in judged_share_of_pool(wider)}
    # Of gamma's first two documents, d3 of q1 and d4 of q2 are new.
    assert before == {"alpha": (1, 1), "beta": (1, 1), "gamma": (2 / 3, 2 / 3)}
    second = open_queue(wider, seed=1)
    assert pairs(second) == {("q1", "d3"), ("q2", "d4")}
    judge_all(world, second)
    after = {row["run"]: (row["before"], row["now"]) for row in judged_share(second)}
    assert after["gamma"] == (2 / 3, 1)
    sidecar = release_qrels(world.collection, name="both").sidecar
    assert [(one["name"], one["version"], one["extends"]) for one in sidecar["pools"]] == [
        ("first pool, version 2", 2, "first pool"),
        ("first pool", 1, None),
    ]
    assert sidecar["counts"]["pairs"] == 10
    with pytest.raises(InputError, match="already has a label, or waits in another queue"):
        open_queue(wider, name="again", seed=1)


def test_what_waits_in_another_queue_waits_there_until_that_is_closed(world: World) -> None:
    pool = world.build_pool(depth=2)
    first = open_queue(pool, seed=1)
    judged = first.items.order_by("pk")[0]
    judge(first, world.ben, judged.pk)
    wider = extend_pool(pool, runs=[gamma(world)])
    (to_judge, *_) = queue_figures(wider, QueueOptions())
    waiting = len(pairs(first)) - 1
    assert (to_judge.value, to_judge.note) == ("2", f"{waiting} more wait in other queues")
    assert pairs(open_queue(wider, seed=1)) == {("q1", "d3"), ("q2", "d4")}
    change_state(first, Queue.State.CLOSED)
    Queue.objects.filter(pool=wider).delete()
    done = {(judged.query.external_id, judged.document.external_id)}
    assert pairs(open_queue(wider, name="rest", seed=1)) == (pairs(first) - done) | {
        ("q1", "d3"),
        ("q2", "d4"),
    }


@needs_data
def test_a_fifth_run_of_dl19_brings_125_pairs_and_305_of_its_places_have_their_label(world: World) -> None:
    """The first ten of four runs are 962 pairs of 43 queries; the figures are those that the guide tells."""
    folder = DATA / "dl19"
    collection = Collection.objects.create(slug="dl19", name="TREC DL 2019")
    import_queries(collection, folder / "queries.jsonl")
    *four, fifth = [
        import_run(collection, folder / "runs" / f"{name}.run")
        for name in ("bm25", "bm25-rm3", "tas-b", "splade-pp-ed", "repllama")
    ]
    pool = build_pool(collection, name="top 10", runs=four, depth=10)
    assert (pool.pair_count, pool.query_count) == (962, 43)
    labels = world.folder / "first.qrels"
    labels.write_text("".join(f"{query} 0 {document} 0\n" for query, document in pooled_frame(pool).rows()))
    import_qrels(collection, labels)

    wider = extend_pool(pool, runs=[fifth])
    assert (wider.diagnostics["new"]["pairs"], wider.pair_count) == (125, 962 + 125)
    queue = open_queue(wider, seed=1)
    brought = wider.entries.filter(version=2).values_list("query__external_id", "document__external_id")
    assert pairs(queue) == set(brought)
    assert len(brought) == 125

    def judged(run: str) -> tuple[float, float]:
        row = next(row for row in judged_share(queue) if row["run"] == run)
        return row["before"], row["now"]

    share = pytest.approx(305 / 430)  # 0.709
    assert judged("repllama") == (share, share)
    collection.memberships.create(user=world.ben, role="annotator")
    judge_all(world, queue)
    assert judged("repllama") == (share, 1)
    assert judged("bm25") == (1, 1)
    sidecar = release_qrels(collection, name="both").sidecar
    assert [(one["name"], one["version"], one["extends"]) for one in sidecar["pools"]] == [
        ("top 10, version 2", 2, "top 10"),
        ("top 10", 1, None),
    ]
    assert sidecar["counts"]["pairs"] == 962 + 125
