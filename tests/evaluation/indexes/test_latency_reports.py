"""Latency reports on the site: the same numbers as the command's, pages, files and the HTTP interface."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.indexes.stored import LatencyRequest, request_latency_report
from evaluation.models import LatencyReport
from pooling.interface.problems import InputError
from pooling.models import Job, Run
from tests.world import World

LIST = "/collections/harbour/latency/"
SETTINGS = "run,latency_ms,ef\nbeta,0.25,8\n"


def make_latency_report(world: World, **options: Any) -> LatencyReport:
    """Run beta against run alpha at K = 2."""
    if not world.collection.runs.exists():
        world.import_runs()
    asked = LatencyRequest(**{"exact": "alpha", "settings": SETTINGS, "k": 2, "target": 0.3, **options})
    made = request_latency_report(world.collection, asked, world.ada)
    assert isinstance(made, LatencyReport)
    return made


def test_the_result_equals_that_of_the_command(world: World) -> None:
    report = make_latency_report(world)
    (world.folder / "settings.csv").write_text(SETTINGS)
    out = io.StringIO()
    call_command(
        "evaluate",
        str(world.folder / "beta.run"),
        against=world.folder / "alpha.run",
        k=[[2]],
        index_settings=world.folder / "settings.csv",
        target="recall@2=0.3",
        format="json",
        stdout=out,
    )
    assert json.loads(out.getvalue()) == LatencyReport.objects.get(pk=report.pk).result
    # q1: d1, d4 in both; q2: one of two; q3: one of two
    assert report.result["runs"]["beta"]["recall@2"]["mean"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert report.result["latency"]["target"]["cheapest"] == "beta"


def test_a_large_one_is_made_in_the_background(
    world: World,
    settings: Settings,
    client: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.BACKGROUND_REPORT_ROWS = 1
    world.import_runs()
    with django_capture_on_commit_callbacks(execute=True):
        asked = LatencyRequest(exact="alpha", settings=SETTINGS, k=2)
        job = request_latency_report(world.collection, asked, world.ada)
    assert isinstance(job, Job)
    job.refresh_from_db()
    assert job.state == "done", job.detail
    assert job.result == {
        "id": LatencyReport.objects.get().pk,
        "name": "Against alpha, K = 2",
        "url": LatencyReport.objects.get().get_absolute_url(),
    }


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"exact": "gamma"}, "exact"),
        ({"k": 0}, "k"),
        ({"target": 2.0}, "target"),
        ({"settings": "run,ms\n"}, "settings"),
        ({"settings": "run,latency_ms\ngamma,1\n"}, "settings"),
        ({"runs": ["beta", "alpha"]}, "settings"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_its_field(
    world: World, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as error:
        make_latency_report(world, **options)
    assert list(error.value.fields) == [field]
    assert not LatencyReport.objects.exists()


@pytest.mark.anywhere
def test_a_viewer_gets_it_in_every_format(world: World, client: Client) -> None:
    report = make_latency_report(world)
    client.force_login(world.vera)
    for form in ("csv", "json", "markdown", "latex", "svg", "png", "settings"):
        assert client.get(reverse("latency_download", args=[report.pk, form])).status_code == 200, form
    assert client.get(reverse("latency_chart", args=[report.pk, "red"])).status_code == 404
    assert client.get(reverse("latency_download", args=[report.pk, "xls"])).status_code == 404


def test_the_page_gives_the_answer_and_the_form_takes_text_or_file(world: World, client: Client) -> None:
    alpha, _ = world.import_runs()
    client.force_login(world.ada)
    form = {"exact": alpha.pk, "k": "2", "target": "0.3", "settings": SETTINGS}
    assert (
        "Name each run with its latency"
        in client.post(f"{LIST}new/", {**form, "settings": ""}).content.decode()
    )
    assert (
        "line 2: the latency is"
        in client.post(f"{LIST}new/", {**form, "settings": "run,latency_ms\nbeta,x\n"}).content.decode()
    )
    shown = client.post(f"{LIST}new/", form, follow=True).content.decode()
    assert "The cheapest setting that reaches Recall@2 0.3 is beta with 0.667" in shown
    assert "cheapest that reaches 0.3" in shown
    file = io.BytesIO(SETTINGS.encode())
    file.name = "settings.csv"
    client.post(f"{LIST}new/", {**form, "settings": "", "settings_file": file})
    assert LatencyReport.objects.count() == 2
    assert "Against alpha, K = 2" in client.get(LIST).content.decode()


def test_latency_reports_over_http(world: World, client: Client) -> None:
    world.import_runs()
    client.force_login(world.ada)
    address = "/api/collections/harbour/latency/"
    made = client.post(
        address, {"exact": "alpha", "settings": SETTINGS, "k": 2}, content_type="application/json"
    )
    assert made.status_code == 201
    assert client.get(address).json() == [made.json()]
    read = client.get(f"/api/latency/{made.json()['id']}/").json()
    assert read["latency"]["front"] == ["beta"]
    refused = client.post(address, {"exact": "alpha", "settings": "run\n"}, content_type="application/json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["settings"])


def test_the_form_offers_the_latency_that_an_engine_was_measured_at(world: World, client: Client) -> None:
    world.import_runs()
    client.force_login(world.ada)
    assert "run,latency_ms\nalpha," not in client.get(f"{LIST}new/").content.decode()
    Run.objects.filter(name="alpha").update(preflight={"engine": {"id": 1, "latency_ms": {"p50": 12.5}}})
    assert "run,latency_ms\nalpha,12.5\n</textarea>" in client.get(f"{LIST}new/").content.decode()
