"""The pictures of a report: numbers against tables worked out by hand, pages, files and readers."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from evaluation.charts.kinds import KINDS, ChartChoice
from evaluation.charts.of_queries import merged
from evaluation.charts.stored import figures_of, kinds_of, usual_choice
from evaluation.charts.tables import (
    bin_edges,
    coverage_cells,
    coverage_table,
    distribution_table,
    gains_table,
    precision_recall_table,
    relevant_bins,
    relevant_table,
)
from evaluation.models import Report
from pooling.interface.charting import in_look, to_svg
from tests.evaluation.cast import SPARSE, make_report
from tests.world import World

pytestmark = pytest.mark.anywhere

# Recall@1 of alpha is 0.5, 1 and 1 for q1, q2 and q3; that of beta 0.5, 0 and 0.
PREFIXES = {"svg": b"<svg", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-", "csv": b"run,", "json": b"{"}


def rows(table: pd.DataFrame) -> list[tuple[Any, ...]]:
    return [
        tuple(round(value, 6) if isinstance(value, float) else value for value in row)
        for row in table.astype(object).itertuples(index=False, name=None)
    ]


def test_the_distribution_has_percentiles_and_the_shares_at_both_ends(report: Report) -> None:
    table = distribution_table(figures_of(report), "recall", 1)
    assert rows(table) == [
        ("alpha", 3, 0.833333, 0.55, 0.75, 1.0, 1.0, 1.0, 0.0, 0.666667),
        ("beta", 3, 0.166667, 0.0, 0.0, 0.0, 0.25, 0.45, 0.666667, 0.0),
    ]


def test_gains_are_sorted_and_equal_ones_by_query(report: Report) -> None:
    figures = figures_of(report)
    assert rows(gains_table(figures, ("alpha", "beta"), "recall", 1)) == [
        ("q2", 1.0, 0.0, 1.0),
        ("q3", 1.0, 0.0, 1.0),
        ("q1", 0.5, 0.5, 0.0),
    ]
    turned = gains_table(figures, ("beta", "alpha"), "recall", 1)
    assert turned["query_id"].tolist() == ["q1", "q2", "q3"]
    choice = ChartChoice("recall", 1, ("alpha",), "beta", "alpha")
    assert (
        KINDS["gains"]
        .summary(turned, choice)
        .startswith("beta is ahead of alpha in 0 queries, behind in 2, equal in 1;")
    )


def test_recall_is_binned_by_a_doubling_number_of_relevant_documents(report: Report) -> None:
    figures = figures_of(report)
    table = relevant_table(figures, ["alpha", "beta"], "recall", 1)
    assert sorted(rows(table[table["run"] == "alpha"])) == [
        ("alpha", "q1", 2, 0.5),
        ("alpha", "q2", 1, 1.0),
        ("alpha", "q3", 1, 1.0),
    ]
    assert rows(relevant_bins(table)) == [
        ("alpha", 1, 1, 2, 1.0, 1.0),
        ("alpha", 2, 3, 1, 2.0, 0.5),
        ("beta", 1, 1, 2, 1.0, 0.0),
        ("beta", 2, 3, 1, 2.0, 0.5),
    ]
    many = pd.DataFrame({"run": "a", "query_id": list("abcd"), "relevant": [0, 7, 8, 15], "value": 0.5})
    assert relevant_bins(many)[["from", "to", "queries"]].to_numpy().tolist() == [
        [0, 0, 1],
        [4, 7, 1],
        [8, 15, 2],
    ]


def test_precision_and_recall_are_the_means_at_each_k(world: World) -> None:
    table = precision_recall_table(figures_of(make_report(world, k=(1, 2))))
    assert rows(table) == [
        ("alpha", 1, 0.833333, 1.0),
        ("alpha", 2, 1.0, 0.666667),
        ("beta", 1, 0.166667, 0.333333),
        ("beta", 2, 0.333333, 0.333333),
    ]


def test_coverage_is_by_query_and_run_the_least_judged_first(world: World) -> None:
    # q3 has no relevant label and does not count; of q1 beta's first is unlabelled, of q2 as well.
    table = coverage_table(figures_of(make_report(world, SPARSE)), 1)
    assert rows(table) == [("q1", 0.5, 1.0, 0.0), ("q2", 0.5, 1.0, 0.0)]
    assert rows(coverage_cells(table)) == [
        ("alpha", 0, 1, 1.0),
        ("alpha", 1, 2, 1.0),
        ("beta", 0, 1, 0.0),
        ("beta", 1, 2, 0.0),
    ]
    assert rows(merged(coverage_cells(table))) == [("alpha", 0, 2, 1.0), ("beta", 0, 2, 0.0)]


def test_many_queries_are_put_together_and_what_is_missing_counts_nowhere() -> None:
    edges = bin_edges(7_000)
    assert (len(edges), edges[0], edges[-1]) == (101, 0, 7_000)
    assert set(np.diff(edges)) == {70}
    assert bin_edges(200) == list(range(201))
    judged = [np.nan] * 10 + [0.5] * 10 + [1.0] * 480
    table = pd.DataFrame({"query_id": range(500), "mean": judged, "judged: a": judged})
    cells = coverage_cells(table)
    assert len(cells) == 100
    assert cells["judged"].isna().sum() == 2
    assert rows(merged(cells)) == [("a", 10, 20, 0.5), ("a", 20, 500, 1.0)]


def test_fifty_runs_over_seven_thousand_queries_stay_small_and_readable() -> None:
    random = np.random.default_rng(0)
    names = [f"run {number}" for number in range(50)]
    judged = np.sort(random.beta(6, 1, size=(7_000, 50)), axis=0)
    columns = {f"judged: {name}": judged[:, place] for place, name in enumerate(names)}
    table = pd.DataFrame({"query_id": range(7_000), "mean": judged.mean(axis=1), **columns})
    from evaluation.charts import drawing as charts
    from evaluation.charts import of_queries as query_charts

    svg = charts.to_svg(query_charts.coverage_chart(table, names, 10)).decode()
    assert len(svg) < 500_000
    assert all(f">{name}</text>" in svg for name in names)
    assert ">50 %</text>" in svg


def test_of_many_runs_a_picture_has_rows_for_some_and_says_which() -> None:
    from evaluation.charts import drawing as charts
    from evaluation.charts import of_queries as query_charts

    names = [f"run {number:02}" for number in range(60)]
    judged = {f"judged: {name}": [number / 60] for number, name in enumerate(names)}
    coverage = pd.DataFrame({"query_id": ["q1"], "mean": [0.5], **judged})
    curve = pd.DataFrame(
        [(name, 10, number / 60, None, None) for number, name in enumerate(names)],
        columns=["run", "k", "mean", "low", "high"],
    )
    cuts = dict.fromkeys(("p5", "p25", "p50", "p75", "p95", "mean", "at_0", "at_1"), 0.5)
    boxes = pd.DataFrame({"run": names[::-1], **cuts})
    for chart, drawn, words in (
        (charts.recall_curve(curve), names[10:], "the 50 of 60 runs with the highest means"),
        (
            query_charts.distribution_chart(boxes, title="Recall@10"),
            names[10:],
            "the 50 of 60 runs with the highest means",
        ),
        (
            query_charts.coverage_chart(coverage, names, 10),
            names[:50],
            "the 50 of 60 runs that are judged least",
        ),
    ):
        svg = charts.to_svg(chart).decode()
        assert [name for name in names if f">{name}</text>" in svg] == drawn
        # On a separate line: a phone is too narrow for more.
        assert f">{words}</t" in svg


def test_a_dark_picture_is_the_light_one_in_the_colours_it_would_be_drawn_in(world: World) -> None:
    world.import_runs()
    world.collection.runs.filter(name="alpha").update(name='a > b & <c> fill="#0068a8"')
    report = make_report(world)
    figures, choice = figures_of(report), usual_choice(report)
    for kind in kinds_of(report).values():
        table = kind.table(figures, choice)
        light, dark = (
            re.sub(rb"gradient_\d+", b"gradient", to_svg(kind.draw(table, figures, choice, dark=dark)))
            for dark in (False, True)
        )
        assert light != dark
        assert in_look(light, "dark") == dark, kind.name


def test_the_pages_of_charts_say_which_of_many_runs_are_drawn(
    client: Client, world: World, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.charts.tables.MOST_RUN_ROWS", 1)
    client.force_login(world.vera)
    page = client.get(reverse("report_charts", args=[report.pk])).content.decode()
    assert page.count("Drawn are the 1 of 2 runs with the highest means; the table has all.") == 1
    assert page.count("Drawn are the 1 of 2 runs that are judged least; the table has all.") == 1


def test_the_best_runs_are_in_colour_and_the_rest_in_grey(report: Report) -> None:
    from evaluation.charts import drawing as charts

    assert usual_choice(report, "recall", 1).chosen == ("alpha", "beta")
    curve = pd.DataFrame(
        [(run, k, 0.1 * k, None, None) for run in ("a", "b", "c") for k in (1, 3)],
        columns=["run", "k", "mean", "low", "high"],
    ).astype({"low": float, "high": float})
    svg = charts.to_svg(charts.recall_curve(curve, chosen=["b"])).decode()
    assert ">b</text>" in svg
    assert ">a</text>" not in svg  # the legend names what is in colour
    live = charts.recall_curve(curve, chosen=["b"], live=True).to_dict()
    assert {row["run"] for row in live["datasets"][live["layer"][-1]["data"]["name"]]} == {"a", "b", "c"}


def test_every_picture_of_a_report_has_its_page_with_table_and_files(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.vera)
    for name in kinds_of(report):
        page = client.get(reverse("report_chart_page", args=[report.pk, name])).content.decode()
        assert "<table>" in page, name
        assert all(f"/charts/{name}/download/{form}/" in page for form in PREFIXES), name


def test_a_file_is_what_it_says(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    for form in PREFIXES:
        answer = client.get(reverse("report_chart_file", args=[report.pk, "distribution", form]))
        assert answer.content.startswith(PREFIXES[form])
        assert answer["Content-Disposition"].endswith(f'-distribution.{form}"')


def test_the_http_interface_gives_the_same_numbers_as_the_file(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.vera)
    address = f"/api/reports/{report.pk}/charts/gains/"
    found = client.get(address, {"a": "beta", "b": "alpha", "k": "1"}).json()
    assert found["columns"] == ["query_id", "first", "second", "gain"]
    assert found["rows"][0] == ["q1", 0.5, 0.5, 0.0]
    text = client.get(address, {"a": "beta", "b": "alpha", "k": "1", "format": "csv"}).content.decode()
    assert [row["query_id"] for row in csv.DictReader(io.StringIO(text))] == ["q1", "q2", "q3"]
    listed = client.get(f"/api/reports/{report.pk}/charts/").json()
    assert [one["name"] for one in listed] == list(kinds_of(report))
    refused = client.get(f"/api/reports/{report.pk}/charts/pie/")
    assert (refused.status_code, "it has curve" in refused.json()["detail"]) == (404, True)
    assert client.get(address, {"format": "bmp"}).status_code == 404


def test_a_report_of_one_run_gains_on_nobody(world: World) -> None:
    world.import_runs()
    world.collection.runs.filter(name="beta").delete()
    report = make_report(world, measures=["recall"])
    assert list(kinds_of(report)) == ["curve", "distribution", "relevant", "coverage"]


def test_a_viewer_sees_pictures(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    for address in [
        "/reports/{}/charts/",
        "/reports/{}/charts/gains/",
        "/reports/{}/charts/curve/light.json",
        "/reports/{}/charts/coverage/light.svg",
        "/reports/{}/charts/coverage/download/csv/",
        "/api/reports/{}/charts/",
        "/api/reports/{}/charts/coverage/",
    ]:
        assert client.get(address.format(report.pk)).status_code == 200, address


def test_names_from_outside_are_text_in_page_and_specification(world: World, client: Client) -> None:
    client.force_login(world.vera)
    world.import_runs()
    world.collection.runs.filter(name="alpha").update(name="<script>alert(1)</script>")
    report = make_report(world)
    for address in ("", "charts/", "charts/gains/"):
        assert b"<script>alert" not in client.get(f"/reports/{report.pk}/{address}").content
    specification = client.get(f"/reports/{report.pk}/charts/curve/light.json")
    assert specification["Content-Type"] == "application/json"
    assert "http" not in json.dumps(specification.json()["layer"])


def test_the_pages_take_the_same_statements_whatever_is_chosen(
    world: World, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(world.vera)
    report: Report = make_report(world)
    for address in ("charts/", "charts/coverage/", "charts/gains/?a=beta&b=alpha&show=beta&k=2"):
        with django_assert_max_num_queries(6):
            assert client.get(f"/reports/{report.pk}/{address}").status_code == 200
