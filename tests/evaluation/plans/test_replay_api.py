"""Replays through the HTTP interface; their numbers are the object that `simulate` prints."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.models import Replay
from tests.evaluation.cast import make_release
from tests.evaluation.reports.test_report_api import client_of
from tests.world import World

ADDRESS = "/api/collections/harbour/replays/"


def post(world: World, **body: Any) -> Any:
    return client_of(world.ada).post(ADDRESS, body, format="json")


def test_found_effort_and_curves_come_back_by_strategy(world: World) -> None:
    world.import_runs()
    make_release(world)
    options = {"seeds": 2, "noise": 0.1, "batch": 3, "k": 2}
    made = post(world, release="labels", runs=["beta"], depth=3, strategies=["depth"], **options)
    assert made.status_code == 201
    result = client_of(world.vera).get(f"/api/replays/{made.data['id']}/").json()
    # The lists of beta to depth 3. q1: d4 d1 d6, q2: d6 d3 d2, q3: d5 d4 d3; relevant are d4 d1, d2, d3.
    assert result["strategies"]["depth"]["found"] == {
        "0.1": pytest.approx(1 / 6),
        "0.25": pytest.approx(1 / 6),
        "0.5": pytest.approx(1 / 3),
    }
    assert result["strategies"]["depth"]["effort"]["0.8"] == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert result["curves"]["found"]["depth"][-1] == 1
    assert result["settings"] == options
    assert [replay["id"] for replay in client_of(world.vera).get(ADDRESS).json()] == [made.data["id"]]


def test_a_refusal_names_field_and_reason(world: World) -> None:
    world.import_runs()
    make_release(world)
    for body, field, words in [
        ({"release": "none such"}, "release", "There is “labels”"),
        ({"runs": ["gamma"]}, "runs", "gamma"),
        ({"runs": "alpha"}, "runs", ""),
        ({"strategies": ["rff"]}, "strategies", "Unknown strategy 'rff'"),
        ({"depth": 0}, "depth", "1"),
        ({"budgets": [2]}, "budgets", "up to 1"),
        ({"budgets": ["much"]}, "budgets", "number"),
        ({"seeds": 0}, "seeds", "between 1 and 20"),
        ({"noise": -1}, "noise", "from 0 to below 0.5"),
        ({"noise": 0.5}, "noise", "from 0 to below 0.5"),
        ({"batch": 0}, "batch", "1 to 100,000"),
        ({"k": 99}, "k", "between 1 and the depth"),
    ]:
        response = post(world, **body)
        assert response.status_code == 400
        assert field in response.data["fields"]
        assert words in response.data["detail"]
        assert not Replay.objects.exists()


def test_much_work_is_answered_with_a_job(
    world: World, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.BACKGROUND_REPLAY_STEPS = 1
    world.import_runs()
    make_release(world)
    with django_capture_on_commit_callbacks(execute=True):
        response = post(world, name="in the night", strategies=["rrf", "maxmean"])
    assert response.status_code == 202
    job = world.collection.jobs.get(pk=response.data["job"])
    assert Replay.objects.get(pk=job.result["id"]).name == "in the night"
