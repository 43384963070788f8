"""Reports over time: which are shown, each run in each, words of caution; and the list with its numbers."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from evaluation.models import Report
from evaluation.reports.trends import cautions, changes_between, reports_chosen, trend_frame, trend_of
from evaluation.reports.views import report_rows
from evaluation.scoring.conventions import Conventions
from tests.evaluation.cast import make_release, make_report
from tests.ground import made_once
from tests.world import World

PAGE = "/collections/harbour/reports/trend/"
CALL = f"/api{PAGE}"


@made_once
def three(world: World) -> list[Report]:
    """alpha@1 finds 1, then 3/4 and 1/2 of what is relevant of two queries; beta nothing, then 1/4 twice."""
    found = [make_report(world, "q1 0 d1 1\nq2 0 d2 1\n", k=(1, 2))]
    for name, labels in (("second", "q1 0 d4 1\n"), ("third", "q2 0 d3 1\nq2 0 d1 0\n")):
        make_release(world, labels, name=name)
        found.append(make_report(world, k=(1, 2)))
    return found


def test_each_run_has_a_point_in_each_report_with_its_change(three: list[Report]) -> None:
    trend = trend_of(three, "recall", 1)
    means = {run: [point and point.figure["mean"] for point in row] for run, row in trend.points.items()}
    assert means == {"alpha": [1.0, 0.75, 0.5], "beta": [0.0, 0.25, 0.25]}
    assert [point and point.difference for point in trend.points["beta"]] == [None, 0.25, 0.0]
    assert trend_frame(trend)["report"].unique().tolist() == ["1. labels", "2. second", "3. third"]


def test_a_run_that_a_report_lacks_leaves_a_gap_and_changes_from_the_last_that_has_it(
    three: list[Report],
) -> None:
    three[1].result["runs"].pop("beta")
    three[1].options["runs"] = [run for run in three[1].options["runs"] if run["name"] != "beta"]
    row = trend_of(three, "recall", 1).points["beta"]
    assert row[1] is None
    assert row[2]
    assert (row[2].difference, row[2].other_file) == (0.25, False)


def test_the_newest_that_count_alike_are_shown_unless_others_are_chosen(
    world: World, three: list[Report]
) -> None:
    def shown(*keys: object) -> list[int]:
        return [report.pk for report in reports_chosen(world.collection, [str(key) for key in keys])]

    first, second, third = (report.pk for report in three)
    assert shown() == [first, second, third]
    assert shown(third, first) == [first, third]
    assert shown(third) == [second, third]
    assert shown(first) == [first, second]
    assert shown("x", "9" * 30) == [first, second, third]
    strict = make_report(world, k=(1, 2), conventions=Conventions(missing="skip"))
    assert shown() == [third, strict.pk]


def test_reports_that_do_not_count_alike_are_told(world: World, three: list[Report]) -> None:
    assert cautions(three) == []
    skipping = make_report(world, k=(1, 2), conventions=Conventions(missing="skip"))
    (sentence,) = cautions([three[2], skipping])
    assert "other conventions" in sentence
    skipping.options["conventions"]["min_relevance"] = 2
    skipping.result["queries"]["scored"] = 1
    told = " ".join(cautions([three[2], skipping]))
    assert "what counts as relevant" in told
    assert "1 to 2 queries" in told


def test_each_step_names_what_changed(three: list[Report]) -> None:
    found = [(report.pk, [change.what for change in changes]) for report, changes in changes_between(three)]
    assert found == [(three[1].pk, ["Qrels release"]), (three[2].pk, ["Qrels release"])]


def test_the_page_has_the_picture_the_table_and_the_choice(
    world: World, client: Client, three: list[Report], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(world.vera)
    with django_assert_num_queries(7):  # session, user, collection, role, summaries, results, listed
        page = client.get(f"{PAGE}?k=1").content.decode()
    assert "Recall@1 of each run" in page
    assert "+0.250" in page
    assert len(re.findall(r'name="report" value="\d+" checked', page)) == 3
    picture = client.get(f"{PAGE}dark-narrow.svg", {"report": [three[0].pk, three[2].pk], "k": 1})
    assert picture["Content-Type"] == "image/svg+xml"
    assert b"alpha" in picture.content
    assert client.get(f"{PAGE}sideways.svg").status_code == 404
    # What makes no sense is as usual.
    assert "Recall@2 of each run" in client.get(f"{PAGE}?measure=no&k=x&report=-1").content.decode()


def estimate(report: Report, run: str, value: float, average: str = "macro") -> None:
    """Store an estimate of recall@1 as an audit would."""
    figure = report.result["runs"][run]["recall@1"]
    figure["estimate"] = {"value": value, "low": 0.0, "high": 0.9, "average": average, "covers": "both"}
    report.save()


def test_estimates_are_shown_where_each_run_of_each_report_has_one_and_never_next_to_means(
    world: World, client: Client, three: list[Report]
) -> None:
    client.force_login(world.vera)
    first, second = three[0], three[2]
    address = f"?report={first.pk}&report={second.pk}&k=1"
    for report, run, value in ((first, "alpha", 0.5), (first, "beta", 0.25), (second, "alpha", 0.125)):
        estimate(report, run, value)
    assert "Means by the labels of each report" in client.get(PAGE + address).content.decode()
    estimate(second, "beta", 0.375, "micro")
    assert "Means by the labels of each report" in client.get(PAGE + address).content.decode()

    estimate(second, "beta", 0.375)
    page = client.get(PAGE + address).content.decode()
    runs = {one["run"]: one["points"][1] for one in client.get(CALL + address).json()["runs"]}

    assert "Recall, as the audit of\n      each report estimates it" in page
    assert "Recall@1, estimated: each run" in page
    assert re.findall(r'title="\[0.000, 0.900\]">(0.\d+)', page) == ["0.250", "0.375", "0.500", "0.125"]
    assert re.findall(r"[+−]0.\d{3}", page) == ["+0.125", "−0.375"]
    assert (runs["alpha"]["mean"], runs["alpha"]["difference"]) == (0.5, -0.5), "of the labels at hand"
    assert runs["alpha"]["estimate"]["value"] == 0.125
    assert "drawn from" not in page
    picture = client.get(f"{PAGE}light.svg{address}").content
    assert b"estimated" in picture


def test_estimates_of_other_frames_are_not_of_the_same_thing(three: list[Report]) -> None:
    first, second = three[0], three[2]
    for report in (first, second):
        estimate(report, "alpha", 0.5, "micro")
        estimate(report, "beta", 0.25, "micro")
    assert trend_of([first, second], "recall", 1).average == "micro"
    assert cautions([first, second], with_estimates=True) == []
    second.result["estimates"] |= {"frame": {"reach": 50, "runs": 3, "text": True, "size": 90}}
    (sentence,) = cautions([first, second], with_estimates=True)
    assert "what their audits were drawn from" in sentence
    assert cautions([first, second]) == []
    # A run more changes nothing where both are of the whole collection.
    for report, runs in ((first, 2), (second, 3)):
        frame = {"reach": None, "runs": runs, "text": False, "size": 90, "whole": True}
        report.result["estimates"] |= {"frame": frame}
    assert cautions([first, second], with_estimates=True) == []


def test_one_report_alone_has_no_trend(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    assert b"You need two reports" in client.get(PAGE).content
    assert client.get(f"{PAGE}light.svg").status_code == 404


def test_reports_without_anything_in_common_say_so(world: World, client: Client) -> None:
    first, second = make_report(world, k=(1,)), make_report(world, k=(2,))
    client.force_login(world.vera)
    page = client.get(PAGE, {"report": [first.pk, second.pk]}).content
    assert b"no measure and K in common" in page


def test_the_list_has_the_numbers_of_each_report(
    world: World, client: Client, three: list[Report], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    rows = report_rows(world.collection)
    assert [row.report.pk for row in rows] == [report.pk for report in reversed(three)]
    # At K = 2, as near 10 as it gets: of q2's two documents alpha finds one now.
    assert [(row.run, row.figure and row.figure["mean"], row.changed) for row in rows] == [
        ("alpha", 0.75, "−0.250"),
        ("alpha", 1.0, "+0.000"),
        ("alpha", 1.0, ""),
    ]
    assert {row.verdict for row in rows} == {"the same for every query", "cannot be told yet: queries"}
    client.force_login(world.vera)
    # Session, user, collection, role, chosen columns, reports, releases, runs.
    with django_assert_num_queries(8):
        page = client.get("/collections/harbour/reports/?sort=-recall").content.decode()
    assert "−0.250 (other labels)" in page
    assert "▼ −0.250" not in page, "the runs did not change"
    assert f'value="{three[0].pk}"' in page  # to be chosen and compared
    assert "Compare over time" in page


def test_the_call_gives_what_the_page_shows(world: World, client: Client, three: list[Report]) -> None:
    first, _, third = three
    client.force_login(world.vera)
    found = client.get(f"{CALL}?report={first.pk}&report={third.pk}&k=1").json()
    assert [one["id"] for one in found["reports"]] == [first.pk, third.pk]
    assert found["reports"][0]["changes"] == []
    assert {"what", "before", "after"} == found["reports"][1]["changes"][0].keys()
    runs = {row["run"]: row["points"] for row in found["runs"]}
    assert [point["mean"] for point in runs["alpha"]] == [1.0, 0.5]
    assert [point["difference"] for point in runs["beta"]] == [None, 0.25]


@pytest.mark.usefixtures("three")
def test_a_call_for_what_the_reports_do_not_have_names_it(world: World, client: Client) -> None:
    client.force_login(world.vera)
    for parameter in ["k=7", "k=x", "measure=warmth", "report=x", "report=99", f"report={10**30}"]:
        refused = client.get(f"{CALL}?{parameter}")
        assert (refused.status_code, list(refused.json()["fields"])) == (400, [parameter.partition("=")[0]])


def test_without_two_reports_the_call_has_no_runs(world: World, client: Client) -> None:
    client.force_login(world.vera)
    assert client.get(CALL).json()["runs"] == []
    client.force_login(world.dan)
    assert client.get(CALL).status_code == 404
