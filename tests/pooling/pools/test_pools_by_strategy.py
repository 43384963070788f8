"""Stored pools take every strategy, in the order that the files alone would give."""

from __future__ import annotations

from typing import Any

import pytest

from pooling.interface.problems import InputError
from pooling.merging.merging import build_pool
from pooling.models import Pool
from pooling.pools.building import build_pool as build_stored_pool
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


def test_an_audit_beside_a_sample_is_refused(world: World) -> None:
    with pytest.raises(InputError, match="a random sample already") as refused:
        stored(world, "sampling", audit_share=0.1)
    assert list(refused.value.fields) == ["audit_share"]
