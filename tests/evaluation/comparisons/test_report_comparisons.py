"""Estimates and comparisons of stored reports: read from pools and labels, on the page, over HTTP, as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

import polars as pl
import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from evaluation.comparisons import stored
from evaluation.comparisons.stored import compared, deciding, turned
from evaluation.estimates.of_pool import LARGEST
from evaluation.estimates.stored_sample import read_sample
from evaluation.models import Report
from evaluation.scoring.config import Settings
from labeling.models import QrelsRelease
from labeling.qrels.releases import read_release, release_qrels
from labeling.queues.opening import open_queue
from pooling.models import Pool
from pooling.pools.building import build_pool
from pooling.runs.stored import import_run
from tests.evaluation.cast import SPARSE, make_release, make_report
from tests.labeling.helpers import judge
from tests.world import ALPHA, World, run_text

pytestmark = pytest.mark.anywhere


def audited_pool(world: World, **choice: Any) -> Pool:
    """Every query's four or five documents, of which three are judged: two reached at most, and an audit."""
    options = {"depth": 3, "budget": 9, "audit_share": 0.4, "seed": 3, **choice}
    runs = list(world.collection.runs.all()) or world.import_runs()
    world.add_document()
    return build_pool(world.collection, name="audited", runs=runs, user=world.ada, **options)


def sample_of(pool: Pool, release: QrelsRelease) -> Any:
    return read_sample(pool, release, read_release(release), 1)


@pytest.mark.database
def test_the_sample_has_the_probabilities_with_which_the_pool_was_built(world: World) -> None:
    pool = audited_pool(world)
    found = sample_of(pool, make_release(world))

    entries = pool.entries.filter(inclusion_probability__isnull=False)
    stored = entries.values_list("query__external_id", "document__external_id", "inclusion_probability")
    columns = ["query_id", "document_id", "inclusion_probability"]
    inside = found.sample.join(_pairs(pool), on=["query_id", "document_id"])
    assert sorted(inside.select(columns).rows()) == sorted(stored)
    assert inside.filter(pl.col("inclusion_probability") < 1).height > 0
    assert found.undefined == []


def _pairs(pool: Pool) -> pl.DataFrame:
    rows = list(pool.entries.values_list("query__external_id", "document__external_id"))
    return pl.DataFrame(rows, schema=["query_id", "document_id"], orient="row")


def test_labels_imported_before_the_draw_are_certain(world: World) -> None:
    world.import_runs()
    make_release(world, name="early")
    pool = audited_pool(world)
    found = sample_of(pool, release_qrels(world.collection, name="late", user=world.ada))

    assert (found.sample["inclusion_probability"] == 1).all()
    assert found.unsampled.is_empty()


@pytest.mark.database
def test_verdicts_count_and_what_two_people_could_not_judge_is_told(world: World) -> None:
    pool = audited_pool(world)
    queue = open_queue(pool, seed=1, user=world.ada)
    drawn = pool.entries.filter(inclusion_probability__lt=1).first()
    assert drawn is not None
    for item in queue.items.all():
        if (item.query_id, item.document_id) == (drawn.query_id, drawn.document_id):
            for person in (world.ben, world.cleo):
                judge(queue, person, item.pk, "cannot_judge", reason="expert")
        else:
            judge(queue, world.ben, item.pk, "relevant")
    release = release_qrels(world.collection, name="judged", user=world.ada)
    found = sample_of(pool, release)

    pair = [drawn.query.external_id, drawn.document.external_id]
    assert release.sidecar["cannot_judge"] == [pair]
    assert release.sidecar["pools"][0]["audit_share"] == 0.4
    assert found.unanswered == 1
    assert found.undefined == []
    assert not found.as_if(relevant=False)["relevant"].all()
    assert found.as_if(relevant=True)["relevant"].all()


@pytest.mark.parametrize(
    ("choice", "labels", "status", "words"),
    [
        (None, SPARSE, "no pool", "No pool was built here"),
        ({"audit_share": 0.0}, None, "no audit", "An audit share of 10 % would spend"),
        ({}, SPARSE.replace("d6 0", "d1 0"), "waiting", "No query of pool “audited” can be estimated yet"),
        ({}, None, "estimated", "relevant documents in pool “audited”, of 3 queries"),
    ],
    ids=["no pool", "no audit", "waiting", "estimated"],
)
def test_a_report_says_what_its_labels_allow(
    world: World, choice: dict[str, Any] | None, labels: str | None, status: str, words: str
) -> None:
    if choice is not None:
        audited_pool(world, **choice)
    found = make_report(world, labels).result["estimates"]

    assert found["status"] == status
    assert words in found["sentence"]
    assert bool(found["runs"]) == (status == "estimated")


