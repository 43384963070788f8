"""Documents of equal score: who stands first, and what recall could have been."""

import polars as pl
import pytest

from evaluation import Conventions, evaluate

QRELS = {"q": {"a": 1, "b": 1}}
# x is certain; a, b, y and z share the second score.
RUN = {"q": {"x": 2.0, "a": 1.0, "b": 1.0, "y": 1.0, "z": 1.0}}


@pytest.mark.parametrize(
    ("ties", "hits"),
    [
        ("docid", 0),  # x z y
        ("docid-asc", 2),  # x a b
        ("file", 2),  # x a b
    ],
)
def test_the_order_of_ties_is_the_one_that_was_named(ties: str, hits: int) -> None:
    conventions = Conventions(ties=ties)  # type: ignore[arg-type]

    assert (
        evaluate(QRELS, {"run": RUN}, k=3, conventions=conventions).figure("run", "recall", 3)["mean"]
        == hits / 2
    )


@pytest.mark.parametrize(
    ("k", "least", "expected", "most"),
    [
        (2, 0.0, 0.25, 0.5),  # one place for four: 0 to 1 hits, 1 · 2/4 expected
        (3, 0.0, 0.5, 1.0),  # two places: 0 to 2 hits, 1 expected
        (4, 0.5, 0.75, 1.0),  # three places and two not relevant: 1 to 2 hits, 1.5 expected
    ],
)
def test_a_tie_across_k_gives_least_expected_and_most(
    k: int, least: float, expected: float, most: float
) -> None:
    ties = evaluate(QRELS, {"run": RUN}, k=k).figure("run", "recall", k)["ties"]

    assert ties == pytest.approx({"min": least, "expected": expected, "max": most})


@pytest.mark.parametrize("k", [1, 5, 10])
def test_a_tie_that_no_cutoff_parts_is_not_mentioned(k: int) -> None:
    assert "ties" not in evaluate(QRELS, {"run": RUN}, k=k).figure("run", "recall", k)


def test_a_tie_of_documents_that_are_all_alike_is_not_mentioned() -> None:
    run = {"q": {"x": 1.0, "y": 1.0, "z": 1.0}}

    assert "ties" not in evaluate(QRELS, {"run": run}, k=2).figure("run", "recall", 2)


def test_equal_scores_of_neighbouring_queries_are_no_tie() -> None:
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"b": 1}}
    run = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"b": 1.0, "y": 0.5}}

    result = evaluate(qrels, {"run": run}, k=(1, 2))

    assert "ties" not in result.figure("run", "recall", 1)
    assert "ties" not in result.figure("run", "recall", 2)


def test_scores_can_tie_in_single_precision_only() -> None:
    run = {"q": {"a": 30.123456789, "z": 30.123456788}}

    def recall(scores: str) -> float | None:
        conventions = Conventions(scores=scores)  # type: ignore[arg-type]
        result = evaluate({"q": {"a": 1}}, {"run": run}, k=1, conventions=conventions)
        return result.figure("run", "recall", 1)["mean"]

    assert (recall("float64"), recall("float32")) == (1.0, 0.0)


def test_ranks_as_written_have_no_ties() -> None:
    frame = pl.DataFrame(
        {"query_id": ["q"] * 3, "document_id": ["z", "y", "a"], "score": [1.0] * 3, "rank": [3, 2, 1]}
    )

    figure = evaluate(QRELS, {"run": frame}, k=1, conventions=Conventions(ties="rank")).figure(
        "run", "recall", 1
    )

    assert figure["mean"] == 0.5
    assert "ties" not in figure
