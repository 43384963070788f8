"""Reports of drawn queries: taken back to their log as `evaluate --weights` does, and never silently not."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation.comparisons.stored import compared, deciding
from evaluation.models import Report
from evaluation.reports.changes import what_changed
from evaluation.reports.making import ReportRequest, request_again, request_report
from evaluation.reports.trends import cautions
from labeling.qrels.releases import export_release
from pooling.interface.problems import InputError
from pooling.models import Query
from pooling.texts.importing import import_queries
from tests.evaluation.cast import SPARSE, make_release, make_report
from tests.world import ALPHA, BETA, QUERIES, World, run_text, signed_in

pytestmark = [pytest.mark.anywhere, pytest.mark.django_db]

# Weights size ÷ pi: 10, 12, 4.
DRAW = {"q1": (10, 1.0, "head"), "q2": (3, 0.25, "tail"), "q3": (2, 0.5, "tail")}


def draw(world: World, window: str = "2026-10", queries: tuple[str, ...] = ("q1", "q2", "q3")) -> Path:
    """Import the queries as `draw_queries` writes them, and the file."""
    path = world.folder / f"queries-{window}.jsonl"
    lines = []
    for query in queries:
        size, pi, stratum = DRAW[query]
        sampling = {
            "draw": "n 3, seed 0",
            "window": window,
            "stratum": stratum,
            "N_h": 8,
            "n_h": 2,
            "size": size,
            "pi": pi,
            "prn": 0.5,
            "share_of_log": 0.8,
        }
        tags = ["short"] if query != "q3" else []
        metadata = {"frequency": size, "tags": tags, "sampling": sampling}
        lines.append(json.dumps({"_id": query, "text": QUERIES[query], "metadata": metadata}) + "\n")
    path.write_text("".join(lines))
    import_queries(world.collection, path, user=world.ada)
    return path


def mean(report: Report, run: str = "alpha", key: str = "recall@1") -> float | None:
    found: float | None = report.result["runs"][run][key]["mean"]
    return found


def make(world: World, **options: Any) -> Report:
    report = request_report(world.collection, ReportRequest(**options), world.ada)
    assert isinstance(report, Report)
    return report


def test_a_report_of_drawn_queries_is_weighted_to_the_traffic_and_says_so(world: World) -> None:
    draw(world)
    report = make_report(world)
    # Recall@1 of alpha is 1/2, 1, 1.
    assert mean(report) == pytest.approx((10 / 2 + 12 + 4) / 26)
    assert report.options["weights"] == "traffic"
    assert "weights: traffic 2026-10, Hájek" in report.result["runs"]["alpha"]["recall@1"]["line"]
    page = signed_in(world.vera).get(report.get_absolute_url()).content.decode()
    assert "Weighted to the traffic of the log (traffic 2026-10, Hájek): 3 drawn queries" in page
    assert "speak for 80 %" in page


@pytest.mark.parametrize("target", ["traffic", "queries"])
def test_the_numbers_are_those_of_the_file_form_to_the_last_digit(world: World, target: str) -> None:
    queries = draw(world)
    world.import_runs()
    make_release(world, SPARSE + "q1 0 d4 1\nq2 0 d3 0\nq3 0 d3 1\n")
    settings = {"tags": ["short"], "samples": 100}
    report = make(world, weights=target, k=[1, 2, 3], settings=settings)
    files = [world.folder / name for name in ("labels.txt", "alpha.run", "beta.run")]
    files[0].write_bytes(export_release(world.collection.releases.get()))
    for file, ranking in zip(files[1:], (ALPHA, BETA), strict=True):
        file.write_text(run_text(ranking))
    written = io.StringIO()
    chosen = ["--k", "1", "2", "3", "--measure", *report.options["asked"], "--samples", "100"]
    weights = ["--queries", str(queries), "--weights", target, "--by-tag", "short", "--compare"]
    call_command(
        "evaluate", *map(str, files), *chosen, *weights, "--test", "t", "--format", "json", stdout=written
    )
    of_files = json.loads(written.getvalue())
    assert of_files["conventions"]["weights"] == report.result["conventions"]["weights"]
    without = ("line", "estimate")
    for name, figures in of_files["runs"].items():
        for key, figure in figures.items():
            stored = report.result["runs"][name][key]
            assert {one: stored[one] for one in figure if one not in without} == {
                one: figure[one] for one in figure if one not in without
            }
    assert report.result["strata"] == of_files["strata"]
    both = compared(report)
    assert both is not None
    numbers = ["k", "difference", "low", "high", "p_value", "effect", "bounds", "turning", "deviation"]
    assert [[one[number] for number in numbers] for one in both.stored["comparisons"]] == [
        [one[number] for number in numbers] for one in of_files["comparisons"]
    ]


def test_comparisons_tags_and_what_would_decide_are_weighted(world: World) -> None:
    draw(world)
    world.import_runs()
    make_release(world, SPARSE)
    report = make(world, k=[1], settings={"tags": ["short"]})
    assert mean(report) == pytest.approx(1)
    both = compared(report)
    assert both is not None
    (one,) = both.at(1)
    # q3 has no relevant label; alpha finds what there is, beta nothing. Each can still lose half.
    assert (one["difference"], one["queries"], one["test"]) == (pytest.approx(1), 2, "t")
    short = report.result["strata"]["short"]["runs"]["beta"]["recall@1"]["bounds"]
    assert short == pytest.approx([0, 1 / 2])
    swings = dict(deciding(report, "alpha", "beta", 1).select("query_id", "swing").iter_rows())
    assert swings == pytest.approx({"q1": 10 / 22, "q2": 12 / 22})


def test_each_query_can_count_once_which_is_said(world: World) -> None:
    draw(world)
    world.import_runs()
    make_release(world)
    report = make(world, weights="none")
    assert mean(report) == pytest.approx(2.5 / 3)
    assert "weights: none, each query counts once" in report.result["runs"]["alpha"]["recall@1"]["line"]
    page = signed_in(world.vera).get(report.get_absolute_url()).content.decode()
    assert "Each query counts once, but people ask some more often than others: 3 were drawn" in page
    again = request_again(report, world.ada)
    assert isinstance(again, Report)
    assert again.options["weights"] == "none"


def test_a_change_is_told_between_reports_that_count_alike(world: World) -> None:
    draw(world)
    world.import_runs()
    make_release(world)
    make(world, weights="none")
    first = make(world)
    assert "of what was found" not in report_words(world, first)
    draw(world, "2026-11")
    second = make(world)
    assert "labels, of what was found, with other weights" in report_words(world, second)
    assert (
        "The reports differ in how drawn queries count" in cautions([make(world, weights="none"), second])[0]
    )


def test_queries_outside_the_draw_are_counted_and_decide_the_default(world: World) -> None:
    draw(world, queries=("q1", "q2"))
    world.import_runs()
    make_release(world)
    report = make(world)
    assert report.options["weights"] == "none"
    assert "1 labelled query is outside the draw" in report_words(world, report)
    asked = make(world, weights="traffic")
    assert mean(asked) == pytest.approx((10 / 2 + 12) / 22)
    assert "1 labelled query is outside the draw and in no mean" in report_words(world, asked)
    assert [one.what for one in what_changed(report, asked)] == ["Weights"]


def test_the_counts_of_a_weighted_report_are_of_the_queries_in_its_means(world: World) -> None:
    draw(world, queries=("q1", "q2"))
    world.import_runs()
    make_release(world)
    plain, weighted = make(world), make(world, weights="traffic", settings={"tags": ["short"]})
    assert "3 of 3 queries scored ·" in report_words(world, plain)
    words = report_words(world, weighted)
    assert "2 of 3 queries scored, 1 outside the draw ·" in words  # in the head and on the card
    assert words.count("2 of 3 queries scored, 1 outside the draw") == 2
    assert "2 of 3 queries (1 outside the draw) · missing = 0" in words
    assert "3 of 3 queries" not in words
    assert cautions([plain, weighted])[-1].startswith("The means are over 2 to 3 queries: part of a change")


def report_words(world: World, report: Report) -> str:
    return signed_in(world.vera).get(report.get_absolute_url()).content.decode()


@pytest.mark.database
def test_the_page_of_queries_says_what_was_drawn_and_what_could_not_be(world: World) -> None:
    page = reverse("queries", args=["harbour"])
    assert "drawn from" not in signed_in(world.vera).get(page).content.decode()
    draw(world, queries=("q1", "q2"))
    content = signed_in(world.vera).get(page).content.decode()
    assert "2 queries drawn from the log of 2026-10: head 1 of 8, tail 1 of 8." in content
    assert "20 % of its traffic could not be drawn: too few people asked it." in content
    assert "1 query was not drawn." in content


def test_the_newest_draw_counts_and_a_deleted_query_is_spoken_for(world: World) -> None:
    draw(world)
    draw(world, "2026-11", ("q2", "q3"))
    world.import_runs()
    make_release(world)
    report = make(world, weights="queries")
    assert report.result["conventions"]["weights"]["window"] == "2026-11"
    assert mean(report) == pytest.approx(1)
    usual = make(world)
    assert usual.result["conventions"]["weights"]["target"] == "traffic"
    assert "outside the draw and in no mean" in report_words(world, usual)
    Query.objects.filter(external_id="q3").update(deleted_at="2026-11-20T00:00Z")
    how = make(world, weights="queries").result["conventions"]["weights"]
    assert (how["drawn"], how["dropped"]) == (1, 1)


def test_a_newest_draw_of_few_scored_queries_does_not_speak_for_the_others(world: World) -> None:
    draw(world)
    draw(world, "2026-11", ("q3",))
    world.import_runs()
    make_release(world)
    assert make(world).result["conventions"]["weights"]["target"] == "none"


def test_a_collection_without_a_draw_says_nothing_of_weights_and_takes_none(
    world: World, report: Report
) -> None:
    assert "weights" not in report.options
    assert "weights" not in report.result["conventions"]
    with pytest.raises(InputError, match="No query of this collection was drawn from a log"):
        make(world, weights="traffic")
    with pytest.raises(InputError, match="Weights are traffic, queries, none, not “clicks”"):
        make(world, weights="clicks")
    form = signed_in(world.ada).get(reverse("report_new", args=["harbour"])).content.decode()
    assert "A drawn query counts" not in form


@pytest.mark.database
def test_a_probability_that_is_none_stops_the_report(world: World) -> None:
    draw(world)
    world.import_runs()
    make_release(world)
    query = Query.objects.get(external_id="q1")
    query.metadata["sampling"]["pi"] = 0
    query.save()
    with pytest.raises(InputError, match=r"Query 'q1': pi in metadata\.sampling is not a number above 0"):
        make(world)


def test_what_is_called_sampling_and_is_no_draw_takes_no_weights(world: World) -> None:
    world.import_runs()
    make_release(world)
    Query.objects.filter(external_id="q1").update(metadata={"sampling": "uniform"})
    assert "weights" not in make(world).result["conventions"]
    with pytest.raises(InputError, match="No query of this collection was drawn from a log"):
        make(world, weights="traffic")


def test_form_and_call_take_the_setting(world: World) -> None:
    draw(world)
    world.import_runs()
    make_release(world)
    api = APIClient()
    api.force_authenticate(world.ada)
    made = api.post("/api/collections/harbour/reports/", {"weights": "queries"}, format="json")
    assert made.status_code == 201
    result = api.get(f"/api/reports/{made.data['id']}/").json()
    assert result["conventions"]["weights"]["words"] == "weights: queries 2026-10, Hájek"
    assert api.post("/api/collections/harbour/reports/", {"weights": "x"}, format="json").status_code == 400
    form = signed_in(world.ada).get(reverse("report_new", args=["harbour"])).content.decode()
    assert "A drawn query counts" in form


def test_a_ceiling_is_weighted_as_the_report(world: World) -> None:
    draw(world)
    report = make_report(world)
    client = signed_in(world.vera)
    (row,) = client.get(f"/api/reports/{report.pk}/ceiling/?stage1=alpha&k=1").json()["rows"]
    # All that beta has first is among alpha's three.
    assert (row["run"], row["elsewhere"], row["queries"]) == ("beta", 0, 3)
    assert row["found"] == pytest.approx(mean(report, "beta"))
    assert row["found"] + row["lost"] + row["missed"] == pytest.approx(1)
    page = client.get(f"/reports/{report.pk}/ceiling/?stage1=alpha&k=1").content.decode()
    assert "3 queries with a relevant label, weighted as in the report" in page