def test_what_is_known_of_some_queries_ranks_no_runs(world: World, client: Client) -> None:
    """Whoever finishes a query first must not decide which run is better."""
    pool = audited_pool(world)
    queue = open_queue(pool, seed=1, user=world.ada)
    for item in queue.items.filter(query__external_id="q1"):
        judge(queue, world.ben, item.pk, "relevant")
    for begun in ("q2", "q3"):
        reached = pool.entries.filter(query__external_id=begun, inclusion_probability=1).first()
        assert reached is not None
        judge(
            queue, world.ben, queue.items.get(document=reached.document, query=reached.query).pk, "relevant"
        )
    release_qrels(world.collection, name="begun", user=world.ada)
    report = make_report(world)
    queries, found = report.result["estimates"]["queries"], compared(report)

    assert queries["estimated"] == 1
    assert queries["not_estimated_ids"] == ["q2", "q3"]
    assert found is not None
    for one in found.stored["comparisons"]:
        assert (one["estimate"], one["estimated"]) == (None, None)
    client.force_login(world.vera)
    page = client.get(report.get_absolute_url()).content.decode()
    assert "The estimates cover 1 of 3 queries" in page
    assert ", estimated, 1 of 3 queries" in page


@pytest.mark.database
def test_a_half_judged_pool_has_a_span_and_says_how_many_labels_it_waits_for(
    world: World, client: Client
) -> None:
    pool = audited_pool(world)
    queue = open_queue(pool, seed=1, user=world.ada)
    reached = pool.entries.filter(query__external_id="q2", inclusion_probability=1).first()
    assert reached is not None
    for item in queue.items.exclude(query=reached.query, document=reached.document):
        judge(queue, world.ben, item.pk, "relevant")
    release_qrels(world.collection, name="half", user=world.ada)
    report = make_report(world)
    estimates, found = report.result["estimates"], compared(report)

    assert (estimates["status"], estimates["queries"]["estimated"]) == ("estimated", 3)
    assert (estimates["sample"]["awaited"], estimates["relevant"]["value"]) == (1, None)
    assert estimates["relevant"]["high"] >= estimates["relevant"]["seen"] + 1
    micro = estimates["runs"]["alpha"]["recall@3"]["micro"]
    assert (micro["value"], micro["low"] < micro["high"]) == (None, True)
    assert found is not None
    assert {one["estimate"] for one in found.stored["comparisons"]} == {None}
    said = "1 document that the order reached waits for a label and may be relevant or not"
    assert said in estimates["sentence"]
    client.force_login(world.vera)
    for address in (
        f"{report.get_absolute_url()}?k=3",
        reverse("report_download", args=[report.pk, "markdown"]),
    ):
        answer = client.get(address)
        text = b"".join(answer) if answer.streaming else answer.content
        assert said in text.decode()


def test_the_estimates_say_what_each_interval_covers(world: World, client: Client) -> None:
    audited_pool(world)
    report = make_report(world)
    figure = report.result["estimates"]["runs"]["alpha"]["recall@2"]

    assert (figure["micro"]["covers"], figure["macro"]["covers"]) == ("labels", "queries and labels")
    assert figure["micro"]["low"] <= figure["micro"]["value"] <= figure["micro"]["high"]
    client.force_login(world.vera)
    page = client.get(f"{report.get_absolute_url()}?k=2").content.decode()
    for said in ("Estimated micro", "covers which labels were drawn", "What a new retriever would lose"):
        assert said in page


def test_the_confidence_of_a_report_is_that_of_its_estimates_and_comparisons(
    world: World, client: Client
) -> None:
    audited_pool(world)
    usual, bold = make_report(world), make_report(world, settings=Settings(confidence=0.5))
    wide, narrow = (report.result["estimates"] for report in (usual, bold))

    assert (wide["relevant"]["confidence"], narrow["relevant"]["confidence"]) == (0.95, 0.5)
    assert narrow["relevant"]["at_most_unseen"] < wide["relevant"]["at_most_unseen"]
    assert "(95 %, exact, one-sided)" in wide["sentence"]
    assert "(50 %, exact, one-sided)" in narrow["sentence"]
    sides = [found["runs"]["beta"]["recall@1"]["micro"] for found in (wide, narrow)]
    assert sides[1]["high"] - sides[1]["low"] < sides[0]["high"] - sides[0]["low"]
    (pair,), (bold_pair,) = (api(world, report, "?k=1").json()["comparisons"] for report in (usual, bold))
    assert bold_pair["confidence"] == 0.5
    assert pair["estimated"] != bold_pair["estimated"]
    client.force_login(world.vera)
    for address in (bold.get_absolute_url(), reverse("report_comparisons", args=[bold.pk])):
        page = client.get(address).content.decode()
        assert "50 %" in page
        assert "95 %" not in page


