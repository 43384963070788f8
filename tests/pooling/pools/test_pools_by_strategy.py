"""Stored pools take every strategy, in the order that the files alone would give."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

import soundings
from pooling.interface.problems import InputError
from pooling.merging.merging import build_pool
from pooling.models import Pool
from pooling.pools.building import build_pool as build_stored_pool
from pooling.pools.versions import extend_pool
from pooling.runs.stored import read_stored_run
from pooling.strategies import STRATEGIES
from tests.world import World


def stored(world: World, strategy: str, **options: Any) -> Pool:
    runs = list(world.collection.runs.order_by("name")) or world.import_runs()
    name = f"{strategy} {options}"
    return build_stored_pool(
        world.collection, name=name, runs=runs, depth=4, strategy=strategy, user=world.ada, **options
    )


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_stored_pool_is_in_the_order_of_the_files(world: World, name: str) -> None:
    pool = stored(world, name, budget=6, seed=3)
    frames = {run.name: read_stored_run(run) for run in world.collection.runs.order_by("name")}
    pooled = build_pool(frames, depth=4, strategy=name, budget=6, seed=3)
    columns = ("query_id", "document_id", "position", "in_audit", "inclusion_probability")
    entries = pool.entries.order_by("query__external_id", "position").values_list(
        "query__external_id", "document__external_id", "position", "in_audit", "inclusion_probability"
    )
    assert list(entries) == pooled.select(columns).rows()


def test_a_hybrid_pool_keeps_the_audit_share_it_was_built_with(world: World) -> None:
    assert stored(world, "hybrid").audit_share == 0.2
    assert stored(world, "hybrid", audit_share=0.5).audit_share == 0.5


def test_a_strategy_that_is_an_audit_draws_nothing_with_a_share_of_nothing(
    world: World, client: Client
) -> None:
    world.import_runs()
    client.force_login(world.ada)
    given = {"depth": 2, "budget": 2, "strategy": "hybrid", "audit_share": 0}
    body = {"name": "call", "runs": ["alpha"], **given}
    client.post("/api/collections/harbour/pools/", body, content_type="application/json")
    form = client.get("/collections/harbour/pools/new/").context["form"]
    filled = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    filled.pop("reach")
    client.post("/collections/harbour/pools/new/", {**filled, **given, "name": "page"})
    options = ["--depth", "2", "--budget", "2", "--audit-share", "0"]
    call_command("build_pool", "harbour", "--name", "command", *options)

    assert set(Pool.objects.values_list("name", "strategy", "audit_share")) == {
        (name, "learned", 0.0) for name in ("call", "page", "command")
    }
    assert client.get("/api/collections/harbour/plan/", given).json()["settings"]["audit_share"] == 0
    file = soundings.pool({"a": {"q": {"d": 1.0, "e": 0.5}}}, **{**given, "budget": 1})
    assert file["in_audit"].to_list() == [False, False]


def test_another_order_of_new_pairs_brings_its_audit(world: World) -> None:
    runs = world.import_runs()
    pool = build_stored_pool(world.collection, name="first", runs=runs, depth=1, strategy="rrf")
    made = extend_pool(pool, depth=2, strategy="hybrid")
    assert (pool.audit_share, made.audit_share) == (0.0, 0.2)


def test_an_audit_beside_a_sample_is_refused(world: World) -> None:
    with pytest.raises(InputError, match="a random sample already") as refused:
        stored(world, "sampling", audit_share=0.1)
    assert list(refused.value.fields) == ["audit_share"]
