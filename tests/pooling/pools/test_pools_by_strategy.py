"""Stored pools take every strategy, in the order that the files alone would give."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command
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


def test_a_strategy_that_is_an_audit_takes_no_share_of_nothing(world: World, client: Client) -> None:
    world.import_runs()
    client.force_login(world.ada)
    asked = {"depth": 2, "strategy": "hybrid", "audit_share": 0}
    problem = "The strategy hybrid is learned with an audit, so its audit share cannot be 0. Choose learned"
    address = "/api/collections/harbour/pools/"
    body = {"name": "none", "runs": ["alpha"], **asked}
    call = client.post(address, body, content_type="application/json")
    assert (call.status_code, list(call.json()["fields"])) == (400, ["audit_share"])
    assert call.json()["fields"]["audit_share"].startswith(problem)
    form = client.get("/collections/harbour/pools/new/").context["form"]
    filled = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    page = client.post("/collections/harbour/pools/new/", {**filled, **asked})
    assert page.context["form"].errors["audit_share"][0].startswith(problem)
    assert client.get("/api/collections/harbour/plan/", asked).json()["fields"].keys() == {"audit_share"}
    for command in (["build_pool", "harbour", "--name", "none"], ["plan", "harbour"]):
        with pytest.raises(CommandError, match="so its audit share cannot be 0"):
            call_command(*command, "--depth", "2", "--audit-share", "0")
    with pytest.raises(ValueError, match="so its audit share cannot be 0"):
        soundings.pool({"a": {"q": {"d": 1.0}}}, **asked)
    assert not Pool.objects.exists()


def test_another_order_of_new_pairs_brings_its_audit(world: World) -> None:
    runs = world.import_runs()
    pool = build_stored_pool(world.collection, name="first", runs=runs, depth=1, strategy="rrf")
    with pytest.raises(InputError, match="so its audit share cannot be 0"):
        extend_pool(pool, depth=2, strategy="hybrid", audit_share=0.0)
    made = extend_pool(pool, depth=2, strategy="hybrid")
    assert (pool.audit_share, made.audit_share) == (0.0, 0.2)


def test_an_audit_beside_a_sample_is_refused(world: World) -> None:
    with pytest.raises(InputError, match="a random sample already") as refused:
        stored(world, "sampling", audit_share=0.1)
    assert list(refused.value.fields) == ["audit_share"]