def api(world: World, report: Report, query: str = "") -> Any:
    client = APIClient()
    client.force_authenticate(world.vera)
    return client.get(f"/api/reports/{report.pk}/comparisons/{query}")


def test_the_best_two_runs_are_compared_wherever_they_stand_and_the_page_names_the_others(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "MOST_RUNS", 2)
    world.import_runs()
    path = world.folder / "gamma.run"
    path.write_text(run_text({**ALPHA, "q3": ["d5", "d3", "d2"]}))
    import_run(world.collection, path, user=world.ada)
    report = make_report(world, k=(1, 2))
    answer = report.result["answer"]
    assert {answer["run"], answer["rival"]["run"]} == {"alpha", "gamma"}
    comparisons = compared(report)
    assert comparisons is not None
    assert comparisons.runs == ["alpha", "gamma"]
    client.force_login(world.vera)
    page = client.get(reverse("report_comparisons", args=[report.pk])).content.decode()
    assert "Left out: beta." in page
    answer = api(world, report).json()
    assert (answer["left_out"], answer["best_at"]) == (1, 2)


def test_of_many_runs_the_best_are_compared_and_a_few_of_those_left_out_are_named(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "MOST_RUNS", 3)
    world.import_runs()
    for name, ranking in {"aaa": ["d9"], "zzz": ["d9", "d1"], **{f"bb{n}": ["d9"] for n in range(5)}}.items():
        path = world.folder / f"{name}.run"
        path.write_text(run_text({"q1": ranking}))
        import_run(world.collection, path, user=world.ada)
    report = make_report(world, k=(2,))
    comparisons = compared(report)
    assert comparisons is not None
    assert comparisons.runs == ["alpha", "beta", "zzz"]
    client.force_login(world.vera)
    shown = client.get(reverse("report_comparisons", args=[report.pk]))
    page = " ".join(shown.content.decode().split())
    assert "the best two at each K, and then the best at K = 2." in page
    assert "Left out: aaa, bb0, bb1, bb2, bb3 and 1 more." in page
    assert (shown.context["choice"].a, shown.context["choice"].b) == ("alpha", "beta")
    shown = client.get(reverse("report_comparisons", args=[report.pk]), {"b": "alpha"})
    assert (shown.context["choice"].a, shown.context["choice"].b) == ("beta", "alpha")


def test_a_pair_is_ranked_when_no_label_can_turn_it_and_refused_otherwise(
    world: World, report: Report
) -> None:
    # Everything is judged, and alpha finds at K = 1 what beta finds, and two more.
    whole = api(world, report, "?k=1&a=alpha&b=beta").json()
    (found,) = whole["comparisons"]
    assert (whole["k"], whole["test"], whole["correction"]) == (1, "randomisation", "holm")
    assert found["difference"] == pytest.approx(5 / 6 - 1 / 6)
    assert found["leader"] == "alpha"
    assert found["bounds"] == pytest.approx([2 / 3, 2 / 3])
    assert "80 % power" in found["power"]


def test_unjudged_documents_that_can_turn_a_pair_refuse_it_and_say_what_would_decide(world: World) -> None:
    (found,) = api(world, make_report(world, SPARSE), "?k=1&a=beta&b=alpha").json()["comparisons"]

    # Two queries count: alpha has d1 and d2, beta the unjudged d4 and d6.
    assert (found["first"], found["difference"], found["leader"]) == ("beta", -1.0, None)
    assert found["bounds"] == pytest.approx([-1, 0])
    assert found["open_pairs"] == 2
    assert "judging the 2 that only one of the two has would help most" in found["verdict"]
    assert "100.0 % for alpha and 0.0 % for beta" in found["warnings"][0]


def test_a_comparison_that_is_not_there_is_refused(world: World, report: Report) -> None:
    for query, status, words in [
        ("?k=7", 400, "choose one of 1, 2, 3"),
        ("?a=gamma", 400, "alpha, beta"),
        ("?a=alpha&b=alpha", 400, "name two"),
        ("?k=x", 400, ""),
        ("?a=alpha", 200, ""),
        ("", 200, ""),
    ]:
        response = api(world, report, query)
        assert response.status_code == status, query
        assert words in response.json().get("detail", "")


