"""Releases, reports, replays and canaries put away, and runs that reports rest on."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from evaluation.canaries.watching import Alerts, CanaryDefinition, create_canary
from evaluation.failures.side_by_side import side_by_side
from evaluation.models import Canary, CanaryValue, Report
from evaluation.reports.making import request_again
from pooling.interface.problems import InputError
from pooling.models import Run
from pooling.tidying.doing import archive, delete, rename, restore
from pooling.tidying.erasing import erase
from pooling.tidying.kinds import dependants_of
from tests.evaluation.cast import make_release
from tests.world import World


@pytest.fixture
def canary(world: World, django_capture_on_commit_callbacks: Any) -> Canary:
    """A canary that has measured both runs."""
    world.import_runs()
    make_release(world)
    with django_capture_on_commit_callbacks(execute=True):
        return make_canary(world)


def make_canary(world: World) -> Canary:
    definition = CanaryDefinition(name="watch", measure="recall@2")
    return create_canary(world.collection, definition, Alerts(threshold=0.1), user=world.ada, site="")


def test_a_release_that_a_report_rests_on_can_be_archived_and_not_deleted(
    world: World, report: Report, client: Client
) -> None:
    release = report.release
    with pytest.raises(InputError, match="cannot be deleted: 1 report rests on it"):
        delete(release)
    client.force_login(world.ada)
    page = client.get(reverse("tidy", args=["harbour", "release", release.pk])).content.decode()
    assert "It cannot be deleted. Archive it instead" in page
    assert client.delete(f"/api/releases/{release.pk}/").status_code == 409
    archive(release)
    assert client.get("/api/collections/harbour/releases/").json() == []
    assert client.get(report.get_absolute_url()).status_code == 200
    delete(report)
    delete(release)
    with pytest.raises(InputError, match="It rests on the release “labels”, which is deleted too"):
        restore(report)


def test_a_deleted_report_comes_back_with_its_figures(world: World, report: Report, client: Client) -> None:
    client.force_login(world.ada)
    before = client.get(f"/api/reports/{report.pk}/").json()
    assert client.delete(f"/api/reports/{report.pk}/").json()["deleted"] is True
    assert client.get(f"/api/reports/{report.pk}/").status_code == 404
    assert client.get("/api/collections/harbour/reports/").json() == []
    client.post(f"/api/reports/{report.pk}/restore/")
    assert client.get(f"/api/reports/{report.pk}/").json() == before


def test_an_erased_report_leaves_no_file(report: Report) -> None:
    folder = str(report.per_query.name).rpartition("/")[0]
    assert default_storage.listdir(folder)[1]
    delete(report)
    erase(report)
    assert not Report.everything.exists()
    assert default_storage.listdir(folder)[1] == []


def test_a_report_keeps_its_figures_when_a_run_is_renamed_or_deleted(
    world: World, report: Report, client: Client
) -> None:
    alpha, beta = report.runs.order_by("name")
    rename(alpha, "gamma", by=world.ada)
    client.force_login(world.ada)
    assert sorted(client.get(f"/api/reports/{report.pk}/").json()["runs"]) == ["alpha", "beta"]
    assert side_by_side(report, "q1", 2).a.documents
    again = request_again(report, world.ada)
    assert isinstance(again, Report)
    assert [run["name"] for run in again.options["runs"]] == ["gamma", "beta"]
    assert "2 reports keep their figures" in "; ".join(one.sentence() for one in dependants_of(alpha))
    delete(beta)
    assert client.get(report.get_absolute_url()).status_code == 200
    assert side_by_side(report, "q1", 2, a="alpha", b="beta").b.documents == ()
    with pytest.raises(InputError, match="Run “beta” of this report was deleted"):
        request_again(report, world.ada)
    delete(alpha)
    with pytest.raises(InputError, match="Run “alpha” \\(renamed to “gamma”\\) of this report was deleted"):
        request_again(report, world.ada)


def test_a_deleted_run_is_no_value_of_a_canary_until_it_is_restored(canary: Canary) -> None:
    alpha = Run.objects.get(name="alpha")
    assert canary.values.count() == 2
    delete(alpha)
    assert [value.run.name for value in canary.values.all()] == ["beta"]
    restore(alpha)
    assert canary.values.count() == 2


def test_a_deleted_canary_measures_nothing_and_comes_back_with_its_values(
    world: World, canary: Canary
) -> None:
    with pytest.raises(InputError, match="1 canary rests on it"):
        delete(canary.release)
    delete(canary)
    assert not world.collection.canaries.exists()
    restore(canary)
    assert CanaryValue.objects.filter(canary=canary).count() == 2


def test_a_run_that_a_canary_compares_with_is_not_deleted(canary: Canary) -> None:
    alpha = Run.objects.get(name="alpha")
    Canary.objects.filter(pk=canary.pk).update(reference="pinned", pinned=alpha)
    with pytest.raises(InputError, match="1 canary compares with it"):
        delete(alpha)


def test_an_erased_collection_takes_reports_and_canaries_with_it(world: World, report: Report) -> None:
    make_canary(world)
    delete(world.collection)
    erase(world.collection)
    assert not Report.everything.exists()
    assert not Canary.everything.exists()
