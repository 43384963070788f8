"""Facts in releases and reports: what is frozen, measured, and shown of each run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from evaluation.charts.of_facts import context_table, fact_curve_table
from evaluation.charts.stored import figures_of
from evaluation.failures.fact_lists import FactsOfRun
from evaluation.failures.stored_facts import facts_in, fill_others, stale_documents
from evaluation.models import Report
from evaluation.reports.making import ReportRequest, create_requested
from evaluation.reports.serializers import ReportResultSerializer
from labeling.facts.editing import decide_facts
from labeling.facts.importing import import_supports
from labeling.models import Fact
from labeling.qrels.imported import import_qrels
from labeling.qrels.releases import export_release, release_qrels
from pooling.interface.problems import InputError
from tests.labeling.facts.helpers import bring_facts, json_lines
from tests.world import World, qrels_text

pytestmark = [pytest.mark.anywhere, pytest.mark.django_db]

# alpha finds d1, d4, d5 for q1 and d2, d6, d1 for q2; beta d4, d1, d6 and d6, d3, d2.
SAID = [
    ("q1", "lines", "d1", "supports"),
    ("q1", "lines", "d4", "supports"),
    ("q1", "often", "d1", "no"),
    ("q1", "often", "d4", "supports"),
    ("q2", "kept", "d2", "supports"),
    ("q2", "kept", "d6", "partly"),
]


def report_of(world: World, said: Sequence[tuple[str, ...]] = SAID, **request: Any) -> Report:
    bring_facts(world)
    names = ("query_id", "fact_id", "document_id", "verdict")
    rows = [dict(zip(names, one, strict=True)) for one in said]
    import_supports(world.collection, json_lines(world.folder, "supports.jsonl", rows))
    world.build_pool()
    labels = world.folder / "labels.txt"
    labels.write_text(qrels_text())
    import_qrels(world.collection, labels, user=world.ada)
    release_qrels(world.collection, name="v1", user=world.ada)
    return create_requested(world.collection, ReportRequest(k=[1, 3], **request), user=world.ada)


def test_a_report_holds_fact_recall_with_bounds_where_its_release_has_facts(world: World) -> None:
    facts = facts_in(report_of(world))
    assert facts is not None
    counts = facts["counts"]
    assert (counts["queries"], counts["without_facts"], counts["facts"]) == (2, 0, 3)
    alpha, beta = facts["runs"]["alpha"], facts["runs"]["beta"]
    # At 1 alpha holds one of two facts of q1 and the one of q2; beta both of q1 and none of q2.
    assert [alpha["fact_recall@1"]["mean"], beta["fact_recall@1"]["mean"]] == [0.75, 0.5]
    assert [alpha["fact_recall@3"]["mean"], beta["fact_recall@3"]["mean"]] == [1.0, 1.0]
    assert facts["vital"]["alpha"]["fact_recall@1"]["mean"] == 1.0
    assert facts["context"]["alpha"]["1"]["characters"] == (60 + 69) / 2


def test_the_page_says_where_each_fact_stands_and_what_brings_nothing_new(world: World) -> None:
    report = report_of(world)
    rows = {row.fact_id: row for row in FactsOfRun(report, "alpha")}
    fill_others(report, "alpha", 1, [rows["often"]])
    assert (rows["often"].place, rows["often"].document_id, rows["often"].others) == (2, "d4", ["beta"])
    assert [rows[name].where for name in ("lines", "often", "kept")] == ["place 1", "place 2", "place 1"]
    stale = stale_documents(report, "beta", 3)
    assert [(one.query_id, one.document_id, one.place) for one in stale] == [("q1", "d1", 2)]


def test_a_half_judged_report_tells_what_nobody_judged(world: World) -> None:
    report = report_of(world, SAID[:1])
    facts = facts_in(report)
    assert facts is not None
    alpha = facts["runs"]["alpha"]["fact_recall@1"]
    assert (alpha["mean"], alpha["queries"], facts["counts"]["without_judged"]) == (0.5, 1, 1)
    assert facts["runs"]["alpha"]["alpha_ndcg@1"]["mean"] is None
    assert "not relevant = no support" in alpha["line"]
    client = Client()
    client.force_login(world.vera)
    page = client.get(f"/reports/{report.pk}/facts/?run=alpha&k=1").content.decode()
    assert "nobody has judged a document for it" in page
    assert "α-nDCG and redundancy need" in page
    rows = client.get(f"/api/reports/{report.pk}/facts/?run=alpha&k=1").json()
    assert [row["judged"] for row in rows] == [True, False, False]
    for k in ("7", "x"):
        for call in ("facts/", "facts/difference/"):
            refused = client.get(f"/api/reports/{report.pk}/{call}?run=alpha&against=beta&k={k}")
            assert (refused.status_code, list(refused.json()["fields"])) == (400, ["k"])
    assert (
        "2 queries, 1 of them without a judged pair" in client.get(f"/reports/{report.pk}/").content.decode()
    )


def test_a_report_as_ndeval_leaves_out_queries_without_a_support(world: World) -> None:
    said = [*SAID[:4], ("q2", "kept", "d2", "no")]
    facts = facts_in(report_of(world, said, conventions={"preset": "ndeval"}))
    assert facts is not None
    assert (facts["conventions"]["denominator"], facts["counts"]["without_facts"]) == ("findable", 1)
    assert facts["runs"]["alpha"]["fact_recall@3"]["queries"] == 1


def test_fact_recall_has_pictures_over_k_and_over_characters(world: World, client: Client) -> None:
    report = report_of(world)
    figures = figures_of(report)
    over_k = fact_curve_table(figures).set_index(["run", "k"])
    assert over_k.loc[("alpha", 1), "mean"] == 0.75
    characters = context_table(figures).set_index(["run", "k"])
    assert characters.loc[("alpha", 1), "characters"] == (60 + 69) / 2
    client.force_login(world.vera)
    page = client.get(f"/reports/{report.pk}/facts/").content.decode()
    for name in ("facts", "facts-by-characters"):
        assert f"/reports/{report.pk}/charts/{name}/light.svg" in page
        assert client.get(f"/reports/{report.pk}/charts/{name}/light.svg").content.startswith(b"<svg")
        assert "<table>" in client.get(f"/reports/{report.pk}/charts/{name}/").content.decode()


def test_a_viewer_reads_the_facts_of_a_report(world: World) -> None:
    world.add_document()
    report = report_of(world)
    client = Client()
    client.force_login(world.vera)
    page = client.get(f"/reports/{report.pk}/").content.decode()
    # The pool ends at 2: 1 is the deepest K of the report that the labels reach.
    assert "Fact recall@1 of alpha is 0.750" in page
    whole = client.get(f"/api/reports/{report.pk}/").json()
    assert "facts" in whole
    assert set(whole) <= set(ReportResultSerializer().fields)
    rows = client.get(f"/api/reports/{report.pk}/facts/?run=beta&k=1").json()
    assert [(row["fact_id"], row["place"]) for row in rows] == [("lines", 1), ("often", 1), ("kept", 3)]
    shown = client.get(f"/reports/{report.pk}/facts/?run=alpha&k=1&against=beta").content.decode()
    assert "Night buses come every thirty minutes." in shown
    assert "alpha holds 1 fact that beta misses in its first 1, and misses 1 that beta holds." in shown
    unknown = client.get(f"/reports/{report.pk}/facts/?run=gamma")
    assert (unknown.status_code, "no run “gamma”" in unknown.content.decode()) == (404, True)


def test_two_runs_are_compared_with_interval_and_bounds(world: World, client: Client) -> None:
    report = report_of(world, [one for one in SAID if one[1:3] != ("often", "d1")])
    client.force_login(world.vera)
    figures = client.get(f"/api/reports/{report.pk}/facts/difference/?run=alpha&against=beta&k=1").json()
    # At 1 alpha holds one of two facts of q1 and the one of q2; beta both of q1 and none of q2.
    assert (figures["run"], figures["other"], figures["difference"]) == (0.75, 0.5, 0.25)
    # Nobody judged d1, which alpha has first, for the other fact of q1.
    assert (figures["bound_low"], figures["bound_high"]) == (0.25, 0.5)
    page = client.get(f"/reports/{report.pk}/facts/?run=alpha&against=beta&k=1").content.decode()
    assert "it is between 0.250 and 0.500" in page
    assert "alpha holds more in any case" in page
    assert (figures["first"], figures["second"]) == ("alpha", "beta")


def test_no_run_of_a_comparison_is_guessed(world: World, client: Client) -> None:
    report = report_of(world)
    client.force_login(world.vera)
    for named, status, field, sentence in [
        ("run=alpha&against=alpha", 400, "against", "alpha would be compared with itself."),
        ("run=alpha&against=gamma", 404, "against", "This report has no run “gamma”."),
        ("run=alpha", 400, "against", "required"),
        ("against=alpha", 400, "run", "required"),
    ]:
        refused = client.get(f"/api/reports/{report.pk}/facts/difference/?{named}")
        assert (refused.status_code, list(refused.json()["fields"])) == (status, [field])
        assert sentence in refused.json()["fields"][field]


@pytest.mark.parametrize("with_labels", [True, False])
def test_the_command_compares_runs_by_facts_as_the_report_does(
    world: World, client: Client, tmp_path: Path, with_labels: bool
) -> None:
    report = report_of(world, [one for one in SAID if one[1:3] != ("often", "d1")])
    client.force_login(world.vera)
    address = f"/api/reports/{report.pk}/facts/difference/?run=alpha&against=beta"
    told = [client.get(f"{address}&k={k}").json() for k in (1, 3)]
    names = {form: tmp_path / f"{form}.jsonl" for form in ("facts", "supports")}
    for form, path in names.items():
        path.write_bytes(export_release(report.release, form))
    labels = tmp_path / "labels.txt"
    labels.write_bytes(export_release(report.release, "trec"))
    paths = []
    for run, found in (("alpha", ("d1 d4 d5", "d2 d6 d1")), ("beta", ("d4 d1 d6", "d6 d3 d2"))):
        paths.append(tmp_path / f"{run}.run")
        paths[-1].write_text(
            "".join(
                f"{query} Q0 {document} {place} {9 - place} {run}\n"
                for query, documents in zip(("q1", "q2"), found, strict=True)
                for place, document in enumerate(documents.split(), 1)
            )
        )
    samples = report.result["facts"]["conventions"]["interval"]["samples"]
    asked = [*paths, "--facts", names["facts"], "--supports", names["supports"], "--k", "1", "3"]
    asked = [*asked, "--samples", samples]

    def ran(form: str) -> str:
        output = StringIO()
        named = [labels, *asked] if with_labels else asked
        call_command("evaluate", *map(str, named), "--format", form, stdout=output)
        return output.getvalue()

    compared = json.loads(ran("json"))["fact_comparisons"]
    assert compared == [{"first": "alpha", "second": "beta", **one} for one in told]
    table = ran("table")
    assert "alpha - beta   0.000       0.000 to 0.000" in table  # at 3, the K next to 10


@pytest.mark.database
def test_a_release_freezes_facts_with_their_checksums(world: World, tmp_path: Path) -> None:
    release = report_of(world).release
    decide_facts(list(Fact.objects.all()), "rejected", user=world.ada)
    assert export_release(release, "facts").count(b"\n") == 3
    assert export_release(release, "diversity").decode().splitlines()[:2] == ["q1 1 d1 1", "q1 1 d4 1"]
    assert release.sidecar["facts"]["counts"]["supports"] == 4
    path = tmp_path / "out.txt"
    said = StringIO()
    call_command("export_qrels", "harbour", "--format", "diversity", "--output", str(path), stdout=said)
    assert path.read_bytes() == export_release(release, "diversity")
    lines = path.read_bytes().count(b"\n")
    assert f"{lines} pairs of fact and document" in said.getvalue()
    later = release_qrels(world.collection, name="v2", user=world.ada)
    with pytest.raises(InputError, match="“v2” has no facts"):
        export_release(later, "facts")