def test_runs_that_no_query_and_no_label_tells_apart_are_the_same_in_every_list(
    world: World, client: Client
) -> None:
    report = make_report(world, k=(3,))
    client.force_login(world.vera)
    comparisons = reverse("report_comparisons", args=[report.pk])
    assert (
        "alpha and beta have the same Recall@3 for every query." in client.get(comparisons).content.decode()
    )
    for address in (comparisons, "/collections/harbour/reports/"):
        page = client.get(address).content.decode()
        assert "cannot be told yet" not in page, address
        assert "the same for every query" in page, address


@pytest.mark.database
def test_the_page_says_the_verdict_and_takes_the_same_queries_whatever_it_shows(
    world: World, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    report = make_report(world, SPARSE)
    client.force_login(world.vera)
    with django_assert_max_num_queries(23):  # the pool and its pairs are read for what would decide
        page = client.get(reverse("report_comparisons", args=[report.pk]) + "?a=alpha&b=beta&k=1")
    text = page.content.decode()
    for said in (
        "Cannot tell yet whether alpha is better than beta",
        "cannot be told yet: queries",
        "Not ranked (alpha − beta",
        "+1.000",
        "2 documents without a label",
        "+0.000 to +1.000",
    ):
        assert said in text
    for query, sentence in {
        "?a=alpha&b=gamma": "“b=gamma” in the address means nothing here: “b=beta” is displayed instead.",
        "?a=beta&b=beta": "“b=beta” in the address means nothing here: “b=alpha” is displayed instead.",
        "?k=0": "“k=0” in the address means nothing here: “k=",
    }.items():
        address = reverse("report_comparisons", args=[report.pk]) + query
        assert sentence in client.get(address).content.decode()
    fallen_back = client.get(reverse("report_comparisons", args=[report.pk]) + "?a=x&b=alpha&k=99")
    assert "beta" in fallen_back.content.decode()


def test_a_report_of_one_run_compares_nothing_and_says_so(world: World, client: Client) -> None:
    from evaluation.reports.making import ReportInput, create_report
    from evaluation.scoring.conventions import Conventions

    (alpha, _), release = world.import_runs(), make_release(world)
    report = create_report(
        world.collection,
        ReportInput(release=release, runs=[alpha], k=[1], measures=[], conventions=Conventions()),
    )
    client.force_login(world.vera)
    page = client.get(reverse("report_comparisons", args=[report.pk])).content.decode()
    assert "This report has no comparisons" in page
    assert client.get(reverse("report_deciding", args=[report.pk])).status_code == 404
    assert api(world, report).status_code == 404
    assert "has no comparisons" in api(world, report).json()["detail"]


def test_the_labels_that_decide_are_those_of_the_pure_function(world: World, client: Client) -> None:
    from evaluation import deciding_labels, evaluate
    from pooling.runs.stored import read_stored_run

    report = make_report(world, SPARSE)
    runs = {run.name: read_stored_run(run) for run in world.collection.runs.all()}
    wanted = deciding_labels(evaluate(read_release(report.release), runs, [1, 2, 3]), "alpha", "beta", 2)
    assert deciding(report, "alpha", "beta", 2).rows() == list(wanted.itertuples(index=False, name=None))

    client.force_login(world.vera)
    response = client.get(reverse("report_deciding", args=[report.pk]) + "?a=alpha&b=beta&k=2")
    rows = list(csv.DictReader(io.StringIO(response.getvalue().decode())))
    assert [row["document_id"] for row in rows] == wanted["document_id"].tolist()
    assert list(rows[0]) == ["query_id", "document_id", "run", "rank", "swing"]


def test_a_pair_turned_round_says_the_same(world: World) -> None:
    found = compared(make_report(world, SPARSE))
    assert found is not None
    stored = found.pair("alpha", "beta", 1)
    back = turned(stored, "beta")
    assert (back["difference"], back["bounds"]) == (-1.0, [-1.0, 0.0])
    assert back["judged"] == stored["judged"][::-1]
    assert turned(back, "alpha") == stored


def test_a_report_that_is_too_large_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LARGEST > 0
    monkeypatch.setattr("evaluation.estimates.of_pool.LARGEST", 1)
    report = make_report(world, SPARSE)
    assert report.result["estimates"]["status"] == "too large"
    assert compared(report) is None


def test_the_forest_names_every_other_run(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    svg = client.get(reverse("report_forest", args=[report.pk, "dark"]) + "?a=alpha&k=1").content.decode()
    assert svg.startswith("<svg")
    assert ">beta</text>" in svg
    assert client.get(reverse("report_forest", args=[report.pk, "purple"])).status_code == 404
