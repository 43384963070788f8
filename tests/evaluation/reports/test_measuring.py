"""Release and measure: one step from labels to a report."""

from __future__ import annotations

import io

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.models import Report
from evaluation.reports import making
from evaluation.reports.measuring import proposed_release
from labeling.judging.leases import claim
from labeling.models import QrelsRelease
from labeling.qrels.imported import import_qrels
from pooling.models import Job
from tests.ground import made_once
from tests.labeling.helpers import judge, make_queue
from tests.world import World, qrels_text

pytestmark = pytest.mark.anywhere

PAGE = "/collections/harbour/measure/"


@made_once
def labelled(world: World) -> World:
    """The runs, and a label for each pair, imported."""
    world.import_runs()
    path = world.folder / "labels.qrels"
    path.write_text(qrels_text())
    import_qrels(world.collection, path, user=world.ada)
    return world


def test_one_click_makes_a_release_and_a_report_of_all_runs_with_names_proposed(
    labelled: World, client: Client
) -> None:
    client.force_login(labelled.ada)
    found = client.post(PAGE)
    report = Report.objects.get()
    assert found["Location"] == report.get_absolute_url()
    assert report.release.name == "v1"
    assert sorted(report.result["runs"]) == ["alpha", "beta"]


@pytest.mark.database
def test_a_second_click_makes_no_second_release_and_labels_that_are_new_do(
    labelled: World, client: Client
) -> None:
    client.force_login(labelled.ada)
    first = client.post(PAGE)
    assert client.post(PAGE)["Location"] == first["Location"]
    assert Report.objects.get().release == QrelsRelease.objects.get()
    path = labelled.folder / "labels.qrels"
    path.write_text("q1 0 d9 1\n")
    import_qrels(labelled.collection, path, user=labelled.ada)
    client.post(PAGE)
    assert sorted(QrelsRelease.objects.values_list("name", flat=True)) == ["v1", "v2"]


@pytest.mark.database
def test_a_second_click_leads_to_the_job_of_the_first(
    labelled: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "FEW_RUNS", 1)
    client.force_login(labelled.ada)
    first = client.post(PAGE)
    assert first["Location"] == Job.objects.get().get_absolute_url()
    assert client.post(PAGE)["Location"] == first["Location"]
    alpha = labelled.collection.runs.get(name="alpha")
    client.post(PAGE, {"release": "June", "rule": "unanimous", "runs": [alpha.pk]})
    assert Job.objects.count() == 1


def test_the_name_follows_the_largest_there_is(labelled: World) -> None:
    for name in ("v2", "v10", "v3-final", "pilot"):
        QrelsRelease.objects.create(
            collection=labelled.collection, name=name, pair_count=0, relevant_count=0, query_count=0
        )
    assert proposed_release(labelled.collection) == "v11"


def test_the_form_changes_name_rule_and_runs(labelled: World, client: Client) -> None:
    client.force_login(labelled.ada)
    assert b'value="v1"' in client.get(PAGE).content
    alpha = labelled.collection.runs.get(name="alpha")
    client.post(PAGE, {"release": "June", "rule": "unanimous", "runs": [alpha.pk]})
    report = Report.objects.get()
    assert (report.release.name, report.release.rule) == ("June", "unanimous")
    assert list(report.result["runs"]) == ["alpha"]


def test_a_form_without_a_run_is_refused_in_its_field(labelled: World, client: Client) -> None:
    client.force_login(labelled.ada)
    page = client.post(PAGE, {"release": "June", "rule": "majority"})
    assert b"This field is required." in page.content
    assert not QrelsRelease.objects.exists()


def test_the_page_says_what_is_missing_instead_of_a_form(world: World, client: Client) -> None:
    client.force_login(world.ada)
    assert "Measuring needs runs." in client.get(PAGE).content.decode()
    world.import_runs()
    page = client.get(PAGE).content.decode()
    assert "Measuring needs labels." in page
    assert 'name="release"' not in page


def test_nothing_is_released_where_nothing_can_be_measured(world: World, client: Client) -> None:
    client.force_login(world.ada)
    assert b"has no run yet" in client.post(PAGE).content
    world.import_runs()
    assert b"has no final labels yet" in client.post(PAGE).content
    assert not QrelsRelease.objects.exists()


@pytest.mark.database
def test_a_release_that_cannot_be_measured_is_taken_back(labelled: World, client: Client) -> None:
    client.force_login(labelled.ada)
    default_storage.delete(str(labelled.collection.runs.get(name="beta").file.name))
    client.raise_request_exception = False
    assert client.post(PAGE).status_code == 500
    assert not QrelsRelease.objects.exists()
    assert default_storage.listdir("qrels/harbour")[1] == []


@pytest.mark.database
def test_large_runs_are_the_workers_and_the_job_ends_on_the_report(
    labelled: World,
    client: Client,
    settings: Settings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.BACKGROUND_REPORT_ROWS = 1
    client.force_login(labelled.ada)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(PAGE)
    job, report = Job.objects.get(kind="release and measure"), Report.objects.get()
    assert job.result["url"] == report.get_absolute_url()
    assert client.get(f"{job.get_absolute_url()}?follow")["Location"] == report.get_absolute_url()


def test_over_http_it_answers_with_the_report(labelled: World, client: Client) -> None:
    client.force_login(labelled.ada)
    address = reverse("api_measure", args=["harbour"])
    made = client.post(address, {"release": "June", "runs": ["beta"]}, content_type="application/json")
    assert (made.status_code, made.json()["id"]) == (201, Report.objects.get().pk)
    again = client.post(address, {"release": "June"}, content_type="application/json")
    assert (again.status_code, "already exists" in again.json()["detail"]) == (409, True)
    unknown = client.post(address, {"runs": ["gamma"]}, content_type="application/json")
    assert (unknown.status_code, "gamma" in unknown.json()["detail"]) == (400, True)


def test_the_command_does_the_same(labelled: World) -> None:
    out = io.StringIO()
    call_command("measure", "harbour", "--run", "alpha", stdout=out)
    assert out.getvalue() == f"Made release “v1” and report “{Report.objects.get().name}”.\n"
    assert list(Report.objects.get().result["runs"]) == ["alpha"]
    with pytest.raises(CommandError, match="There is no rule “most”"):
        call_command("measure", "harbour", "--rule", "most")


def test_where_judging_ends_an_admin_is_one_click_from_the_answer(world: World, client: Client) -> None:
    world.import_runs()
    queue = make_queue(world, pairs=2)
    judging, page = f"/queues/{queue.pk}/judge/", f"/queues/{queue.pk}/"
    client.force_login(world.ada)
    assert f'action="{PAGE}"' not in client.get(page).content.decode()
    assert 'data-part="measure" hidden' in client.get(judging).content.decode()
    for lease in claim(queue, world.ada, 2).leases:
        judge(queue, world.ada, lease.item_id)
    for address in (judging, page):
        text = client.get(address).content.decode()
        assert f'action="{PAGE}"' in text
        assert 'data-part="measure" hidden' not in text
    assert client.post(PAGE)["Location"] == Report.objects.get().get_absolute_url()
    assert f'action="{PAGE}"' not in client.get(page).content.decode()  # nothing is new
    client.force_login(world.ben)
    assert PAGE not in client.get(judging).content.decode()
