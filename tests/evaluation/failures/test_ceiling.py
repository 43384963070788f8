"""The ranker's ceiling on the page of a report and over HTTP."""

from __future__ import annotations

import pytest
from django.test import Client

from evaluation.failures import ceiling
from evaluation.models import Report
from evaluation.reports.making import ReportRequest, create_requested
from labeling.qrels.imported import import_qrels
from labeling.qrels.releases import release_qrels
from pooling.pools.building import build_pool
from pooling.runs.stored import import_run
from tests.world import World, qrels_text

pytestmark = [pytest.mark.anywhere, pytest.mark.django_db]


def report_of(world: World, runs: list[str] | None = None) -> Report:
    world.import_runs()
    labels = world.folder / "labels.txt"
    labels.write_text(qrels_text())
    import_qrels(world.collection, labels, user=world.ada)
    release_qrels(world.collection, name="v1", user=world.ada)
    return create_requested(world.collection, ReportRequest(k=[1, 2], runs=runs), user=world.ada)


def test_recall_comes_in_three_parts_that_add_up(world: World, client: Client) -> None:
    report = report_of(world)
    client.force_login(world.vera)
    told = client.get(f"/api/reports/{report.pk}/ceiling/?stage1=alpha&k=2").json()
    (row,) = told["rows"]
    # alpha's three documents hold every relevant one; at 2 beta finds both of q1, none of q2, and none of q3.
    assert (told["stage1"], row["run"], row["k1"]) == ("alpha", "beta", 3)
    assert row["found"] + row["lost"] + row["missed"] == pytest.approx(1)
    assert (row["ceiling"], row["missed"]) == (1.0, 0.0)
    page = client.get(f"/reports/{report.pk}/ceiling/?stage1=alpha&k=2").content.decode()
    assert "found, lost" in page.lower()
    assert f"{row['lost']:.3f}" in page
    assert f"/reports/{report.pk}/ceiling/" in client.get(f"/reports/{report.pk}/").content.decode()


def test_many_runs_are_pages_of_rows_and_one_answer_over_http(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ceiling, "RANKERS_PER_PAGE", 1)
    (world.folder / "gamma.run").write_text("q1 Q0 d1 1 1.0 gamma\n")
    import_run(world.collection, world.folder / "gamma.run", user=world.ada)
    report = report_of(world)
    client.force_login(world.vera)
    address = f"/reports/{report.pk}/ceiling/?stage1=alpha&k=2"
    first, second = (client.get(f"{address}&page={page}").context["rows"] for page in (1, 2))
    assert ([row.run for row in first], [row.run for row in second]) == (["beta"], ["gamma"])
    rows = client.get(f"/api{address}").json()["rows"]
    assert [row["run"] for row in rows] == ["beta", "gamma"]


def test_page_and_report_print_the_same_bounds_of_what_a_run_finds(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ceiling, "RANKERS_PER_PAGE", 1)
    runs = []
    for name, documents in {"gamma": ["d1", "x1"], "delta": ["x3", "x4", "x5"]}.items():
        lines = (f"q1 Q0 {document} {at} {9 - at} {name}" for at, document in enumerate(documents, 1))
        (world.folder / f"{name}.run").write_text("\n".join(lines) + "\n")
        runs.append(import_run(world.collection, world.folder / f"{name}.run", user=world.ada))
    build_pool(world.collection, name="both", runs=runs, depth=3)
    report = report_of(world)
    client.force_login(world.vera)
    low, high = report.result["runs"]["gamma"]["recall@2"]["bounds"]
    assert low < high
    for page in (1, 2, 3):
        address = f"/reports/{report.pk}/ceiling/?stage1=gamma&k=2&page={page}"
        (row,) = client.get(address).context["rows"]
        assert row.k1 == 2
        assert (row.recall["low"], row.recall["high"]) == pytest.approx((low, high))


def test_one_run_has_no_ceiling_and_an_unknown_one_is_refused(world: World, client: Client) -> None:
    report = report_of(world, ["alpha"])
    client.force_login(world.vera)
    assert "The report has one run." in client.get(f"/reports/{report.pk}/ceiling/").content.decode()
    assert client.get(f"/api/reports/{report.pk}/ceiling/?stage1=gamma").status_code == 400
    client.force_login(world.dan)
    assert client.get(f"/reports/{report.pk}/ceiling/").status_code == 404


def test_runs_that_are_too_large_for_a_page_are_left_to_the_command(
    world: World, client: Client, settings: object
) -> None:
    report = report_of(world)
    settings.BACKGROUND_REPORT_ROWS = 5  # type: ignore[attr-defined]
    client.force_login(world.vera)
    assert "soundings evaluate" in client.get(f"/reports/{report.pk}/ceiling/").content.decode()


def test_a_report_without_stored_comparisons_has_no_weights_and_leaves_its_ceiling_to_the_command(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.estimates.of_pool.LARGEST", 1)
    report = report_of(world)
    client.force_login(world.vera)
    assert "soundings evaluate" in client.get(f"/reports/{report.pk}/ceiling/").content.decode()
    assert client.get(f"/api/reports/{report.pk}/ceiling/?k=2").status_code == 400
