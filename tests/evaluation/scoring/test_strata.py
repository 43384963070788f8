"""Strata: the queries with a tag, measured as if they were all there are."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation import Conventions, evaluate
from evaluation.rendering.formats import render
from evaluation.scoring.strata import queries_by_tag
from pooling.formats.query_facts import tags_of
from tests.evaluation.scoring.test_properties import qrels_sets, run_sets

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
RUNS = {"bm25": {"q1": {"a": 2.0, "x": 1.0}}, "dense": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}}}
STRATA = {"short": ["q1", "q2", "not labelled"], "odd": ["q3"]}


def measured(**options: Any) -> Any:
    return evaluate(QRELS, RUNS, 2, ["recall", "map"], strata=STRATA, bootstrap_samples=200, **options)


def test_each_tag_has_its_number_of_queries_mean_and_interval() -> None:
    strata = measured().to_dict()["strata"]

    assert strata["short"]["queries"] == {"labelled": 2, "scored": 2, "without_relevant": 0}
    assert strata["short"]["runs"]["bm25"]["recall@2"]["mean"] == 0.25  # q1: 1/2, q2 missing: 0
    assert strata["short"]["runs"]["bm25"]["recall@2"]["high"] is None  # of two queries
    assert strata["short"]["runs"]["dense"]["map"]["mean"] == 1
    assert strata["odd"]["queries"] == {"labelled": 1, "scored": 0, "without_relevant": 1}
    assert strata["odd"]["runs"]["bm25"]["recall@2"]["mean"] is None


def test_without_strata_nothing_is_said_of_them() -> None:
    result = evaluate(QRELS, RUNS, 2)

    assert "strata" not in result.to_dict()
    assert "By tag" not in render(result, "table")
    assert "tag" not in render(result, "csv").splitlines()[0].split(",")


@given(
    qrels=qrels_sets,
    runs=st.lists(run_sets, min_size=1, max_size=2),
    data=st.data(),
    missing=st.sampled_from(["zero", "skip"]),
    confidence=st.sampled_from([0.8, 0.95]),
)
def test_a_stratum_is_an_evaluation_of_its_queries_alone(
    qrels: Any, runs: Any, data: Any, missing: Any, confidence: float
) -> None:
    named = {str(number): run for number, run in enumerate(runs) if run.keys() & qrels.keys()}
    assume(named)
    chosen = data.draw(st.lists(st.sampled_from(sorted(qrels)), min_size=1, unique=True))
    options: dict[str, Any] = {"bootstrap_samples": 50, "confidence": confidence, "seed": 3}
    arguments = (named, (1, 3), ["recall", "ndcg", "judged", "mrr"], Conventions(missing=missing))

    whole = evaluate(qrels, *arguments, strata={"chosen": chosen}, **options)
    alone = evaluate(qrels, *arguments, queries=chosen, **options)

    for name, run in alone.runs.items():
        figures = whole.strata["chosen"].figures[name]
        assert figures.keys() == run.figures.keys()
        for key, figure in run.figures.items():
            assert figures[key] == figure, key


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_the_table_has_a_row_per_tag_run_and_k(form: str) -> None:
    text = render(measured(), form)

    assert "By tag" in text
    rows = [line for line in text.splitlines() if line.strip("| ").startswith(("short", "odd"))]
    assert len(rows) == 2 * 2 * 2  # tags × runs × (@2, whole run)
    assert "0.250 " in next(row for row in rows if "bm25" in row)


def test_csv_has_a_column_for_the_tag_that_is_empty_for_all_queries() -> None:
    rows = list(csv.DictReader(io.StringIO(render(measured(), "csv"))))
    recall = {(row["tag"], row["run"]): row["mean"] for row in rows if row["measure"] == "recall"}

    assert recall["short", "bm25"] == "0.25"
    assert recall["", "dense"] == "1.0"
    assert recall["odd", "dense"] == ""


def test_the_frame_has_the_tag_first() -> None:
    table = measured().strata_summary()

    assert list(table.columns[:4]) == ["tag", "run", "measure", "k"]
    assert len(table) == 2 * 2 * 3


def test_on_a_terminal_the_strata_are_a_table_of_their_own() -> None:
    assert "By tag" in render(measured(), "table", terminal=True)


@pytest.mark.parametrize(
    ("metadata", "tags"),
    [({}, ()), ({"tags": None}, ()), ({"tags": "bus"}, ("bus",)), ({"tags": [1, "b"]}, ("1", "b"))],
)
def test_tags_are_a_list_or_one_text(metadata: Any, tags: Any) -> None:
    assert tags_of(metadata) == tags


def test_a_tag_twice_at_one_query_counts_once() -> None:
    assert queries_by_tag([("q", {"tags": ["a", "a"]})]) == {"a": ["q"]}


def test_below_the_minimum_of_queries_the_report_warns_with_the_power() -> None:
    result = measured(minimum_queries=50)
    (warning,) = result.warnings()

    # bm25 − dense: −0.5 and −1, a standard deviation of 0.3536: (3.7174 · 0.3536 / 0.05)² = 690.9,
    # by Student's quantiles of four degrees of freedom, the fewest.
    assert warning == (
        "The means rest on 2 queries, fewer than the minimum of 50. Recall@2, bm25 − dense: 80 % power for a "
        "difference of 0.05 needs about 691 queries; there are 2."
    )
    assert warning in render(result, "table")
    assert json.loads(render(result, "json"))["warnings"] == [warning]
    assert measured(minimum_queries=2).warnings() == []


def test_the_power_of_one_run_is_against_a_fixed_value() -> None:
    result = evaluate(QRELS, {"bm25": RUNS["bm25"]}, 2, bootstrap_samples=10, minimum_queries=3)

    assert "Recall@2, bm25 against a fixed value: 80 % power" in result.warnings()[0]


def test_with_too_few_for_a_deviation_the_warning_says_so() -> None:
    result = evaluate({"q": {"a": 1}}, {"run": {"q": {"a": 1.0}}}, 1, minimum_queries=2)

    assert result.warnings() == [
        "The means rest on 1 query, fewer than the minimum of 2. Too few count to tell how many it takes."
    ]


def test_thresholds_are_measured_and_the_runs_below_are_named() -> None:
    result = measured(thresholds={"P@1": 0.5, "recall@2": 0.9})

    assert result.to_dict()["thresholds"] == {
        "precision@1": {"at_least": 0.5, "below": [], "basis": "labels"},
        "recall@2": {"at_least": 0.9, "below": ["bm25"], "basis": "labels"},
    }
    assert result.below() == ["bm25: recall@2 is 0.2500 over 2 queries by the labels at hand, below 0.9."]
