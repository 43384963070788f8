"""The pages of reports, through HTTP: who may see them, what stands on them, and the files to take away."""

from __future__ import annotations

import csv
import io
import json

import pandas as pd
import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.models import Report
from evaluation.scoring.conventions import Conventions
from labeling.models import Item
from pooling.runs.stored import import_run
from tests.evaluation.cast import SPARSE, make_release, make_report
from tests.labeling.helpers import judge, make_queue
from tests.world import ALPHA, World, run_text

pytestmark = pytest.mark.anywhere

SLUG = "harbour"


def curve_of(report: Report, variant: str, measure: str = "recall") -> str:
    """The address of the curve of one measure."""
    return f"{reverse('report_picture', args=[report.pk, 'curve', variant, 'svg'])}?measure={measure}"


def get(client: Client, address: str) -> str:
    """The page at `address`, which must answer with 200."""
    response = client.get(address)
    assert response.status_code == 200, response.content.decode()[:2000]
    return str(response.content.decode())


def test_the_form_of_a_report_without_a_release_says_what_comes_first(world: World, client: Client) -> None:
    world.import_runs()
    client.force_login(world.ada)
    text = client.get(reverse("report_new", args=["harbour"])).content.decode()
    assert "There is no qrels release yet." in text
    assert "Create report" not in text


def test_a_report_says_that_the_ids_of_a_run_meet_no_label(world: World, client: Client) -> None:
    (world.folder / "upper.run").write_text(run_text(ALPHA).replace(" d", " D"))
    import_run(world.collection, world.folder / "upper.run", user=world.ada)
    report = make_report(world)
    client.force_login(world.ada)
    sentence = "documents of run upper are among the documents with a label"
    for address in (report.get_absolute_url(), reverse("report_download", args=[report.pk, "html"])):
        answer = client.get(address)
        text = b"".join(answer) if answer.streaming else answer.content
        assert sentence in text.decode()
    assert any(sentence in note for note in client.get(f"/api/reports/{report.pk}/").json()["notes"])


@pytest.mark.database
def test_a_report_says_that_labels_of_people_do_not_reach_its_least_relevance(
    world: World, client: Client
) -> None:
    judge(make_queue(world), world.ben, Item.objects.earliest("pk").pk)
    client.force_login(world.ada)
    pages = [
        get(client, make_report(world, conventions=Conventions(min_relevance=least)).get_absolute_url())
        for least in (1, 2)
    ]
    assert ["1 label of people is yes or no, 1 or 0: none reaches 2" in page for page in pages] == [
        False,
        True,
    ]


def test_the_curve_says_in_words_whether_it_shows_bounds(world: World, client: Client) -> None:
    client.force_login(world.vera)
    page = get(client, make_report(world, SPARSE).get_absolute_url())
    assert "and bounds from unjudged documents, over K" in page
    assert "lighter band with thin edges" in page
    picture = get(client, curve_of(Report.objects.get(), "light"))
    assert ">bounds: unjudged documents</text>" in picture


def test_the_page_shows_numbers_coverage_and_the_convention_line(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.vera)
    page = get(client, report.get_absolute_url())
    assert "3 of 3 queries · missing = 0 · rel ≥ 1 · ties: score, then id ↓" in page
    assert "Recall@3 1.000 (too few queries for an interval)" in page
    assert "95 % interval, not shown for fewer than 10 queries" in page
    at_1 = get(client, f"{reverse('report', args=[Report.objects.get().pk])}?k=1")
    for words in ("Recall@1", "0.833", "0.167", ">−0.667</a>", "100 %", "Micro Recall@1"):
        assert words in at_1
    assert "Coverage." not in page


@pytest.mark.database
def test_uneven_coverage_is_said_and_the_order_not_to_be_read(world: World, client: Client) -> None:
    client.force_login(world.vera)
    page = get(client, make_report(world, SPARSE, k=[1]).get_absolute_url())
    assert "differs by more than 5 points at K = 1 (at 1: 0.0 % for beta, 100.0 % for alpha)" in page
    assert "Do not compare the runs at those cutoffs." in page
    assert "Coverage is below 80 % at K = 1" in page


def test_queries_without_a_relevant_label_are_listed_with_their_text(world: World, client: Client) -> None:
    client.force_login(world.vera)
    page = get(client, make_report(world, SPARSE).get_absolute_url())
    assert "1 query has labels but none relevant" in page
    assert "bicycle on ferry" in page


