"""Estimates over the versions of a pool: a stratum for each query and version, with its own audit."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.estimates.pool_choice import pools_to_rest_on
from evaluation.estimates.pool_file import design_of_files
from evaluation.estimates.stored_sample import read_sample
from labeling.qrels.releases import read_release, release_qrels
from pooling.formats.pools import read_pool
from pooling.models import Pool, PoolEntry
from pooling.pools.building import build_pool, pool_lines
from pooling.pools.versions import extend_pool
from tests.evaluation.cast import make_release, make_report
from tests.pooling.merging.test_extension import gamma
from tests.world import World

pytestmark = pytest.mark.anywhere


def extended(world: World) -> Pool:
    """Two of alpha's three documents of each query are chosen, then three of what beta adds."""
    runs = world.import_runs()
    pool = build_pool(world.collection, name="p", runs=runs[:1], depth=3, budget=6, audit_share=0.3, seed=5)
    return extend_pool(pool, runs=runs[1:], budget=3)


@pytest.mark.database
def test_each_version_is_a_stratum_with_its_own_audit(world: World) -> None:
    pool = extended(world)
    release = make_release(world)
    sample = read_sample(pool, release, read_release(release), 1)
    by_draw = {
        (row["query_id"], row["draw"]): (row["pairs"], row["remainder"], row["sampled"])
        for row in sample.strata.to_dicts()
    }
    for (query, draw), (pairs, remainder, sampled) in by_draw.items():
        brought = pool.entries.filter(query__external_id=query, version=draw)
        assert pairs == brought.count()
        left = brought.exclude(inclusion_probability=1)
        assert remainder == left.count()
        assert sampled == left.filter(in_audit=True).count()
    assert {draw for _, draw in by_draw} == {1, 2}
    # The first version's part is what it was before.
    assert pool.extends is not None
    alone = read_sample(pool.extends, release, read_release(release), 1)
    assert alone.strata.rows() == sample.strata.filter(draw=1).rows()


def test_the_file_of_an_extended_pool_tells_the_same(world: World) -> None:
    from evaluation import evaluate

    pool = extended(world)
    release = make_release(world)
    path = world.folder / "pool.tsv"
    path.write_text("".join(pool_lines(pool)))
    qrels = read_release(release)
    run = read_pool(path).select("query_id", "document_id", score=1.0)
    told = design_of_files({"pool": read_pool(path)}, evaluate(qrels, {"all": run}, [3]))
    stored = read_sample(pool, release, qrels, 1)
    columns = ["query_id", "draw", "remainder", "sampled"]
    assert told.audit.strata.select(columns).rows() == stored.strata.select(columns).rows()


@pytest.mark.database
def test_what_search_alone_found_is_no_part_of_an_estimate(world: World) -> None:
    pool = world.build_pool(depth=1)
    found = Pool.objects.create(collection=world.collection, name="found", depth=1, strategy=Pool.SEARCH)
    PoolEntry.objects.create(
        pool=found,
        query=world.collection.queries.get(external_id="q1"),
        document=world.collection.documents.get(external_id="d3"),
        position=1,
        run_count=0,
        best_rank=0,
        rrf=0,
    )
    release = make_release(world, "q1 0 d1 1\nq1 0 d4 0\nq1 0 d3 1\nq1 0 d5 0\n")
    assert pools_to_rest_on(world.collection) == [pool]
    counted = read_sample(pool, release, read_release(release), 1).sample
    of_first = counted.filter(query_id="q1")["document_id"].to_list()
    assert of_first == ["d1", "d4", "d5"]


def test_a_report_tells_judged_at_k_of_a_new_run_before_and_after(world: World, client: Client) -> None:
    pool = world.build_pool(depth=2)
    # Known when the next version is built: all of the first.
    labels = [f"{query} 0 {document} 1" for query, document in pool.entries.values_list(*KEYS)]
    make_release(world, "\n".join(labels) + "\n", name="before")
    extend_pool(pool, runs=[gamma(world)])
    path = world.folder / "more.qrels"
    path.write_text("q1 0 d3 0\n")
    from labeling.qrels.imported import import_qrels

    import_qrels(world.collection, path)
    release_qrels(world.collection, name="after")
    report = make_report(world, k=(2,))
    told = report.result["estimates"]["pool"]
    assert told["extends"] == "first pool"
    assert told["judged_before"] == {"gamma": {"2": pytest.approx(4 / 6)}}
    assert report.result["runs"]["gamma"]["judged@2"]["mean"] == pytest.approx(5 / 6)
    client.force_login(world.vera)
    page = client.get(reverse("report", args=[report.pk]) + "?k=2").content.decode()
    assert "without and with the labels that it added" in page


KEYS = ("query__external_id", "document__external_id")
