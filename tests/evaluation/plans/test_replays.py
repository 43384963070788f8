"""Replays that are kept: what may be asked, what is stored, and that it equals the command's result."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.models import Replay
from evaluation.plans.replay_files import result_in_order
from evaluation.plans.stored_replays import ReplayRequest, request_replay
from pooling.interface.problems import InputError
from pooling.pools.building import build_pool
from pooling.strategies import STRATEGIES
from tests.evaluation.cast import SPARSE, make_release
from tests.world import World


def make_replay(world: World, text: str | None = None, **options: Any) -> Replay:
    """A replay of two strategies on the newest release, with runs and release made when there are none."""
    if not world.collection.runs.exists():
        world.import_runs()
    if not world.collection.releases.exists():
        make_release(world, text)
    options.setdefault("strategies", ["rrf", "learned"])
    made = request_replay(world.collection, ReplayRequest(**options), world.ada)
    assert isinstance(made, Replay)  # so small a replay needs no job
    return made


@pytest.mark.parametrize("labels", [None, SPARSE], ids=["whole", "sparse"])
def test_the_result_equals_that_of_the_command_on_the_exported_files(
    world: World, labels: str | None
) -> None:
    from labeling.qrels.releases import read_release
    from pooling.formats import write_qrels, write_run
    from pooling.runs.stored import read_stored_run

    options: dict[str, Any] = {"depth": 3, "seeds": 2, "noise": 0.2, "batch": 2, "k": 2}
    replay = make_replay(world, labels, release="labels", strategies=None, **options)
    qrels, runs = world.folder / "exported.qrels", []
    write_qrels(read_release(replay.release), qrels)
    for run in world.collection.runs.all():
        runs.append(world.folder / f"{run.name}.trec")
        write_run(read_stored_run(run), runs[-1], tag="exported")
    out = StringIO()
    call_command("simulate", qrels, *runs, format="json", stdout=out, **options)
    assert list(result_in_order(Replay.objects.get())["strategies"]) == list(STRATEGIES)
    assert result_in_order(Replay.objects.get()) == json.loads(out.getvalue())


def test_without_a_release_the_labels_as_they_stand_are_used(world: World) -> None:
    replay = make_replay(world)
    assert replay.release is None
    assert replay.options["labels"]["release"] is None
    assert replay.options["labels"]["pairs"] == 18
    assert replay.name == "Replay on the labels so far, depth 3"
    assert replay.result == make_replay(world, release="labels").result


def test_it_is_kept_with_what_it_takes_to_do_it_again(world: World) -> None:
    replay = make_replay(world, release="labels", seeds=3, budgets=[0.5, 0.2])
    kept = Replay.objects.get().options
    assert kept["budgets"] == [0.2, 0.5]
    assert kept["strategies"] == ["rrf", "learned"]
    assert kept["labels"]["sha256"] == world.collection.releases.get().sha256
    assert [run["sha256"] for run in kept["runs"]] == [run.sha256 for run in world.collection.runs.all()]
    world.collection.releases.all().delete()
    replay.refresh_from_db()
    assert (replay.release, replay.options["labels"]["release"]) == (None, "labels")


def test_labels_that_a_strategy_chose_are_known_as_such(world: World) -> None:
    from labeling.queues.opening import open_queue

    runs = world.import_runs()
    part = build_pool(world.collection, name="part", runs=runs, depth=3, strategy="depth", budget=3)
    build_pool(world.collection, name="not judged", runs=runs, depth=3, budget=3)
    open_queue(part, seed=1, user=world.ada)
    chosen = make_replay(world).options["chosen_by"]
    assert chosen == [{"name": "part", "strategy": "depth", "chosen_count": 3, "pair_count": part.pair_count}]


def test_what_cannot_be_replayed_is_one_sentence_by_its_field(world: World) -> None:
    for options, field, words in [
        ({"release": "none such"}, "release", "There is “labels”"),
        ({"runs": ["gamma"]}, "runs", "gamma"),
        ({"runs": []}, "runs", "at least one run"),
        ({"strategies": []}, "strategies", "at least one strategy"),
        ({"strategies": ["rff"]}, "strategies", "Unknown strategy 'rff'"),
        ({"depth": 10_001}, "depth", "from 1 to 10,000"),
        ({"budgets": []}, "budgets", "1 to 10 budgets"),
        ({"budgets": [0.0]}, "budgets", "above 0"),
        ({"budgets": [float("nan")]}, "budgets", "above 0"),
        ({"seeds": 21}, "seeds", "between 1 and 20"),
        ({"noise": 0.5}, "noise", "below 0.5"),
        ({"batch": 0}, "batch", "1 to 100,000"),
        ({"depth": 2, "k": 3}, "k", "between 1 and the depth, 2"),
        ({"name": "x" * 201}, "name", "at most 200"),
    ]:
        with pytest.raises(InputError, match=words) as refused:
            make_replay(world, **options)
        assert field in refused.value.fields
        assert not Replay.objects.exists()


def test_without_labels_or_without_a_relevant_one_there_is_nothing_to_replay(world: World) -> None:
    world.import_runs()
    with pytest.raises(InputError, match="has no label yet"):
        request_replay(world.collection, ReplayRequest(), world.ada)
    make_release(world, "q1 0 d1 0\n")
    with pytest.raises(InputError, match="nothing to find"):
        request_replay(world.collection, ReplayRequest(), world.ada)
    assert not Replay.objects.exists()
