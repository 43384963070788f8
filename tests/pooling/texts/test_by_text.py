"""Runs and labels whose queries are texts find the queries of a collection that have these texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labeling.models import ImportedLabel
from labeling.qrels.imported import import_qrels
from pooling.formats import FormatError
from pooling.models import Query
from pooling.runs.stored import import_run, read_stored_run
from tests.world import World

pytestmark = pytest.mark.django_db
HEADER = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"
IMPORTS = [import_run, import_qrels]


def snapshot(world: World, *texts: str) -> Path:
    path = world.folder / "before.csv"
    path.write_text(HEADER + "".join(f"before,2026,7,{text},d1,1\n" for text in texts))
    return path


def ratings(world: World, *texts: str) -> Path:
    path = world.folder / "ratings.csv"
    path.write_text("query,docid,rating\n" + "".join(f"{text},d1,1\n" for text in texts))
    return path


def file_for(world: World, take_in: Callable[..., Any], *texts: str) -> Path:
    return (snapshot if take_in is import_run else ratings)(world, *texts)


def test_a_snapshot_of_quepid_is_a_run_of_the_collections_queries(world: World) -> None:
    run = import_run(world.collection, snapshot(world, "night bus", "lost umbrella ", "tram"))

    assert read_stored_run(run)["query_id"].to_list() == ["q1", "q2", "tram"]
    assert "Queries are known by their texts here: 2 of 3 queries found." in run.preflight["notes"]


def test_ratings_of_quepid_are_labels_of_the_collections_queries(world: World) -> None:
    done = import_qrels(world.collection, ratings(world, "night bus", "tram"))

    assert (done.created, done.left_out) == (1, 1)
    assert ImportedLabel.objects.get().query.external_id == "q1"
    assert done.notes[0] == "Queries are known by their texts here: 1 of 2 queries found."


def test_ids_count_where_a_file_has_one_of_the_collection(world: World) -> None:
    Query.objects.filter(external_id="q2").update(text="q1")
    run = import_run(world.collection, snapshot(world, "q1", "night bus"))

    assert read_stored_run(run)["query_id"].to_list() == ["q1", "night bus"]


@pytest.mark.parametrize("take_in", IMPORTS)
def test_a_text_of_two_queries_is_refused_with_both(world: World, take_in: Callable[..., Any]) -> None:
    Query.objects.filter(external_id="q3").update(text="night bus")
    with pytest.raises(FormatError, match=r"'night bus' is that of 2 queries \(q1, q3\)"):
        take_in(world.collection, file_for(world, take_in, "night bus"))

    assert not world.collection.runs.exists()
    assert not ImportedLabel.objects.exists()


@pytest.mark.parametrize("take_in", IMPORTS)
def test_two_texts_of_one_query_are_refused(world: World, take_in: Callable[..., Any]) -> None:
    with pytest.raises(FormatError, match="'night bus' and ' night bus' are both the text of query 'q1'"):
        take_in(world.collection, file_for(world, take_in, "night bus", " night bus"))
