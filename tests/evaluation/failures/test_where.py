"""Where a report's runs fail: the functions, their pages and the HTTP interface."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from evaluation.failures import stored_breakdown as report_breakdown
from evaluation.failures.side_by_side import side_by_side
from evaluation.failures.stored_breakdown import BreakdownRequest, breakdown_of
from evaluation.failures.stored_queries import QuerySelection, query_table
from evaluation.models import Report
from evaluation.scoring.conventions import Conventions
from pooling.interface.problems import InputError
from pooling.models import Document, Query, Run
from tests.evaluation.cast import SPARSE, make_report
from tests.world import World, qrels_text, run_text

pytestmark = pytest.mark.anywhere

PAGES = (
    "where/",
    "where/light.svg",
    "where/download/csv/",
    "queries/",
    "queries/?format=csv",
    "queries/download/missed/",
    "queries/detail/?query=q1",
)
CALLS = ("breakdown/", "breakdown/files/csv/", "queries/?run=alpha", "queries/detail/?query=q1")
ODD = "q/1 ?<b>&é"
MARKUP = "<script>alert('x')</script>"


def say(query: str, **metadata: Any) -> None:
    """What the collection says of a query."""
    Query.objects.filter(external_id=query).update(metadata=metadata)


def get(client: Client, report: Report, address: str) -> str:
    response = client.get(f"/reports/{report.pk}/{address}")
    assert response.status_code == 200, response.content.decode()[:2000]
    return str(response.content.decode())


def file(client: Client, report: Report, address: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    response = client.get(f"/reports/{report.pk}/{address}")
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))  # type: ignore[attr-defined]


def call(world: World, report: Report, address: str) -> Any:
    client = APIClient()
    client.force_authenticate(world.vera)
    return client.get(f"/api/reports/{report.pk}/{address}")


def make_wide_report(world: World) -> Report:
    """Ten queries; alpha finds d1 of all but the last at rank 1, beta of the last alone."""
    for number in range(4, 11):
        Query.objects.create(collection=world.collection, external_id=f"q{number}", text=f"query {number}")
    ids = [f"q{number}" for number in range(1, 11)]
    for name, wins in (("alpha", ids[:9]), ("beta", ids[9:])):
        path = world.folder / f"{name}.run"
        path.write_text(run_text({query: ["d1" if query in wins else "d2"] for query in ids}))
        from pooling.runs.stored import import_run

        import_run(world.collection, path, user=world.ada)
    return make_report(world, "".join(f"{query} 0 d1 1\n{query} 0 d2 0\n" for query in ids), k=[1])


def test_a_viewer_reads_every_page_file_and_call(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    for address in (
        *(f"/reports/{report.pk}/{page}" for page in PAGES),
        *(f"/api/reports/{report.pk}/{call}" for call in CALLS),
    ):
        response = client.get(address)
        assert response.status_code == 200, address
        assert response.getvalue()  # which closes a file


def test_all_queries_have_the_mean_and_interval_of_the_report(world: World) -> None:
    report = make_wide_report(world)
    figure = report.result["runs"]["alpha"]["recall@1"]

    whole = breakdown_of(report, BreakdownRequest("run", "recall", 1)).groups[0].runs["alpha"]
    again = breakdown_of(report, BreakdownRequest("run", "recall", 1)).groups[0].runs["alpha"]

    assert (whole.mean, whole.low, whole.high) == (figure["mean"], figure["low"], figure["high"])
    assert again == whole  # from the intervals that were kept
    assert (whole.share_zero, whole.share_reaching) == (0.1, 0.9)


def test_a_tag_that_came_later_is_a_group_and_weights_move_only_the_weighted_mean(world: World) -> None:
    report = make_wide_report(world)
    before = breakdown_of(report, BreakdownRequest("relevant", "recall", 1))
    for number in range(1, 11):
        say(f"q{number}", tags=["late"] if number > 4 else [], weight=1 if number < 10 else 9)

    late = breakdown_of(report, BreakdownRequest("tag", "recall", 1)).groups[1]
    whole = breakdown_of(report, BreakdownRequest("relevant", "recall", 1)).groups[0].runs["alpha"]

    assert (late.group.name, late.runs["alpha"].n, late.runs["alpha"].mean) == (
        "late",
        6,
        pytest.approx(5 / 6),
    )
    assert (before.is_weighted, before.groups[0].runs["alpha"].weighted) == (False, None)
    assert whole.mean == before.groups[0].runs["alpha"].mean == 0.9
    assert whole.weighted is not None
    assert whole.weighted.mean == 0.5


def test_the_page_has_a_row_per_group_and_run_that_leads_to_its_queries(world: World, client: Client) -> None:
    report = make_wide_report(world)
    for number in range(1, 11):
        say(f"q{number}", type="how" if number > 4 else "what")
    client.force_login(world.vera)

    page = get(client, report, "where/?by=type&k=1&threshold=0.75")

    for words in ("Recall@1 by type", "the collection's current ones", "≥ 0.75", "small: n = 4"):
        assert words in page, words
    assert "by=type&amp;measure=recall&amp;k=1&amp;run=alpha&amp;group=how" in page.replace("&amp;order", "")
    assert "no query of this report has a frequency" in page
    listed = get(client, report, "queries/?by=type&group=how&run=beta&k=1")
    assert 'role="status">6 queries<' in listed
    assert "Only the group “how” by type." in listed
    rows = file(client, report, "where/download/csv/?by=type&k=1")
    assert [(row["group"], row["run"], row["queries"]) for row in rows if row["kind"] == "group"] == [
        ("how", "alpha", "6"), ("how", "beta", "6"), ("what", "alpha", "4"), ("what", "beta", "4")
    ]  # fmt: skip


def test_the_page_comes_before_intervals_that_take_a_while_and_they_follow_by_themselves_or_a_link(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_breakdown, "MOST_DRAWS_AT_ONCE", 0)
    report = make_wide_report(world)
    for number in range(1, 11):
        say(f"q{number}", type="how")
    client.force_login(world.vera)
    address = "where/?by=type&k=1"

    page = get(client, report, address)
    assert "Open the page with intervals" in page
    assert page.count('<td class="interval">…</td>') == 2  # of two runs: "all" is known
    assert ".svg?" not in page
    wanted = re.findall(r'hx-get="([^"]*)"', page)
    assert len(wanted) == 1
    assert f'<a href="{wanted[0]}">' in page
    follow = "where/" + unescape(wanted[0])
    part = client.get(f"/reports/{report.pk}/{follow}", headers={"HX-Request": "true"}).content.decode()
    for words in ('hx-swap-oob="innerHTML"', ".svg?", "Group by group"):
        assert words in part, words
    for words in ("<html", "hx-get", "…</td>"):
        assert words not in part, words
    for opened in (follow, address):  # without JavaScript, and later when they are kept
        whole = get(client, report, opened)
        assert "</html>" in whole
        assert "hx-get" not in whole
        assert part.split("<section", 1)[1].strip() in whole


def test_what_asks_for_the_figures_themselves_waits_for_the_intervals(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_breakdown, "MOST_DRAWS_AT_ONCE", 0)
    report = make_wide_report(world)

    group = call(world, report, "breakdown/?k=1&run=beta").json()["groups"][1]

    assert group["runs"]["beta"]["low"] is not None


def test_groups_by_tag_say_that_they_overlap_and_queries_without_weight_are_named(
    world: World, report: Report, client: Client
) -> None:
    say("q1", tags=["bus", "night"], frequency=3)
    client.force_login(world.vera)

    page = get(client, report, "where/?by=tag")

    for words in ("Groups overlap", "without a tag", "2 queries have no weight", "q2 q3", "Weighted"):
        assert words in page, words
    assert "Only queries in no group by tag." in get(client, report, "queries/?by=tag&ungrouped=1")


def test_a_query_string_without_sense_falls_back(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    for address in [
        "where/?by=colour&measure=x&k=7&threshold=2&run=no&order=x",
        "queries/?run=x&k=x&sort=x&page=99",
        "queries/?by=tag",
    ]:
        assert "alpha" in get(client, report, address)


def test_a_group_that_is_gone_is_said(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    assert "No query says anything under metadata.type" in get(client, report, "queries/?by=type&group=how")
    assert "There is no group 99 by number of" in get(client, report, "queries/?by=relevant&group=99")
    assert client.get(f"/reports/{report.pk}/queries/download/missed/?by=type&group=how").status_code == 404


def test_the_table_says_what_was_missed_where_it_came_and_who_alone_found_it(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.vera)

    page = get(client, report, "queries/?run=beta&k=2")

    for words in ("lost umbrella", "1 missed", "Lost property", "rank 3", "only alpha found it (1)"):
        assert words in page, words
    missed = file(client, report, "queries/download/missed/?run=beta&k=2")
    names = ("query_id", "document_id", "relevance", "rank", "found_by_runs", "found_by")
    assert missed[0] == dict(zip(names, ("q2", "d2", "1", "3", "1", "alpha"), strict=True))
    rows = file(client, report, "queries/?run=beta&k=2&format=csv")
    assert [(row["Query"], row["Recall@2"], row["Missed"]) for row in rows] == [
        ("q2", "0.0", "1"),
        ("q3", "0.0", "1"),
        ("q1", "1.0", "0"),
    ]


def test_the_table_is_sorted_and_filtered(report: Report) -> None:
    say("q3", weight=7)

    def ids(**options: Any) -> list[str]:
        return query_table(report, QuerySelection("beta", k=2, **options))["query_id"].to_list()

    assert ids() == ["q2", "q3", "q1"]
    assert ids(sort="best") == ["q1", "q2", "q3"]
    assert ids(sort="relevant") == ["q1", "q2", "q3"]
    assert ids(sort="weight") == ["q3", "q2", "q1"]
    assert ids(show="missed", sort="query") == ["q2", "q3"]
    assert ids(sort="+found") == ["q2", "q3", "q1"]
    assert ids(sort="-query") == ["q3", "q2", "q1"]
    assert ids(search="UMBRELLA") == ["q2"]
    assert ids(search="umbrella lost") == ["q2"]
    assert ids(search="q1") == ["q1"]
    assert ids(by="relevant", group="2–5") == ["q1"]


def test_the_page_sorts_finds_and_filters_as_its_address_says(world: World, client: Client) -> None:
    report = make_wide_report(world)
    client.force_login(world.vera)

    def ids(address: str) -> list[str]:
        rows = file(client, report, f"queries/?run=beta&k=1&format=csv&{address}")
        return [row["Query"] for row in rows]

    ten = [f"q{number}" for number in range(1, 11)]
    assert ids("sort=query") == ten
    assert ids("sort=-value") == ["q10", *ten[:9]]
    assert ids("show=missed&sort=-query") == ten[8::-1]
    assert ids("q=query+4") == ["q4"]


def test_queries_that_do_not_count_and_queries_without_an_answer_are_said(
    world: World, client: Client
) -> None:
    path = world.folder / "short.run"
    path.write_text(run_text({"q1": ["d4"]}))
    from pooling.runs.stored import import_run

    import_run(world.collection, path, user=world.ada)
    report = make_report(world, SPARSE, k=[1])
    client.force_login(world.vera)

    page = get(client, report, "queries/?run=short&k=1")
    assert "not scored: nothing relevant" in page
    assert "no answer from short" in page
    undefined = get(client, report, "queries/detail/?query=q3&a=short&k=1")
    assert "No document of this query has a relevant label" in undefined
    assert "This report has only one run" in undefined
    assert "short has no answer for this query." in undefined


def test_two_runs_side_by_side_say_who_found_what(report: Report) -> None:

    found = side_by_side(report, "q2", 2, a="alpha", b="beta")

    assert [one.document_id for one in found.only_a] == ["d2"]
    assert (found.only_a[0].rank_a, found.only_a[0].rank_b) == (1, 3)
    assert (found.a.recall, found.b.recall, found.relevant) == (1, 0, 1)
    assert [
        (place.document_id, place.label, place.rank_in_other, place.only_here) for place in found.b.documents
    ] == [
        ("d6", "not_relevant", 2, False),
        ("d3", "not_relevant", None, True),
    ]
    # The other run with the highest recall stands beside the one that is named.
    assert side_by_side(report, "q2", 2, b="beta").a.run == "alpha"
    assert side_by_side(report, "q2", 2, a="beta", b="beta").b.run == "alpha"
    turned = side_by_side(report, "q2", 1, a="beta", b="alpha")
    assert [one.document_id for one in turned.only_b] == ["d2"]


def test_unjudged_documents_lost_runs_and_ties_at_k_are_said(world: World, client: Client) -> None:
    path = world.folder / "tied.run"
    path.write_text("q1 Q0 d1 1 5 t\nq1 Q0 d4 2 5 t\nq1 Q0 d5 3 1 t\n")
    from pooling.runs.stored import import_run

    world.import_runs()
    import_run(world.collection, path, user=world.ada)
    report = make_report(world, SPARSE, k=[1, 3])
    Document.objects.filter(external_id="d4").update(text=None, title="")
    client.force_login(world.vera)

    page = get(client, report, "queries/detail/?query=q1&a=tied&b=beta&k=1")
    for words in ("Both missed", "unjudged", "equal scores"):
        assert words in page, words
    assert "The text of this document was not imported." in page
    ranked = make_report(world, SPARSE, k=[1], conventions=Conventions(ties="rank"), name="by rank")
    assert not side_by_side(ranked, "q1", 1, a="tied", b="beta").a.tied_at_k
    Run.objects.get(name="tied").delete()
    assert "This run is no longer stored" in get(client, report, "queries/detail/?query=q1&a=tied&k=1")


def test_odd_ids_and_texts_are_escaped_and_lead_where_they_should(world: World, client: Client) -> None:
    Query.objects.create(
        collection=world.collection, external_id=ODD, text=MARKUP, metadata={"tags": [MARKUP]}
    )
    Document.objects.filter(external_id="d1").update(title=MARKUP, text=MARKUP)
    from pooling.runs.stored import import_run

    for name, first in (("one", "d1"), ("two", "d2")):
        path = world.folder / f"{name}.jsonl"
        path.write_text(
            "".join(
                f'{{"query_id": "{ODD}", "document_id": "{document}", "score": {score}}}\n'
                for document, score in ((first, 2), ("d3", 1))
            )
        )
        import_run(world.collection, path, user=world.ada)
    labels = world.folder / "odd.jsonl"
    labels.write_text(f'{{"query_id": "{ODD}", "document_id": "d1", "relevance": 1}}\n')
    from labeling.qrels.imported import import_qrels
    from labeling.qrels.releases import release_qrels

    import_qrels(world.collection, labels, user=world.ada)
    release_qrels(world.collection, name="odd", user=world.ada)
    report = make_report(world, k=[1])
    client.force_login(world.vera)

    where = f"queries/detail/?{urlencode({'query': ODD, 'b': 'two', 'k': 1})}"
    detail = get(client, report, where)
    assert "one found, two missed" in detail
    for address in ("?run=two&k=1", "queries/?run=two&k=1"):
        page = get(client, report, address)
        assert "/queries/detail/?query=q%2F1" in page, address
    for address in (
        "where/?by=tag",
        "queries/?run=two",
        where,
        "queries/?" + urlencode({"by": "tag", "group": MARKUP}),
    ):
        page = get(client, report, address)
        assert "<script>alert" not in page, address
        assert "&lt;script&gt;" in page, address
    assert call(world, report, f"queries/detail/?{urlencode({'query': ODD})}").json()["query"]["id"] == ODD


def test_more_queries_take_no_more_statements(
    world: World, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    report = make_wide_report(world)
    say("q1", tags=["x"], weight=2)
    client.force_login(world.vera)
    for address, most in (
        ("where/?by=tag", 5),
        ("queries/?run=beta&sort=weight&q=query&by=tag&ungrouped=1", 11),
        ("queries/detail/?query=q1", 9),
    ):
        with django_assert_max_num_queries(most):
            get(client, report, address)


def test_the_calls_give_what_the_pages_show(world: World) -> None:
    report = make_wide_report(world)

    broken = call(world, report, "breakdown/?k=1&run=beta&threshold=1").json()
    assert broken["groups"][0]["runs"]["beta"]["share_reaching"] == 0.1
    assert [(group["group"], group["queries"]) for group in broken["groups"]] == [(None, 10), ("1", 10)]
    listed = call(world, report, "queries/?run=beta&k=1&show=missed&sort=query").json()
    assert (listed["count"], listed["page"], listed["pages"]) == (9, 1, 1)
    assert listed["queries"][0]["missed_documents"][0]["found_by"] == [{"run": "alpha", "rank": 1}]
    beyond = call(world, report, f"queries/?run=beta&page={10**30}").json()
    assert (beyond["pages"], beyond["queries"]) == (1, [])
    beside = call(world, report, "queries/detail/?query=q10&a=alpha&b=beta&k=1").json()
    assert [one["document_id"] for one in beside["relevant"]["only_b"]] == ["d1"]
    assert beside["a"]["documents"][0]["label"] == "not_relevant"


def test_a_call_that_asks_for_what_is_not_there_names_the_field(world: World, report: Report) -> None:
    for address, status, field in [
        ("breakdown/?by=colour", 400, "by"),
        ("breakdown/?measure=warmth", 400, "measure"),
        ("breakdown/?k=7", 400, "k"),
        ("breakdown/files/csv/?by=colour", 400, "by"),
        ("breakdown/?run=gamma", 400, "run"),
        ("breakdown/?threshold=2", 400, "threshold"),
        ("queries/", 400, "run"),
        ("queries/?run=alpha&sort=x", 400, "sort"),
        ("queries/?run=alpha&by=relevant&group=99", 400, "group"),
        ("charts/?measure=warmth", 400, "measure"),
        ("charts/curve/?k=7", 400, "k"),
        ("charts/curve/?k=x", 400, "k"),
        ("charts/curve/?show=gamma", 400, "show"),
        ("charts/gains/?a=gamma", 400, "a"),
        ("charts/gains/?a=alpha&b=alpha", 400, "b"),
        ("queries/detail/", 400, "query"),
        ("queries/detail/?query=q1&a=gamma", 400, "a"),
        ("queries/detail/?query=nobody", 404, "query"),
    ]:
        response = call(world, report, address)
        assert (response.status_code, list(response.json()["fields"])) == (status, [field]), address


def test_measures_over_the_whole_run_have_no_k(world: World, client: Client) -> None:
    report = make_report(world, measures=["recall", "map"])
    client.force_login(world.vera)
    assert "MAP by number of relevant documents" in get(client, report, "where/?measure=map")
    assert "MAP of alpha by query" in get(client, report, "queries/?measure=map")
    with pytest.raises(InputError, match="map at K = 1"):
        breakdown_of(report, BreakdownRequest("run", "map", 1))


def test_labels_are_of_the_release_and_grades_are_told(world: World, client: Client) -> None:
    report = make_report(world, qrels_text().replace("q1 0 d1 1", "q1 0 d1 3"))
    client.force_login(world.vera)
    assert "relevant (3)" in get(client, report, "queries/detail/?query=q1&k=1")


def test_a_breakdown_is_the_same_file_from_the_page_and_from_the_call(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.vera)
    for kind in ["csv", "svg", "png"]:
        page = client.get(f"/reports/{report.pk}/where/download/{kind}/?by=relevant&k=1")
        answer = call(world, report, f"breakdown/files/{kind}/?by=relevant&k=1")
        assert answer["Content-Disposition"] == page["Content-Disposition"]
        assert answer.content == page.getvalue()
