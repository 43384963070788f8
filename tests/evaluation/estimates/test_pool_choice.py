"""Which pool a report's estimates rest on: the audit that is furthest answered, or the one that was named."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation.models import Report
from evaluation.reports.changes import what_changed
from evaluation.reports.export import html_of, table_of
from evaluation.reports.making import ReportRequest, request_again, request_report
from pooling.interface.problems import InputError
from pooling.models import Pool
from pooling.pools.building import build_pool
from pooling.pools.versions import extend_pool
from pooling.tidying.doing import delete, rename
from tests.evaluation.cast import make_release, make_report
from tests.ground import made_once
from tests.world import RELEVANT, World

pytestmark = [pytest.mark.anywhere, pytest.mark.django_db]
AUDITED = {"depth": 3, "budget": 9, "audit_share": 0.4}
KEYS = ("query__external_id", "document__external_id")


@made_once
def three_pools(world: World) -> tuple[Pool, Pool, Pool]:
    """A pool without an audit, one whose audit gets its labels, and one whose audit waits; then the first is
    extended by a run, whose pairs have labels as well."""
    alpha, beta = world.import_runs()
    bare = build_pool(world.collection, name="bare", runs=[alpha], depth=1)
    audited = build_pool(world.collection, name="audited", runs=[alpha, beta], seed=3, **AUDITED)
    begun = build_pool(world.collection, name="begun", runs=[alpha, beta], seed=8, **AUDITED)
    chosen = audited.entries.filter(inclusion_probability__isnull=False)
    wider = extend_pool(bare, runs=[beta])
    release_pairs(world, {*chosen.values_list(*KEYS), *wider.entries.values_list(*KEYS)})
    return wider, audited, begun


def release_pairs(world: World, pairs: set[tuple[str, str]], name: str = "labels") -> None:
    lines = (f"{query} 0 {document} {int((query, document) in RELEVANT)}\n" for query, document in pairs)
    make_release(world, "".join(sorted(lines)), name=name)


def ask(world: World, **body: Any) -> Any:
    client = APIClient()
    client.force_authenticate(world.ada)
    return client.post(f"/api/collections/{world.collection.slug}/reports/", body, format="json")


@pytest.mark.database
def test_estimates_rest_on_the_finished_audit_and_not_on_the_newest_pool(
    world: World, three_pools: tuple[Pool, Pool, Pool]
) -> None:
    wider, audited, _ = three_pools
    assert wider.pk == max(world.collection.pools.values_list("pk", flat=True))
    report = make_report(world)
    found = report.result["estimates"]

    assert (found["status"], found["pool"]["name"]) == ("estimated", audited.name)
    assert found["queries"]["estimated"] == 3
    assert (found["pool"]["answered"], found["pool"]["asked"]) == (1.0, False)
    assert [other["name"] for other in found["pool"]["others"]] == ["begun"]
    assert found["pool"]["others"][0]["answered"] < 1
    assert report.options["pool"] == audited.name


def test_a_pool_without_an_audit_says_nothing_of_what_is_missing(
    world: World, three_pools: tuple[Pool, Pool, Pool], client: Client
) -> None:
    """All pairs of the extended pool have a label; nobody knows what the others hold."""
    wider, _, _ = three_pools
    assert ask(world, pool=wider.name).status_code == 201
    report = Report.objects.get()
    found = report.result["estimates"]

    assert (found["status"], found["pool"]["name"]) == ("no audit", wider.name)
    for name in ("relevant", "would", "sample", "queries"):
        assert found[name] is None
    assert (found["runs"], found["missing"]) == ({}, [])
    client.force_login(world.vera)
    page = client.get(report.get_absolute_url()).content.decode()
    for text in (found["sentence"], page):
        assert "has no audit, so nothing is estimated" in text
        for claim in ("were seen", "exact)", "at most 0", "Queries estimated"):
            assert claim not in text


def test_everything_that_shows_an_estimate_names_its_pool(
    world: World, three_pools: tuple[Pool, Pool, Pool], client: Client
) -> None:
    report = make_report(world)
    client.force_login(world.ada)
    page = client.get(report.get_absolute_url()).content.decode()
    named = "relevant documents in pool “audited”"
    for text in (
        page,
        html_of(report).decode(),
        *(table_of(report, f).decode() for f in ("json", "markdown")),
    ):
        assert named in text
    assert "the furthest of all pools" in page
    assert '<option value="begun">' in page


@pytest.mark.database
def test_another_pool_can_be_named_and_is_kept(
    world: World, three_pools: tuple[Pool, Pool, Pool], client: Client
) -> None:
    _, _, begun = three_pools
    first = make_report(world)
    client.force_login(world.ada)
    client.post(reverse("report_again", args=[first.pk]), {"pool": begun.name})
    other = Report.objects.order_by("-pk").first()
    assert other is not None
    assert other.pk != first.pk
    assert other.result["estimates"]["pool"]["name"] == other.options["pool"] == begun.name
    again = request_again(other, world.ada)
    assert isinstance(again, Report)
    assert again.options["pool"] == begun.name
    form = {"pool": begun.name, "runs": [run.pk for run in world.collection.runs.all()]}
    form |= {"release": first.release.pk, "k": "1 3", "measures": ["recall"], "min_relevance": 1}
    client.post(reverse("report_new", args=[world.collection.slug]), form)
    assert Report.objects.order_by("-pk").values_list("options", flat=True)[0]["pool"] == begun.name


def test_a_report_made_again_rests_on_its_own_pool_though_another_is_further_now(
    world: World, three_pools: tuple[Pool, Pool, Pool]
) -> None:
    _, audited, begun = three_pools
    first = make_report(world)
    make_release(world, name="more")  # the newer audit is finished as well
    assert make_report(world).options["pool"] == begun.name
    again = request_again(first, world.ada)
    assert isinstance(again, Report)
    assert again.options["pool"] == audited.name
    assert again.result["estimates"]["relevant"] == first.result["estimates"]["relevant"]


def test_a_report_follows_its_pool_when_that_gets_another_name(
    world: World, three_pools: tuple[Pool, Pool, Pool], client: Client
) -> None:
    _, audited, begun = three_pools
    first = make_report(world)
    rename(audited, "finished")
    rename(begun, "audited")
    client.force_login(world.ada)
    page = client.get(first.get_absolute_url()).content.decode()
    assert f'<a href="{audited.get_absolute_url()}">finished</a>' in page
    assert "then called “audited”" in page
    assert '<option value="audited">' in page
    assert '<option value="finished">' not in page
    again = request_again(first, world.ada)
    assert isinstance(again, Report)
    assert again.result["estimates"]["pool"]["id"] == audited.pk
    assert "Pool of the estimates" not in [change.what for change in what_changed(first, again)]
    delete(audited)
    assert "finished" not in client.get(first.get_absolute_url()).content.decode()


@pytest.mark.parametrize("name", ["nowhere", "picked"])
def test_a_pool_that_is_not_there_or_was_picked_is_refused(
    world: World, three_pools: tuple[Pool, Pool, Pool], name: str
) -> None:
    Pool.objects.create(collection=world.collection, name="picked", depth=1, strategy=Pool.SEARCH)
    refused = ask(world, pool=name)
    assert refused.status_code == 400
    assert f"There is no pool “{name}” that estimates can rest on." in str(refused.json())
    with pytest.raises(InputError, match="begun"):
        request_report(world.collection, ReportRequest(pool=name), world.ada)


def test_of_two_finished_audits_the_one_over_more_of_the_runs_counts(world: World) -> None:
    alpha, beta = world.import_runs()
    build_pool(world.collection, name="both", runs=[alpha, beta], seed=3, **AUDITED)
    build_pool(world.collection, name="alpha alone", runs=[alpha], seed=3, **AUDITED)
    report = make_report(world)  # everything is labelled
    assert report.options["pool"] == "both"
    assert report.result["estimates"]["pool"]["others"] == [{"name": "alpha alone", "answered": 0.5}]


def test_of_equals_the_pool_with_most_pairs_counts(world: World) -> None:
    runs = world.import_runs()
    build_pool(world.collection, name="wide", runs=runs, seed=3, **AUDITED)
    make_release(world)
    small = build_pool(world.collection, name="known", runs=runs, depth=1, audit_share=0.4, budget=3)
    report = make_report(world)
    assert report.options["pool"] == "wide"
    assert report.result["estimates"]["pool"]["others"] == [{"name": small.name, "answered": 1.0}]


def test_the_share_answered_is_over_the_queries_measured() -> None:
    from evaluation.estimates.sample import AuditSample, answered_share

    rows = [
        ("q1", 2, 0, True),  # all that was drawn
        ("q2", 1, 3, True),  # a quarter
        ("q3", 1, 1, False),  # a stratum of it cannot be estimated
        ("q3", 0, 1, False),
        ("q4", 0, 0, True),  # nothing had to be drawn
        ("q9", 1, 0, True),  # not measured
    ]
    schema = ["query_id", "sampled", "waiting", "defined"]
    strata = pl.DataFrame(rows, schema=schema, orient="row")
    sample = AuditSample(pl.DataFrame(), pl.DataFrame(), strata)
    measured = pl.Series(["q1", "q2", "q3", "q4", "elsewhere"])
    assert answered_share(sample, measured) == pytest.approx((1 + 1 / 4 + 0 + 1 + 0) / 5)


def test_a_pool_without_entries_gives_a_report_without_estimates(
    world: World, three_pools: tuple[Pool, Pool, Pool]
) -> None:
    empty = Pool.objects.create(collection=world.collection, name="empty", depth=1)
    estimates = make_report(world, pool=empty).result["estimates"]
    assert estimates["relevant"] is None