def test_the_worst_queries_of_the_chosen_run_show_what_it_missed(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.vera)
    address = report.get_absolute_url()
    page = get(client, f"{address}?run=beta&k=2")
    assert "Where beta misses most" in page
    for words in ("lost umbrella", "Lost property", "rank 3", "alpha (1)", "kept for six weeks"):
        assert words in page
    assert "alpha misses nothing" in get(client, f"{address}?run=alpha&k=2")


def test_a_query_string_without_sense_falls_back(world: World, report: Report, client: Client) -> None:
    address = report.get_absolute_url()
    client.force_login(world.vera)
    for query in ["?run=gamma&k=7&measure=recal", "?k=x&count=-1", "?measure=precision&count=9999999"]:
        assert "Where alpha misses most" in get(client, address + query)


def test_names_are_escaped_on_the_page_and_in_the_picture(world: World, client: Client) -> None:
    from pooling.runs.stored import import_run
    from tests.world import ALPHA, run_text

    path = world.folder / "odd.run"
    path.write_text(run_text(ALPHA))
    import_run(world.collection, path, name="<script>alert(1)</script>")
    client.force_login(world.vera)
    report = make_report(world, name="<b>bold</b>")
    for address in (report.get_absolute_url(), curve_of(report, "dark")):
        assert "<script>alert" not in get(client, address)
    assert "<b>bold" not in get(client, report.get_absolute_url())


def test_the_form_as_it_stands_measures_everything_on_the_newest_release(
    world: World, client: Client
) -> None:
    client.force_login(world.ada)
    world.import_runs()
    make_release(world)
    address = reverse("report_new", args=[SLUG])
    form = client.get(address).context["form"]
    data = {name: value for name in form.fields if (value := form[name].value()) not in (None, "")}
    response = client.post(address, data)
    report = Report.objects.get()
    assert response.status_code == 302
    assert response["Location"] == report.get_absolute_url()
    assert report.options["k"] == [1, 3]
    assert [run["name"] for run in report.options["runs"]] == ["alpha", "beta"]
    assert report.result["runs"]["alpha"]["recall@1"]["mean"] == pytest.approx(5 / 6)


def test_the_form_takes_conventions_and_says_what_is_wrong(world: World, client: Client) -> None:
    client.force_login(world.ada)
    runs = world.import_runs()
    release = make_release(world, SPARSE)
    data = {
        "release": release.pk,
        "runs": [run.pk for run in runs],
        "measures": ["recall"],
        "min_relevance": 1,
    }
    address = reverse("report_new", args=[SLUG])
    assert "every K must be 1 or more" in client.post(address, {**data, "k": "0 5"}).content.decode()
    assert "whole numbers separated by spaces" in client.post(address, {**data, "k": "ten"}).content.decode()
    client.post(address, {**data, "k": "1,3", "preset": "trec_eval-9", "zero_relevant": "exclude"})
    conventions = Report.objects.get().options["conventions"]
    assert conventions["scores"] == "float32"
    assert conventions["missing"] == "skip"
    assert conventions["zero_relevant"] == "exclude"


