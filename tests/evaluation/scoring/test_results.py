"""The frames and plain values that an evaluation hands out."""

import json

import pytest

from evaluation import Evaluation, evaluate

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1, "d": 1, "e": 1}, "q3": {"f": 0}}
RUNS = {"bm25": {"q1": {"a": 2.0, "x": 1.0}, "q2": {"z": 1.0}}, "dense": {"q1": {"b": 1.0, "a": 0.5}}}


@pytest.fixture
def result() -> Evaluation:
    return evaluate(QRELS, RUNS, k=(1, 2), bootstrap_samples=200)


def test_the_object_is_plain_json(result: Evaluation) -> None:
    content = result.to_dict()

    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert list(content) == ["conventions", "queries", "runs", "answer"]
    assert list(content["runs"]) == ["bm25", "dense"]
    assert {"mean", "low", "high", "micro", "bounds"} <= content["runs"]["bm25"]["recall@2"].keys()


def test_the_summary_has_a_row_per_run_measure_and_k(result: Evaluation) -> None:
    table = result.summary()

    assert len(table) == 2 * 5 * 2
    row = table[(table["run"] == "bm25") & (table["measure"] == "recall") & (table["k"] == 2)].iloc[0]
    assert (row["mean"], row["micro"], row["queries"]) == (0.25, 0.2, 2)


def test_per_query_has_a_row_for_every_query_of_the_qrels(result: Evaluation) -> None:
    table = result.per_query()
    recall = table[(table["run"] == "bm25") & (table["measure"] == "recall") & (table["k"] == 2)]

    assert list(table.columns) == ["run", "query_id", "measure", "k", "value"]
    assert recall.set_index("query_id")["value"].fillna(-1).to_dict() == {"q1": 0.5, "q2": 0.0, "q3": -1}


def test_the_curve_is_the_measure_over_k(result: Evaluation) -> None:
    curve = result.curve()

    assert list(curve.columns) == ["run", "k", "mean", "low", "high", "lower_bound", "upper_bound"]
    assert curve["mean"].tolist() == [0.25, 0.25, 0.25, 0.5]


def test_the_worst_queries_come_with_what_was_missed(result: Evaluation) -> None:
    worst = result.worst_queries("bm25", k=2)

    assert worst.to_dict("list") == {
        "query_id": ["q2", "q1"],
        "recall": [0.0, 0.5],
        "relevant": [3, 2],
        "missed": [["c", "d", "e"], ["b"]],
    }


def test_relevant_documents_come_with_their_rank_in_every_run(result: Evaluation) -> None:
    rows = result.relevant_frame().rows()

    assert rows[:2] == [("q1", "a", 1, [1, 2]), ("q1", "b", 2, [None, 1])]
    assert rows[2] == ("q2", "c", 1, [None, None])


def test_a_measure_with_its_own_cutoff_is_measured_only_there() -> None:
    result = evaluate(QRELS, RUNS, k=(1, 2), measures=["recall@5", "success"], bootstrap_samples=10)

    assert list(result.runs["bm25"].figures) == [
        "recall@5", "success@1", "success@2", "judged@1", "judged@2", "judged@5",
    ]  # fmt: skip


def test_asking_for_what_was_not_evaluated_says_so(result: Evaluation) -> None:
    with pytest.raises(ValueError, match="recall@7 was not evaluated"):
        result.figure("bm25", "recall", 7)
    with pytest.raises(ValueError, match="no run 'bm52'; the runs are bm25, dense"):
        result.figure("bm52", "recall", 1)
