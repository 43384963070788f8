"""Reports as functions: the numbers of the harbour collection by hand, what is kept, and what is refused."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.charts.stored import chart_svg, kinds_of, usual_choice
from evaluation.failures.stored_queries import worst_queries
from evaluation.models import Report
from evaluation.report_store.files import relevant_of, scan_per_query
from evaluation.reports.making import ReportRequest, request_report
from evaluation.scoring.conventions import Conventions
from pooling.interface.charting import in_look
from pooling.interface.problems import InputError, StorageFullError
from pooling.jobs import running as jobs
from pooling.models import Job, JobCancellation
from tests.evaluation.cast import SPARSE, make_release, make_report
from tests.world import World

pytestmark = pytest.mark.anywhere


@pytest.mark.parametrize(
    ("key", "alpha", "beta"),
    [
        # q1 has two relevant documents, q2 and q3 one: alpha finds 1/2, 1, 1 and beta 1/2, 0, 0.
        ("recall@1", 5 / 6, 1 / 6),
        ("recall@2", 1, 1 / 3),
        ("recall@3", 1, 1),
        ("precision@1", 1, 1 / 3),
        ("success@2", 1, 1 / 3),
        ("judged@3", 1, 1),
        # 2 · hits / (K + R): alpha 2/3, 1, 1.
        ("f1@1", 8 / 9, 2 / 9),
    ],
)
def test_means_are_those_found_by_hand(report: Report, key: str, alpha: float, beta: float) -> None:
    runs = report.result["runs"]
    assert runs["alpha"][key]["mean"] == pytest.approx(alpha)
    assert runs["beta"][key]["mean"] == pytest.approx(beta)


def test_micro_recall_counts_pairs_of_all_queries_together(report: Report) -> None:
    runs = report.result["runs"]
    assert [runs["alpha"][f"recall@{k}"]["micro"] for k in (1, 2, 3)] == [3 / 4, 1, 1]
    assert [runs["beta"][f"recall@{k}"]["micro"] for k in (1, 2, 3)] == [1 / 4, 2 / 4, 1]


def test_without_a_word_the_newest_release_and_all_runs_are_measured(world: World) -> None:
    world.import_runs()
    make_release(world, name="old")
    make_release(world, name="new")
    report = request_report(world.collection, ReportRequest(), world.ada)
    assert isinstance(report, Report)
    assert report.release.name == "new"
    assert [run["name"] for run in report.options["runs"]] == ["alpha", "beta"]
    assert report.options["k"] == [1, 3]  # the runs are three deep


def test_pools_that_go_deeper_than_the_runs_first_k_widen_the_bounds(world: World) -> None:
    # q1: beta's first, d4, is unjudged; q2: d6; and in the pool d3 as well.
    shallow = make_report(world, SPARSE, k=[1]).result["runs"]["alpha"]["recall@1"]["bounds"]
    assert shallow == pytest.approx([1 / 2, 1])
    from pooling.pools.building import build_pool

    build_pool(world.collection, name="deep", runs=list(world.collection.runs.all()), depth=2)
    deep = request_report(world.collection, ReportRequest(k=[1]), world.ada)
    assert isinstance(deep, Report)
    assert deep.result["runs"]["alpha"]["recall@1"]["bounds"] == pytest.approx([(1 / 2 + 1 / 3) / 2, 1])
    assert deep.options["pools"] == ["deep"]


def test_bounds_are_about_the_pool_and_the_runs_own_first_k(world: World) -> None:
    from pooling.pools.building import build_pool

    alpha, _ = world.import_runs()
    build_pool(world.collection, name="alpha alone", runs=[alpha], depth=2)
    figures = make_report(world, SPARSE, k=[1]).result["runs"]["alpha"]["recall@1"]
    # q1: d4; q2: d6; both in alpha's pool.
    assert figures["bounds"] == pytest.approx([1 / 2, 1])
    beta = make_report(world, SPARSE, k=[2]).result["runs"]["beta"]["recall@2"]
    # q1: d4 in its first two; q2: d6, and d3, which is in no pool.
    assert beta["bounds"] == pytest.approx([(1 + 0) / 2, (1 + 2 / 3) / 2])


def test_queries_without_a_relevant_label_are_listed_and_left_out(world: World) -> None:
    result = make_report(world, SPARSE).result
    assert result["queries"]["without_relevant_ids"] == ["q3"]
    assert result["runs"]["alpha"]["recall@1"]["mean"] == 1
    counted = make_report(world, SPARSE, conventions=Conventions(zero_relevant="zero")).result
    assert counted["runs"]["alpha"]["recall@1"]["mean"] == pytest.approx(2 / 3)


def test_a_report_made_again_has_the_same_numbers(world: World) -> None:
    first = make_report(world, SPARSE)
    options = first.options
    again = request_report(
        world.collection,
        ReportRequest(
            release=options["release"]["name"],
            runs=[run["name"] for run in options["runs"]],
            k=options["k"],
            measures=options["measures"],
            conventions=options["conventions"],
        ),
        world.ada,
    )
    assert isinstance(again, Report)
    assert again.result == first.result
    assert again.options == first.options


@pytest.mark.database
def test_the_checksums_are_those_of_release_and_runs(world: World, report: Report) -> None:
    assert report.options["release"]["sha256"] == report.release.sha256
    assert {run["name"]: run["sha256"] for run in report.options["runs"]} == dict(
        world.collection.runs.values_list("name", "sha256")
    )


def test_values_by_query_are_kept_with_null_for_what_does_not_count(world: World) -> None:
    rows = scan_per_query(make_report(world, SPARSE)).collect().rows(named=True)
    found = {
        row["query_id"]: row["value"]
        for row in rows
        if (row["run"], row["measure"], row["k"]) == ("beta", "recall", 3)
    }
    assert found == {"q1": 1, "q2": 1, "q3": None}


@pytest.mark.database
def test_relevant_documents_are_kept_with_their_rank_in_every_run(report: Report) -> None:
    rows = relevant_of(report, ["q2", "q3"]).sort("query_id").rows()
    assert rows == [("q2", "d2", 1, 1, 3), ("q3", "d3", 1, 1, 3)]


def test_the_worst_queries_say_what_was_missed_and_who_found_it(report: Report) -> None:
    worst = worst_queries(report, "beta", 2, 10)
    assert [(query.query_id, query.recall) for query in worst] == [("q2", 0), ("q3", 0)]
    (missed,) = worst[0].missed
    assert (missed.document_id, missed.title, missed.rank) == ("d2", "Lost property", 3)
    assert missed.found_by == [{"run": "alpha", "rank": 1}]


def test_what_makes_no_sense_is_refused_in_one_sentence(world: World) -> None:
    world.import_runs()
    make_release(world)
    for request_, field, words in [
        (ReportRequest(release="none such"), "release", ["none such", "labels"]),
        (ReportRequest(runs=["gamma"]), "runs", ["gamma", "alpha", "beta"]),
        (ReportRequest(runs=[]), "runs", ["at least one run"]),
        (ReportRequest(k=[0, 5]), "k", ["K is 0"]),
        (ReportRequest(k=[]), "k", ["at least one K"]),
        (ReportRequest(measures=["recal"]), "measures", ["recal", "precision"]),
        (ReportRequest(conventions={"preset": "lemur"}), "preset", ["lemur", "trec_eval-9"]),
        (ReportRequest(conventions={"min_relevance": 0}), "min_relevance", ["1 or more"]),
        (ReportRequest(conventions={"ties": "coin"}), "ties", ["coin", "docid"]),
    ]:
        with pytest.raises(InputError) as refusal:
            request_report(world.collection, request_, world.ada)
        assert field in refusal.value.fields
        assert all(word in str(refusal.value) for word in words)
        assert not Report.objects.exists()


def test_without_a_release_the_refusal_says_what_to_do(world: World) -> None:
    world.import_runs()
    with pytest.raises(InputError, match="no qrels release yet"):
        request_report(world.collection, ReportRequest(), world.ada)


@pytest.mark.database
def test_a_run_without_a_query_of_the_release_is_refused_and_nothing_is_kept(world: World) -> None:
    world.import_runs()
    path = world.folder / "stranger.run"
    path.write_text("q2 Q0 d1 1 9 tag\n")
    from pooling.runs.stored import import_run

    import_run(world.collection, path)
    make_release(world, "q1 0 d1 1\n")
    with pytest.raises(InputError, match="stranger"):
        request_report(world.collection, ReportRequest(), world.ada)
    assert not Report.objects.exists()


def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.import_runs()
    make_release(world)
    before = files_below(Path(settings.MEDIA_ROOT))

    def refuse(*arguments: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("evaluation.report_store.files.render", refuse)
    with pytest.raises(StorageFullError):
        request_report(world.collection, ReportRequest(), world.ada)
    assert not Report.objects.exists()
    assert files_below(Path(settings.MEDIA_ROOT)) == before


def files_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.database
def test_large_runs_go_to_the_worker(
    world: World, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.BACKGROUND_REPORT_ROWS = 10
    world.import_runs()
    make_release(world)
    with django_capture_on_commit_callbacks(execute=True):
        job = request_report(world.collection, ReportRequest(k=[1]), world.ada)
    assert isinstance(job, Job)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.detail
    report = Report.objects.get(pk=job.result["id"])
    assert report.result["runs"]["alpha"]["recall@1"]["mean"] == pytest.approx(5 / 6)
    assert job.result["url"] == report.get_absolute_url()


def test_a_picture_of_the_usual_choice_is_drawn_once(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, usual = kinds_of(report)["curve"], usual_choice(report)
    first = chart_svg(report, kind, usual, "light")
    for place in ("evaluation.charts.drawing.to_svg", "pooling.storage.pictures.to_svg"):
        monkeypatch.setattr(place, lambda chart: b"drawn again")
    assert chart_svg(report, kind, usual, "light") == first
    assert chart_svg(report, kind, usual, "dark") == in_look(first, "dark") != first
    assert chart_svg(report, kind, usual, "dark-narrow") == b"drawn again"
    assert chart_svg(report, kind, replace(usual, chosen=("beta",)), "light") == b"drawn again"


@pytest.mark.parametrize("at", ["Measuring", "Working out intervals", "Comparing", "Storing", "Drawing"])
def test_a_report_cancelled_at_any_step_leaves_neither_row_nor_file(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    world.import_runs()
    make_release(world)
    before = sorted(Path(settings.MEDIA_ROOT).rglob("*.*"))
    monkeypatch.setattr("evaluation.charts.stored.chart_svg", lambda *_: b"")
    tell = jobs._go_on

    def go_on(job: Job, share: float, detail: str) -> None:
        if detail.startswith(at):
            JobCancellation.objects.get_or_create(job=job)
        tell(job, share, detail)

    monkeypatch.setattr(jobs, "_go_on", go_on)
    job = jobs.start_job(world.collection, "report", {"k": [1]}, world.ada)
    jobs.run_job.call(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    assert not Report.objects.exists()
    assert sorted(Path(settings.MEDIA_ROOT).rglob("*.*")) == before