@pytest.mark.database
def test_large_runs_lead_to_the_job(
    world: World,
    client: Client,
    settings: Settings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.BACKGROUND_REPORT_ROWS = 1
    client.force_login(world.ada)
    runs = world.import_runs()
    data = {"release": make_release(world).pk, "runs": [run.pk for run in runs], "k": "1", "min_relevance": 1}
    response = client.post(reverse("report_new", args=[SLUG]), {**data, "measures": ["recall"]})
    job = world.collection.jobs.get(kind="report")
    assert response["Location"] == reverse("job", args=[job.pk])


def download(client: Client, report: Report, form: str) -> bytes:
    response = client.get(reverse("report_download", args=[report.pk, form]))
    assert response.status_code == 200
    assert "attachment" in response["Content-Disposition"]
    return response.getvalue()


def test_downloads_hold_the_numbers(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    table = pd.read_csv(io.BytesIO(download(client, report, "csv")))
    row = table[(table["run"] == "alpha") & (table["measure"] == "recall") & (table["k"] == 1)]
    assert row["mean"].item() == pytest.approx(5 / 6)
    found = json.loads(download(client, report, "json"))
    assert found.pop("provenance")["seed"] == 0
    assert found == report.result
    markdown = download(client, report, "markdown").decode().splitlines()
    assert sum(line.startswith("|") for line in markdown) == 2 + 2 * 3  # header, rule, runs × K
    latex = download(client, report, "latex").decode()
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1
    values = list(csv.DictReader(io.StringIO(download(client, report, "per-query").decode())))
    assert len(values) == 2 * 3 * 5 * 3  # runs × queries × measures × K
    assert {row["value"] for row in values if row["measure"] == "judged"} == {"1.0"}


def test_pictures_are_pictures(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    assert download(client, report, "png").startswith(b"\x89PNG\r\n\x1a\n")
    svg = download(client, report, "svg").decode()
    assert svg.startswith("<svg")
    for name in ("alpha", "beta"):
        assert f">{name}</text>" in svg


def test_a_picture_is_kept_by_no_browser(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    response = client.get(curve_of(report, "dark-narrow"))
    assert response["Content-Type"] == "image/svg+xml"
    assert response["Cache-Control"] == "private, no-store"


def test_what_does_not_exist_is_not_found(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    for name, parts in [
        ("report_download", ["xlsx"]),
        ("report_picture", ["pie", "light", "svg"]),
        ("report_picture", ["curve", "sepia", "svg"]),
        ("report_picture", ["coverage", "light", "json"]),
    ]:
        assert client.get(reverse(name, args=[report.pk, *parts])).status_code == 404


def test_a_measure_over_the_whole_run_has_one_column_and_its_picture(world: World, client: Client) -> None:
    report = make_report(world, measures=["map", "ndcg"])
    client.force_login(world.vera)

    page = get(client, reverse("report", args=[report.pk]) + "?measure=map")
    picture = get(client, curve_of(report, "light", "map"))
    by_k = get(client, reverse("report", args=[report.pk]) + "?measure=ndcg&k=2")

    assert "Mean MAP over queries" in page
    assert "MAP, whole run</a></th>" in page
    assert f"{report.result['runs']['alpha']['map']['mean']:.3f}" in page
    assert "judged@3" in page
    assert ">MAP<" in picture
    assert "Mean nDCG@K over queries" in by_k
    assert "nDCG@2" in by_k


def test_the_card_has_the_change_since_the_report_before(world: World, client: Client) -> None:
    make_report(world, SPARSE, name="before")
    make_release(world, name="second")
    report = make_report(world)
    client.force_login(world.vera)
    page = get(client, f"{report.get_absolute_url()}?k=1")
    # alpha finds 1/2, 1 and 1 of each query's relevant documents; by the sparse labels 1 and 1.
    assert "−0.167" in page
    assert "since labels, of what was found, with other labels" in page
    assert "▼" not in page, "the labels changed, and no run"


def test_new_labels_are_the_next_step_and_a_newer_report_comes_before(world: World, client: Client) -> None:
    from labeling.qrels.imported import import_qrels

    report = make_report(world, SPARSE)
    path = world.folder / "more.qrels"
    path.write_text("q1 0 d4 1\nq1 0 d1 1\n")
    import_qrels(world.collection, path, user=world.ada)
    client.force_login(world.ada)
    page = get(client, report.get_absolute_url())
    assert "Release again: 1 new label since this report." in page
    assert f'href="{reverse("measure", args=[SLUG])}">Release and measure</a>' in page

    newer = make_report(world, name="newer")
    page = get(client, report.get_absolute_url())
    assert f'href="{newer.get_absolute_url()}">Open it</a>' in page


def test_the_worst_queries_come_when_they_are_opened(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    address = report.get_absolute_url()
    assert "lost umbrella" not in get(client, f"{address}?k=2")
    assert "lost umbrella" in get(client, f"{address}?k=2&run=beta&part=worst")


@pytest.mark.database
def test_the_table_is_sorted_and_has_the_columns_that_were_chosen(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.vera)
    address = report.get_absolute_url()
    page = get(client, f"{address}?k=1&sort=value&columns=run,value,precision@2")
    assert page.index(">beta") < page.index(">alpha")
    assert ">Precision@2</a></th>" in page
    response = client.get(f"{address}?k=1&format=csv")
    assert response.getvalue().decode().splitlines()[0] == "Run,Recall@1,Judged,Against the best"


def test_a_report_opens_with_its_answer_and_the_next_step_leads_to_the_documents(
    world: World, client: Client
) -> None:
    client.force_login(world.ada)
    report = make_report(world, SPARSE)
    page = get(client, reverse("report", args=[report.pk]))
    answer = client.get(f"/api/reports/{report.pk}/").json()["answer"]
    assert answer["run"] == "alpha"
    assert answer["rival"]["run"] == "beta"
    assert f'<h2 id="answer">{answer["sentence"]}</h2>' in page
    assert page.index(answer["sentence"]) < page.index("convention-line")
    assert f"{reverse('report_comparisons', args=[report.pk])}?a=alpha&amp;b=beta&amp;k=3" in page
