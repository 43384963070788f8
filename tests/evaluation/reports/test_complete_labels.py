"""Reports on labels that were declared complete: what no label names is not relevant."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.comparisons.stored import answer_at
from evaluation.comparisons.wording import what_recall_is_of
from evaluation.failures.side_by_side import side_by_side
from evaluation.models import Report
from evaluation.reports.export import provenance_of
from evaluation.reports.making import ReportInput, create_report
from evaluation.scoring.conventions import Conventions
from labeling.qrels.imported import import_qrels
from labeling.qrels.releases import release_qrels
from tests.evaluation.cast import SPARSE, make_report
from tests.world import World, qrels_text

pytestmark = pytest.mark.anywhere

WORDS = "unlisted documents count as not relevant, by declaration of “labels.qrels”"


def report_on(world: World, *files: tuple[str, bool]) -> Report:
    """A report on labels from these texts, each complete or not."""
    for number, (text, complete) in enumerate(files):
        path = world.folder / (f"labels{number or ''}.qrels")
        path.write_text(text)
        import_qrels(world.collection, path, complete=complete)
    release_qrels(world.collection, name=f"of {len(files)} files")
    return make_report(world)


def figure(report: Report, key: str, run: str = "beta") -> dict[str, Any]:
    return report.result["runs"][run][key]


def test_complete_labels_leave_nothing_unjudged(world: World) -> None:
    report = report_on(world, (SPARSE, True))
    recall, judged = figure(report, "recall@2"), figure(report, "judged@2")
    assert judged["mean_of_retrieved"] == 1
    assert recall["bounds"] == [recall["mean"], recall["mean"]]
    assert WORDS in recall["line"]


def test_figures_without_the_declaration_stay_as_they_are(world: World) -> None:
    report = report_on(world, (SPARSE, False))
    recall = figure(report, "recall@2")
    assert figure(report, "judged@2")["mean_of_retrieved"] < 1
    assert recall["bounds"][0] < recall["bounds"][1]
    assert "unlisted" not in recall["line"]


def test_the_value_is_the_same_with_and_without_the_declaration(world: World) -> None:
    path = world.folder / "again.qrels"
    path.write_text(SPARSE)
    open_ended = report_on(world, (SPARSE, False))
    complete = report_on(world, (SPARSE, True), ("q1 0 d1 1\n", True))
    for run in ("alpha", "beta"):
        assert figure(open_ended, "recall@2", run)["mean"] == figure(complete, "recall@2", run)["mean"]


def test_a_declaration_holds_for_the_queries_of_its_file_alone(world: World) -> None:
    report = report_on(world, ("q1 0 d1 1\n", True), ("q2 0 d2 1\n", False))
    assert 0 < figure(report, "judged@2")["mean_of_retrieved"] < 1
    labels = {
        query: {
            place.relevance
            for one in (side_by_side(report, query, 2).a, side_by_side(report, query, 2).b)
            for place in one.documents or ()
        }
        for query in ("q1", "q2")
    }
    assert labels["q1"] == {0, 1}
    assert None in labels["q2"]


def test_a_report_on_complete_labels_asks_for_no_pool_and_no_floor(world: World) -> None:
    complete = report_on(world, (SPARSE, True)).result["estimates"]
    assert complete["status"] == "complete"
    assert "nothing to estimate" in complete["sentence"]
    assert (complete["floor"], complete["leave_one_out"]) == (None, {})


def test_a_figure_by_complete_labels_does_not_depend_on_the_other_runs(world: World) -> None:
    labels = "q1 0 d1 1\nq1 0 d6 1\nq1 0 d2 1\n"
    release = report_on(world, (labels, True)).release
    runs = list(world.collection.runs.order_by("name"))
    both, alone = (
        create_report(world.collection, ReportInput(release, some, [2], ["bpref"], Conventions()))
        for some in (runs, runs[1:])
    )
    # Of three relevant documents beta has two, each below one that is not: 2/3 · (1 - 1/3).
    assert figure(alone, "bpref")["mean"] == pytest.approx(4 / 9)
    assert figure(alone, "bpref") == figure(both, "bpref")


def test_the_command_that_reproduces_a_report_declares_labels_that_are_complete_for_all_queries(
    world: World,
) -> None:
    partly = report_on(world, ("q1 0 d1 1\n", True), ("q2 0 d2 1\n", False))
    assert "--complete" not in provenance_of(partly).command
    assert provenance_of(report_on(world, (SPARSE, True))).command.endswith(" --complete")


def test_labels_of_every_document_are_complete_by_themselves(world: World) -> None:
    report = report_on(world, (qrels_text(), False))
    answer = report.result["answer"]
    assert (answer["basis"], answer["frame"]["whole"], answer["frame"]["size"]) == ("complete", True, 18)
    told = answer_at(report)
    assert told is not None
    assert what_recall_is_of(told) == "of all relevant documents: every document is judged"
    assert what_recall_is_of(answer_at(report, 1) or told) == what_recall_is_of(told)


@pytest.mark.database
@pytest.mark.parametrize("lacks", ["a label", "a text", "a document of a run"])
def test_nothing_is_complete_where_one_document_is_not_known(world: World, lacks: str) -> None:
    labels, last = qrels_text(), world.collection.documents.get(external_id="d4")
    if lacks == "a label":
        labels = labels.replace("q1 0 d2 0\n", "")
    if lacks == "a text":
        world.collection.documents.filter(pk=last.pk).update(text=None)
    if lacks == "a document of a run":
        labels = "".join(line for line in labels.splitlines(keepends=True) if " d4 " not in line)
        last.delete()
    assert report_on(world, (labels, False)).result["answer"]["basis"] == "labels"
