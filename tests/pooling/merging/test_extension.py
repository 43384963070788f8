"""The next version of a pool: what stays, what is new, and what is refused."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from pooling.interface.problems import InputError
from pooling.models import Collection, Pool, PoolEntry, Run
from pooling.pool_models import IN_RESERVE
from pooling.pools.building import build_pool, pool_lines
from pooling.pools.versions import extend_pool
from pooling.runs.stored import import_run
from tests.world import World, run_text

KEPT = ("query_id", "document_id", "position", "in_audit", "inclusion_probability")
GAMMA = {"q1": ["d3", "d1"], "q2": ["d4", "d2"], "q3": ["d3", "d5"]}


def gamma(world: World, name: str = "gamma", collection: Collection | None = None) -> Run:
    path = world.folder / f"{name}.run"
    path.write_text(run_text(GAMMA))
    return import_run(collection or world.collection, path)


def kept(pool: Pool, **conditions: Any) -> set[tuple[Any, ...]]:
    return set(pool.entries.filter(**conditions).values_list(*KEPT))


def test_what_was_pooled_stays_as_it_was_and_new_pairs_come_behind(world: World) -> None:
    pool = world.build_pool(depth=2)
    wider = extend_pool(pool, runs=[gamma(world)])
    assert (wider.name, wider.version, wider.extends) == ("first pool, version 2", 2, pool)
    assert kept(wider, version=1) == kept(pool)
    new = wider.entries.filter(version=2).values_list("query__external_id", "document__external_id")
    assert set(new) == {("q1", "d3"), ("q2", "d4")}
    assert wider.diagnostics["new"] == {
        "pairs": 2,
        "chosen": 2,
        "queries": 2,
        "audit": 0,
        "runs": ["gamma"],
    }
    for entry in wider.entries.filter(version=2):
        assert entry.position == wider.entries.filter(query=entry.query).count()
    # Who found it is told anew.
    shared = wider.entries.get(query__external_id="q1", document__external_id="d1")
    assert shared.found_by == [[0, 1], [1, 2], [2, 2]]
    assert [place.run.name for place in wider.pool_runs.all()] == ["alpha", "beta", "gamma"]


def test_a_greater_depth_extends_too_and_a_third_version_the_second(world: World) -> None:
    pool = world.build_pool(depth=1)
    deeper = extend_pool(pool, depth=2)
    third = extend_pool(deeper, runs=[gamma(world)], name="third")
    assert [one.pk for one in third.versions()] == [pool.pk, deeper.pk, third.pk]
    assert kept(third, version=1) == kept(pool)
    assert kept(third, version__lte=2) == kept(deeper)
    whole = build_pool(world.collection, name="whole", runs=list(world.collection.runs.all()), depth=2)
    pairs = ("query", "document", "run_count", "best_rank", "rrf")
    assert set(third.entries.values_list(*pairs)) == set(whole.entries.values_list(*pairs))


def test_new_pairs_have_a_budget_and_an_audit_of_their_own(world: World) -> None:
    runs = world.import_runs()
    pool = build_pool(world.collection, name="p", runs=runs[:1], depth=2, budget=5, audit_share=0.3, seed=3)
    deeper = extend_pool(pool, runs=runs[1:], depth=3, budget=4)
    assert kept(deeper, version=1) == kept(pool)
    new = deeper.entries.filter(version=2)
    assert deeper.audit_share == 0.3
    assert new.filter(inclusion_probability__isnull=False).count() == 4 < new.count()
    for query in world.collection.queries.all():
        of_query = new.filter(query=query)
        assert not of_query.exists() or of_query.filter(in_audit=True).exists()
    header, first = list(pool_lines(deeper))[:2]
    assert header.split()[-1] == "version"
    assert first.split("\t")[-1] in {"1\n", "2\n"}


def test_what_a_learning_order_may_only_come_to_draw_is_not_new(world: World) -> None:
    pool = build_pool(
        world.collection,
        name="p",
        runs=world.import_runs(),
        depth=1,
        strategy="hybrid",
        reach=9,
        audit_share=0.3,
    )
    wider = extend_pool(pool, runs=[gamma(world)])
    assert PoolEntry.everything.filter(IN_RESERVE, pool=wider, version=2).exists()
    assert wider.diagnostics["new"]["pairs"] == wider.pair_count - pool.pair_count


def test_one_sentence_for_each_thing_that_cannot_be(world: World) -> None:
    runs = world.import_runs()
    pool = build_pool(world.collection, name="p", runs=runs, depth=2, budget=5, audit_share=0.3)
    elsewhere = Collection.objects.create(slug="elsewhere", name="Elsewhere")
    elsewhere.queries.create(external_id="q1", text="q")
    picked = Pool.objects.create(collection=world.collection, name="found", depth=1, strategy="search")
    third = gamma(world)
    asked: list[tuple[dict[str, Any], str]] = [
        ({}, "Nothing would be new. Add a run or choose a greater depth."),
        ({"runs": runs[:1]}, "Run “alpha” is already in pool “p”."),
        ({"runs": [gamma(world, "foreign", elsewhere)]}, "Run “foreign” belongs to another collection."),
        ({"runs": [third], "depth": 1}, r"An extension must be at least as deep as its pool \(2\)\."),
        ({"runs": [third], "strategy": "sampling"}, "Choose a strategy that does not sample."),
        ({"runs": [third], "strategy": "none"}, "none"),
        ({"runs": [third], "budget": 2, "audit_share": 0.0}, "Pool “p” has an audit."),
        ({"runs": [third], "name": "p"}, "Pool “p” already exists."),
    ]
    for options, sentence in asked:
        with pytest.raises(InputError, match=sentence):
            extend_pool(pool, **options)
    with pytest.raises(InputError, match="were picked individually"):
        extend_pool(picked, runs=[third])
    assert world.collection.pools.count() == 2
    extend_pool(pool, runs=[third])
    with pytest.raises(InputError, match="is already extended by “p, version 2”"):
        extend_pool(pool, depth=3)


def test_a_depth_of_its_own_is_kept_and_may_grow(world: World) -> None:
    pool = build_pool(
        world.collection, name="p", runs=world.import_runs(), depth=2, depths={"alpha": 1, "beta": 2}
    )
    assert (pool.depths, pool.depth_of("alpha"), pool.pair_count) == ({"alpha": 1}, 1, 8)
    wider = extend_pool(pool, runs=[gamma(world)], depths={"gamma": 1})
    assert wider.depths == {"alpha": 1, "gamma": 1}
    assert wider.diagnostics["new"]["pairs"] == 2
    with pytest.raises(InputError, match="at least as deep as its pool, which has 2 of “beta”"):
        extend_pool(wider, depths={"beta": 1})
    with pytest.raises(InputError, match="Nothing would be new"):
        extend_pool(wider, depths={"alpha": 1})
    out = StringIO()
    call_command("build_pool", "harbour", "--extend", wider.name, "--run-depth", "alpha=3", stdout=out)
    third = Pool.objects.get(extends=wider)
    assert third.depths == {"alpha": 3, "gamma": 1}
    assert third.entries.filter(query__external_id="q1", document__external_id="d5").exists()


def test_runs_that_bring_nothing_new_are_refused(world: World) -> None:
    pool = world.build_pool(depth=2)
    path = world.folder / "same.run"
    path.write_text(run_text({"q1": ["d1", "d4"]}))
    with pytest.raises(InputError, match="Nothing is new: the top 2 documents of these runs are all in"):
        extend_pool(pool, runs=[import_run(world.collection, path)])
    assert Pool.objects.count() == 1


def test_the_page_offers_no_runs_where_there_are_none(world: World, client: Client) -> None:
    pool = world.build_pool(depth=1)
    client.force_login(world.ada)
    address = f"/collections/harbour/pools/{pool.pk}/extend/"
    page = client.get(address).content.decode()
    assert "Every run of the collection is already in this pool." in page
    assert "New runs" not in page
    pool.runs.filter(name="alpha").update(deleted_at=timezone.now())
    page = client.get(address).content.decode()
    assert "Run “alpha” of pool" in page
    assert "Every run" not in page
    Run.everything.update(deleted_at=None)
    assert client.post(address, {"name": "deeper", "depth": "2", "strategy": "rrf"}).status_code == 302
    assert Pool.objects.get(extends=pool).pair_count == 8


def test_over_http_and_by_command(world: World) -> None:
    pool = world.build_pool(depth=1)
    client = APIClient()
    address = f"/api/pools/{pool.pk}/extend/"
    client.force_authenticate(world.ada)
    refused = client.post(address, {"runs": ["none"]}, format="json")
    assert "There is no run “none”" in refused.data["detail"]
    made = client.post(address, {"depth": 2}, format="json")
    assert made.status_code == 201
    assert (made.data["version"], made.data["new"]["pairs"]) == (2, 2)
    gamma(world)
    out = StringIO()
    call_command("build_pool", "harbour", "--extend", "first pool, version 2", stdout=out)
    assert (
        "“first pool, version 3”: 10 pairs of 3 queries, 2 of them new and 2 of these chosen."
        in out.getvalue()
    )
