"""Reports through the HTTP interface; their numbers are the object that the `evaluate` command prints."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings
from rest_framework.test import APIClient

from evaluation.models import Report
from tests.evaluation.cast import SPARSE, make_release
from tests.world import World

pytestmark = pytest.mark.anywhere

ADDRESS = "/api/collections/harbour/reports/"


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def post(world: World, **body: Any) -> Any:
    return client_of(world.ada).post(ADDRESS, body, format="json")


def test_runs_and_release_are_named_and_the_numbers_come_back(world: World) -> None:
    world.import_runs()
    make_release(world)
    response = post(world, release="labels", runs=["beta"], k=[1, 2], measures=["recall"])
    assert response.status_code == 201
    result = client_of(world.vera).get(f"/api/reports/{response.data['id']}/").json()
    assert list(result["runs"]) == ["beta"]
    assert result["runs"]["beta"]["recall@2"]["mean"] == pytest.approx(1 / 3)
    assert result["runs"]["beta"]["judged@2"]["mean"] == 1
    listed = client_of(world.vera).get(ADDRESS).json()
    assert [report["id"] for report in listed] == [response.data["id"]]


@pytest.mark.parametrize("labels", [None, SPARSE], ids=["whole", "sparse"])
def test_the_numbers_equal_those_of_the_command_on_the_exported_files(
    world: World, labels: str | None
) -> None:
    from labeling.qrels.releases import read_release
    from pooling.formats import write_qrels, write_run
    from pooling.runs.stored import read_stored_run

    world.import_runs()
    world.add_document()
    release = make_release(world, labels)
    qrels, runs = world.folder / "exported.qrels", []
    write_qrels(read_release(release), qrels)
    for run in world.collection.runs.all():
        runs.append(world.folder / f"{run.name}.trec")
        write_run(read_stored_run(run), runs[-1], tag="exported")
    out = StringIO()
    call_command("evaluate", qrels, *runs, "--k", "1", "3", "--format", "json", stdout=out)
    made = post(world, k=[1, 3]).data["id"]
    found = client_of(world.vera).get(f"/api/reports/{made}/").json()
    assert found.pop("estimates")["status"] == "no pool"  # the database knows of pools, files do not
    assert found == json.loads(out.getvalue())


def test_conventions_are_keys_beside_the_rest(world: World) -> None:
    world.import_runs()
    make_release(world, SPARSE)
    made = post(world, preset="trec_eval-9", missing="zero", min_relevance=1)
    conventions = Report.objects.get(pk=made.data["id"]).options["conventions"]
    assert (conventions["scores"], conventions["missing"]) == ("float32", "zero")


def test_a_refusal_names_field_and_reason(world: World) -> None:
    world.import_runs()
    make_release(world)
    for body, field, words in [
        ({"release": "none such"}, "release", "There is “labels”"),
        ({"runs": ["gamma"]}, "runs", "There are “alpha”, “beta”."),
        ({"k": [0]}, "k", "1 or more"),
        ({"k": "ten"}, "k", ""),
        ({"measures": ["recal"]}, "measures", "recal"),
        ({"preset": "lemur"}, "preset", "lemur"),
        ({"scores": "float16"}, "scores", "float16"),
    ]:
        response = post(world, **body)
        assert response.status_code == 400
        assert field in response.data["fields"]
        assert words in response.data["detail"]
        assert not Report.objects.exists()


@pytest.mark.database
def test_large_runs_are_answered_with_a_job(
    world: World, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.BACKGROUND_REPORT_ROWS = 1
    world.import_runs()
    make_release(world)
    with django_capture_on_commit_callbacks(execute=True):
        response = post(world, name="in the night")
    assert response.status_code == 202
    job = world.collection.jobs.get(pk=response.data["job"])
    assert Report.objects.get(pk=job.result["id"]).name == "in the night"
