"""Reports over HTTP: as files, once, and made again."""

from __future__ import annotations

import pytest
from django.test import Client

from evaluation.models import Report
from tests.evaluation.canary_cast import make_canary
from tests.world import World

pytestmark = pytest.mark.anywhere


@pytest.fixture
def http(world: World, client: Client) -> Client:
    client.force_login(world.ada)
    return client


def test_a_report_comes_as_the_files_of_its_page(report: Report, http: Client) -> None:
    file = http.get(f"/api/reports/{report.pk}/files/csv/")
    assert file.getvalue() == http.get(f"/reports/{report.pk}/download/csv/").getvalue()
    unknown = http.get(f"/api/reports/{report.pk}/files/docx/")
    assert unknown.status_code == 404
    assert "csv" in unknown.json()["detail"]


def test_a_report_that_is_known_is_not_sent_again(report: Report, http: Client) -> None:
    url = f"/api/reports/{report.pk}/"
    assert http.get(url, headers={"If-None-Match": http.get(url)["ETag"]}).status_code == 304


def test_a_report_is_made_again(report: Report, http: Client) -> None:
    again = http.post(f"/api/reports/{report.pk}/again/", {}, content_type="application/json")
    assert again.status_code == 201
    assert http.get(f"/api/reports/{again.json()['id']}/").json()["runs"] == report.result["runs"]


def test_what_a_run_missed_is_downloaded(report: Report, http: Client) -> None:
    file = http.get(f"/api/reports/{report.pk}/queries/missed/?run=alpha&k=1")
    lines = file.getvalue().decode().splitlines()
    assert "d4" in "".join(lines[1:])


def test_a_canary_is_changed_and_its_test_is_listed(world: World, http: Client) -> None:
    canary = make_canary(world)
    url = f"/api/canaries/{canary.pk}/"
    nobody = http.post(f"{url}test/")
    assert (nobody.status_code, "no receivers" in nobody.json()["detail"]) == (400, True)
    changed = http.patch(url, {"threshold": 0.5, "mail_to": ["a@b.org"]}, content_type="application/json")
    assert (changed.json()["threshold"], changed.json()["name"], changed.json()["dependants"]) == (
        0.5,
        "nightly",
        [],
    )
    assert http.post(f"{url}test/").status_code == 202
    (message,) = http.get(f"{url}messages/").json()
    assert (message["channel"], message["receiver"]) == ("mail", "a@b.org")
    http.force_login(world.vera)
    assert http.get(f"{url}messages/").status_code == 403
