"""Reports made again and held against each other: what changed, by how much, whether figures are equal."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Report
from evaluation.reports.changes import are_equal, figure_changes, what_changed
from tests.evaluation.cast import make_release, make_report
from tests.ground import made_once
from tests.world import World

pytestmark = pytest.mark.anywhere


@made_once
def two(world: World) -> tuple[Report, Report]:
    """Before, d1 and d2 are all that is relevant for q1 and q2; after, d4 is relevant for q1 as well."""
    before = make_report(world, "q1 0 d1 1\nq2 0 d2 1\n", k=(1, 2))
    make_release(world, "q1 0 d4 1\n", name="later")
    return before, make_report(world, k=(1, 2, 3))


def test_what_changed_is_named_and_the_difference_is_after_minus_before(two: tuple[Report, Report]) -> None:
    assert {change.what for change in what_changed(*two)} == {"Qrels release", "K"}
    found = {(one.run, one.k): one.difference for one in figure_changes(*two, "recall")}
    # alpha@1 was 1 for both queries, and finds one of two relevant documents of q1 now; beta found neither.
    assert found == {("alpha", 1): -0.25, ("alpha", 2): 0.0, ("beta", 1): 0.25, ("beta", 2): 0.0}
    assert not are_equal(*two)


def test_reports_with_other_estimates_are_not_equal(two: tuple[Report, Report]) -> None:
    before, after = two[0], deepcopy(two[0])
    assert are_equal(before, after)
    after.result["runs"]["alpha"]["recall@1"]["estimate"] = {"value": 0.25}
    assert not are_equal(before, after)


def test_a_run_of_the_same_name_from_another_file_is_said(two: tuple[Report, Report]) -> None:
    before, after = two
    after.options["runs"][0]["sha256"] = "f" * 64
    after.options["runs"][1]["name"] = "gamma"
    changes = {change.what: (change.before[:8], change.after[:8]) for change in what_changed(before, after)}
    assert changes["Run alpha"][1] == "file fff"
    assert changes["Run gamma"] == ("not in i", "file " + after.options["runs"][1]["sha256"][:3])
    assert [one.other_file for one in figure_changes(before, after, "recall")] == [True, True]


def test_the_old_address_leads_to_the_page_of_both(
    world: World, client: Client, two: tuple[Report, Report]
) -> None:
    client.force_login(world.vera)
    address = reverse("report_changes", args=["harbour"])
    for query in (
        "",
        f"?before={two[0].pk}&after={two[1].pk}&measure=recall",
        f"?after={two[1].pk}",
        "?before=x&after=999&measure=no",
    ):
        page = client.get(address + query, follow=True).content.decode()
        assert "Reports over time" in page
        assert "Qrels release" in page
        assert "Figures or runs are different" in page


def test_the_http_interface_says_the_same(world: World, client: Client, two: tuple[Report, Report]) -> None:
    client.force_login(world.vera)
    before, after = two
    found = client.get(f"/api/reports/{after.pk}/changes/", {"since": before.pk}).json()
    assert (found["before"], found["after"], found["equal"]) == (before.pk, after.pk, False)
    wanted: dict[str, Any] = {"measure": "recall", "run": "alpha", "k": 1, "before": 1.0, "after": 0.75}
    assert {**wanted, "difference": -0.25, "other_file": False} in found["figures"]
    for since in ("", "x", "999999"):
        assert client.get(f"/api/reports/{after.pk}/changes/", {"since": since}).status_code == 400


@pytest.mark.database
def test_a_report_made_again_is_equal_and_says_so(world: World, client: Client) -> None:
    client.force_login(world.ada)
    first = make_report(world, measures=["recall", "map@2"])
    answer = client.post(reverse("report_again", args=[first.pk]), follow=True)
    again = Report.objects.latest("pk")
    assert again.pk != first.pk
    assert {**again.options, "again_of": None} == {**first.options, "again_of": None}
    assert again.result["runs"] == first.result["runs"]
    assert b"all figures are equal" in answer.content
    again.result["runs"]["alpha"]["recall@1"]["mean"] += 0.01
    again.save()
    assert b"some figures differ" in client.get(again.get_absolute_url()).content


@pytest.mark.database
def test_what_is_gone_cannot_be_measured_again(world: World, report: Report, client: Client) -> None:
    client.force_login(world.ada)
    first = report
    world.collection.runs.filter(name="beta").update(deleted_at=timezone.now())
    answer = client.post(reverse("report_again", args=[first.pk]), follow=True)
    assert "“beta”" in answer.content.decode()
    assert Report.objects.count() == 1
