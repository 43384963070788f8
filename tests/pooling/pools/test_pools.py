"""Pools: what is stored, and what is refused."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import pytest
from django.db import DatabaseError

from pooling.interface.problems import InputError
from pooling.merging import merging
from pooling.merging.choice import Choice
from pooling.models import Document, Pool, PoolEntry
from pooling.options import options_of
from pooling.pools.building import build_pool, pool_lines, pooled_frame
from pooling.pools.serializers import PoolRequestSerializer
from pooling.pools.views import PoolForm
from pooling.runs.stored import import_run
from tests.world import World


def pairs(pool: Pool) -> set[tuple[str, str]]:
    return set(pool.entries.values_list("query__external_id", "document__external_id"))


def test_every_option_is_asked_for_and_kept() -> None:
    options = options_of(Choice)
    assert options.keys() <= {field.name for field in Pool._meta.get_fields()}
    assert options.keys() <= PoolRequestSerializer().fields.keys()
    assert options.keys() <= {*PoolForm.base_fields}
    arguments = signature(merging.build_pool).parameters
    assert {name: arguments[name].default or {} for name in options if name != "depth"} == {
        name: one.default or {} for name, one in options.items() if name != "depth"
    }


def test_a_pool_is_the_union_of_the_tops(world: World) -> None:
    pool = world.build_pool(depth=2)
    assert pairs(pool) == {
        *[("q1", "d1"), ("q1", "d4")],
        *[("q2", "d2"), ("q2", "d6"), ("q2", "d3")],
        *[("q3", "d3"), ("q3", "d5"), ("q3", "d4")],
    }
    assert (pool.pair_count, pool.chosen_count, pool.query_count) == (8, 8, 3)


def test_each_entry_says_who_found_it_and_where(world: World) -> None:
    pool = world.build_pool(depth=2)
    entry = pool.entries.get(query__external_id="q2", document__external_id="d6")
    # Second in alpha, first in beta.
    assert entry.found_by == [[0, 2], [1, 1]]
    assert (entry.position, entry.run_count, entry.best_rank) == (1, 2, 1)
    assert entry.rrf == pytest.approx(1 / 61 + 1 / 62)
    assert [place.run.name for place in pool.pool_runs.all()] == ["alpha", "beta"]


def test_ids_of_any_signs_are_stored_as_they_are(world: World, tmp_path: Path) -> None:
    ids = ["\\.", "\\N", "NULL", '"', '""', "a,b", "\\t", "'", "{}", "é☂"]
    world.collection.queries.create(external_id="\\.", text="?")
    lines = [
        f"{query} Q0 {one} {rank} {9 - rank} tag\n" for query in ("q1", "\\.") for rank, one in enumerate(ids)
    ]
    (tmp_path / "odd.run").write_text("".join(lines))
    pool = build_pool(
        world.collection, name="odd", runs=[import_run(world.collection, tmp_path / "odd.run")], depth=10
    )
    assert pairs(pool) == {(query, one) for query in ("q1", "\\.") for one in ids}


def test_diagnostics_are_stored_with_the_pool(world: World) -> None:
    diagnostics = Pool.objects.get(pk=world.build_pool(depth=2).pk).diagnostics
    assert diagnostics["runs"] == ["alpha", "beta"]
    assert diagnostics["left_out_queries"] == {"alpha": 0, "beta": 0}
    assert diagnostics["unique_finds"] == {"alpha": 2, "beta": 2}
    assert diagnostics["sizes"]["least"] == 2
    assert diagnostics["sizes"]["most"] == 3


def test_documents_nobody_imported_get_a_row_without_text(world: World) -> None:
    Document.objects.filter(external_id__in=["d4", "d6"]).delete()
    pool = world.build_pool(depth=2)
    without = world.collection.documents.filter(text__isnull=True)
    assert set(without.values_list("external_id", flat=True)) == {"d4", "d6"}
    assert pool.pair_count == 8


def test_queries_the_collection_does_not_have_are_left_out_and_counted(world: World) -> None:
    world.import_runs()
    world.collection.queries.filter(external_id="q3").delete()
    runs = list(world.collection.runs.all())
    pool = build_pool(world.collection, name="p", runs=runs, depth=2)
    assert pool.query_count == 2
    assert pool.diagnostics["left_out_queries"] == {"alpha": 1, "beta": 1}


def test_budget_and_audit_are_stored_pair_by_pair(world: World) -> None:
    runs = world.import_runs()
    pool = build_pool(world.collection, name="p", runs=runs, depth=3, budget=6, audit_share=0.4, seed=7)
    assert pool.chosen_count == 6
    assert pool.entries.filter(inclusion_probability__isnull=False).count() == 6
    assert pool.entries.filter(in_audit=True).count() == pool.diagnostics["audit"] >= 3
    again = build_pool(world.collection, name="again", runs=runs, depth=3, budget=6, audit_share=0.4, seed=7)
    columns = ("query_id", "document_id", "position", "in_audit", "inclusion_probability")
    assert list(pool.entries.values_list(*columns)) == list(again.entries.values_list(*columns))


def test_a_name_that_exists_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = world.build_pool()
    runs = list(world.collection.runs.all())
    with pytest.raises(InputError, match="Pool “first pool” already exists"):
        build_pool(world.collection, name="first pool", runs=runs, depth=1)
    # Somebody else's pool was stored after the look at the names.
    monkeypatch.setattr("pooling.pools.building.free_name", lambda collection, name: name)
    with pytest.raises(InputError, match="Pool “first pool” already exists"):
        build_pool(world.collection, name="first pool", runs=runs, depth=1)
    assert PoolEntry.objects.count() == pool.pair_count


def test_a_pool_that_cannot_be_written_leaves_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = world.import_runs()
    world.collection.documents.all().delete()

    monkeypatch.setattr("pooling.pools.building._ENTRIES", "INSERT INTO nowhere VALUES (%s, %s, %s)")
    with pytest.raises(DatabaseError):
        build_pool(world.collection, name="p", runs=runs, depth=2)
    assert not Pool.objects.exists()
    assert not Document.objects.exists()


def test_a_pool_needs_runs(world: World) -> None:
    with pytest.raises(InputError, match="at least one run"):
        build_pool(world.collection, name="p", runs=[], depth=2)


@pytest.mark.parametrize(
    ("ties", "expected"), [("docid", "d5"), ("docid-asc", "d1"), ("file", "d4"), ("rank", "d1")]
)
def test_the_pool_follows_the_stated_rule_for_ties(
    world: World, tmp_path: Path, ties: str, expected: str
) -> None:
    path = tmp_path / "tied.run"
    path.write_text("q1 Q0 d4 3 1 t\nq1 Q0 d1 1 1 t\nq1 Q0 d5 2 1 t\n")
    run = import_run(world.collection, path)
    pool = build_pool(world.collection, name="p", runs=[run], depth=1, ties=ties)
    assert pairs(pool) == {("q1", expected)}


def test_the_frame_and_the_table_of_a_pool(world: World) -> None:
    pool = world.build_pool(depth=1)
    assert pooled_frame(pool).rows() == [
        *[("q1", "d4"), ("q1", "d1")],
        *[("q2", "d6"), ("q2", "d2")],
        *[("q3", "d5"), ("q3", "d3")],
    ]
    lines = list(pool_lines(pool))
    assert lines[0].split() == [
        *("query_id", "document_id", "position", "run_count", "best_rank", "rrf", "in_audit"),
        "inclusion_probability",
    ]
    assert lines[1] == f"q1\td4\t1\t1\t1\t{1 / 61}\t0\t1.0\n"
    assert len(lines) == 7
