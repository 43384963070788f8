"""The settings of a report: chosen on the page or over HTTP, kept, shown, and taken away as a file."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation.models import Report
from evaluation.report_store.settings import settings_of
from evaluation.scoring.config import parse_settings
from tests.evaluation.cast import SPARSE, make_release, make_report
from tests.ground import made_once
from tests.world import World

pytestmark = pytest.mark.anywhere

SLUG = "harbour"
FILE = """
k = [1, 2]
measures = ["recall", "ndcg@3", "map", "map@2"]
confidence = 0.9
tags = ["short"]
minimum_queries = 40
samples = 200
seed = 5
[conventions]
preset = "trec_eval-9"
missing = "zero"
[thresholds]
"recall@1" = 0.5
"""


@made_once
def ready(world: World) -> World:
    """Runs, labels, and two queries with a tag."""
    world.import_runs()
    make_release(world)
    for query in world.collection.queries.filter(external_id__in=["q1", "q2"]):
        query.metadata = {"tags": ["short"]}
        query.save()
    return world


def filled_in(client: Client, content: str) -> Any:
    file = SimpleUploadedFile("evaluation.toml", content.encode())
    return client.post(reverse("report_new", args=[SLUG]), {"fill": "1", "settings": file})


def sent(client: Client, form: Any) -> Any:
    """Send the form as a browser would: what it shows, and nothing for what is empty."""
    data = {name: value for name in form.fields if (value := form[name].value()) not in (None, "")}
    return client.post(reverse("report_new", args=[SLUG]), data)


def downloaded(client: Client, report: Report) -> str:
    response = client.get(reverse("report_download", args=[report.pk, "settings"]))
    assert "attachment" in response["Content-Disposition"]
    return response.getvalue().decode()


def test_a_file_fills_in_the_form_and_measures_nothing(ready: World, client: Client) -> None:
    client.force_login(ready.ada)
    response = filled_in(client, FILE)

    form = response.context["form"]
    assert (form["k"].value(), form["at_own_k"].value()) == ("1 2", "ndcg@3 map@2")
    assert (form["preset"].value(), form["missing"].value()) == ("trec_eval-9", "zero")
    assert form["thresholds"].value() == "recall@1 = 0.5"
    assert "The form is filled in from the file" in response.content.decode()
    assert not Report.objects.exists()


@pytest.mark.database
def test_a_file_gives_the_report_that_its_own_file_gives_again(ready: World, client: Client) -> None:
    client.force_login(ready.ada)
    sent(client, filled_in(client, FILE).context["form"])
    first = Report.objects.get()
    sent(client, filled_in(client, downloaded(client, first)).context["form"])
    second = Report.objects.exclude(pk=first.pk).get()

    assert second.options == first.options
    assert second.result == first.result
    assert first.options["k"] == [1, 2, 3]
    assert {"recall@3", "ndcg@1", "map", "map@2", "judged@3"} <= first.result["runs"]["alpha"].keys()
    assert first.result["conventions"]["interval"]["level"] == 0.9
    assert first.result["conventions"]["interval"]["samples"] == 200
    assert first.options["conventions"]["scores"] == "float32"
    assert first.options["conventions"]["missing"] == "zero"


def test_the_file_taken_away_is_read_as_what_the_report_holds(ready: World, client: Client) -> None:
    client.force_login(ready.ada)
    sent(client, filled_in(client, FILE).context["form"])
    report = Report.objects.get()

    client.force_login(ready.vera)
    assert parse_settings(downloaded(client, report).encode(), "report.toml") == settings_of(report)


@pytest.mark.database
def test_the_page_shows_strata_warning_thresholds_and_all_settings(ready: World, client: Client) -> None:
    client.force_login(ready.ada)
    sent(client, filled_in(client, FILE).context["form"])
    report = Report.objects.get()
    page = client.get(report.get_absolute_url()).content.decode()

    short = report.result["strata"]["short"]["runs"]
    assert "Recall@K by tag" in page
    assert short["beta"]["recall@1"]["mean"] == 0.25  # q1: 1/2, q2: 0
    assert "fewer than the minimum of 40" in page
    assert "Thresholds</strong> for means by complete labels" in page
    assert "recall@1 ≥ 0.5</span>: not met by beta" in page
    assert "90 % interval" in page
    for words in ("float32", "recall@1 ≥ 0.5", "Settings as TOML", "judged, map, map@2, ndcg"):
        assert words in page
    by_tag = "<summary><strong>By tag</strong></summary>"
    assert f'<details class="card">{by_tag}' in page
    sorted_page = client.get(f"{report.get_absolute_url()}?tag-sort=run").content.decode()
    assert f'<details class="card" open>{by_tag}' in sorted_page
    whole = client.get(f"{report.get_absolute_url()}?measure=map").content.decode()
    assert "whole run" in whole
    assert "@2" in whole


@pytest.mark.parametrize(
    ("content", "words"),
    [("k = 5", "evaluation.toml, line 1: k is 5"), ("<b> = 1", "line 1: not TOML"), ("", "empty")],
)
def test_a_wrong_file_is_refused_beside_its_field(
    ready: World, client: Client, content: str, words: str
) -> None:
    client.force_login(ready.ada)
    response = filled_in(client, content)

    assert words in response.content.decode()
    assert "<b> = 1" not in response.content.decode()
    assert "k" in response.context["form"].fields


def test_a_file_with_a_tag_that_no_query_has_is_refused_when_it_is_sent(ready: World, client: Client) -> None:
    client.force_login(ready.ada)
    form = filled_in(client, 'tags = ["rare"]').context["form"]
    page = sent(client, form).content.decode()

    assert "rare is not one of the available choices" in page
    assert not Report.objects.exists()


def test_the_form_says_what_is_wrong(ready: World, client: Client) -> None:
    client.force_login(ready.ada)
    form = client.get(reverse("report_new", args=[SLUG])).context["form"]
    data = {name: held for name in form.fields if (held := form[name].value()) not in (None, "")}
    for field, value, words in [
        ("confidence", "95", "less than or equal to 0.999"),
        ("thresholds", "recall@1: 0.4", "one threshold to a line"),
        ("thresholds", "recall = 0.4", "names no K"),
        ("thresholds", "recall@1 = 4", "from 0 to 1"),
        ("at_own_k", "ndgc@10", "There is no measure"),
        ("samples", "1000000", "from 1 to 100,000"),
    ]:
        response = client.post(reverse("report_new", args=[SLUG]), {**data, field: value})

        assert words in response.content.decode()
        assert not Report.objects.exists()


def test_without_tags_the_form_offers_none(world: World, client: Client) -> None:
    client.force_login(world.ada)
    assert "tags" not in client.get(reverse("report_new", args=[SLUG])).context["form"].fields


@pytest.mark.database
def test_a_tie_across_k_shows_its_interval_and_expectation(world: World, client: Client) -> None:
    from pooling.runs.stored import import_run

    path = world.folder / "tied.run"
    path.write_text("q1 Q0 d1 1 1 t\nq1 Q0 d4 2 1 t\nq1 Q0 d5 3 1 t\nq1 Q0 d6 4 1 t\n")
    import_run(world.collection, path, name="tied")
    client.force_login(world.vera)
    report = make_report(world, "q1 0 d1 1\n", k=[1])

    address = f"{report.get_absolute_url()}?columns=ties-recall@1"
    assert "0.000–1.000, expected 0.250" in client.get(address).content.decode()


def post(world: World, **body: Any) -> Any:
    client = APIClient()
    client.force_authenticate(world.ada)
    return client.post(f"/api/collections/{SLUG}/reports/", body, format="json")


def test_the_same_keys_go_over_http(ready: World) -> None:
    held = parse_settings(FILE.encode(), "evaluation.toml")
    body = {
        "k": held.k,
        "measures": held.measures,
        "conventions": held.conventions,
        "confidence": 0.9,
        "tags": ["short"],
        "minimum_queries": 40,
        "thresholds": {"recall@1": 0.5},
        "samples": 200,
        "seed": 5,
    }
    response = post(ready, **body)
    assert response.status_code == 201
    result = Report.objects.get().result

    assert result["strata"]["short"]["queries"]["scored"] == 2
    assert result["thresholds"]["recall@1"] == {
        "at_least": 0.5,
        "below": ["beta"],
        "basis": "complete",
    }
    assert "80 % power" in result["warnings"][0]
    assert result["conventions"]["scores"] == "float32"


def test_a_convention_beside_the_object_wins_over_it(ready: World) -> None:
    post(ready, conventions={"preset": "trec_eval-9", "missing": "skip"}, missing="zero")

    assert Report.objects.get().options["conventions"]["missing"] == "zero"


def test_a_refusal_over_http_names_the_field(ready: World) -> None:
    for body, field, words in [
        ({"confidence": 95}, "confidence", "such as 0.95"),
        ({"tags": ["rare"]}, "tags", "the tags are short"),
        ({"minimum_queries": 0}, "minimum_queries", "whole number"),
        ({"thresholds": {"recall": 0.5}}, "thresholds", "names no K"),
        ({"conventions": {"tie": "file"}}, "tie", "Write ties"),
        ({"conventions": {"ties": "luck"}}, "ties", "docid-asc"),
        ({"samples": 10**9}, "samples", "100,000"),
        ({"measures": ["bpref@5"]}, "measures", "no cutoff"),
    ]:
        response = post(ready, **body)

        assert response.status_code == 400
        assert field in response.data["fields"]
        assert words in response.data["detail"]
        assert not Report.objects.exists()


def test_sparse_labels_and_strata_agree_with_a_report_of_their_own(world: World) -> None:
    for query in world.collection.queries.filter(external_id="q3"):
        query.metadata = {"tags": "ferry"}
        query.save()
    world.import_runs()
    make_release(world, SPARSE)
    post(world, tags=["ferry"])

    stratum = Report.objects.get().result["strata"]["ferry"]
    assert stratum["queries"] == {"labelled": 1, "scored": 0, "without_relevant": 1}
    assert stratum["runs"]["alpha"]["recall@1"]["mean"] is None
