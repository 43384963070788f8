"""The answer of an evaluation: the same as from all pairs, and read from memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from evaluation import Conventions, Evaluation, evaluate
from evaluation.comparisons import answering
from evaluation.comparisons.answer import Answer, AnswerBasis, answer_of
from evaluation.comparisons.answering import answered
from evaluation.comparisons.comparing import compare_at
from evaluation.comparisons.grades import Grade
from evaluation.comparisons.wording import answer_in_words

K = 5


def measured(queries: int = 30, judged: float = 0.7, pool: pd.DataFrame | None = None) -> Evaluation:
    """Four runs that find more and more of ten relevant documents, some documents without a label."""
    draw = np.random.default_rng(3)
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in "abcd"}
    for query in (f"q{number}" for number in range(queries)):
        qrels[query] = {f"d{at}": int(at < 10) for at in range(40) if draw.random() < judged} | {"d0": 1}
        for skill, run in enumerate(runs):
            scores = draw.random(40) + (np.arange(40) < 10) * 0.3 * skill
            runs[run][query] = {f"d{at}": float(scores[at]) for at in range(40)}
    return evaluate(qrels, runs, k=(1, K, 20), pool=pool)


def test_the_answer_is_the_one_of_all_pairs() -> None:
    result = measured()
    found = answered(result)
    every = answer_of(
        result.to_dict()["runs"],
        compare_at(result, [K]),
        K,
        basis=AnswerBasis(int(result.labels.relevant.sum())),
    )
    assert found is not None
    assert every is not None
    assert found.rival is not None
    assert every.rival is not None
    assert (found.rival.low, found.rival.high) == pytest.approx((every.rival.low, every.rival.high))
    assert replace(found.rival, low=None, high=None) == replace(every.rival, low=None, high=None)
    assert found.sentence == every.sentence


@pytest.mark.parametrize("pooled", [False, True])
def test_no_run_is_read_again_for_the_answer(pooled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pd.DataFrame({"query_id": ["q1", "q2"], "document_id": ["d3", "d39"]}) if pooled else None
    result = measured(pool=pool)
    read = replace(result, runs={name: replace(run, unjudged=None) for name, run in result.runs.items()})
    again = answered(read)
    monkeypatch.setattr(answering, "unsettled", None)  # is not called
    assert answered(result) == again


def test_more_runs_than_are_randomised_have_a_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "MOST_RUNS", 3)
    found = answered(measured())
    assert found is not None
    assert found.rival is not None
    assert (found.run, found.rival.run, found.rival.pairs) == ("d", "c", 6)


def test_labels_that_are_missing_are_asked_for_by_number() -> None:
    result = measured(queries=40, judged=0.5)
    found = answered(result)
    assert found is not None
    assert found.rival is not None
    assert found.rival.grade is Grade.LABELS
    assert found.next is not None
    assert found.next.kind == "judge"
    assert 0 < found.next.count <= (found.rival.unjudged or 0)
    # As many where every pair was compared.
    every = answered(result, made=compare_at(result, [K]))
    assert every is not None
    assert every.next == found.next


def test_what_of_the_best_run_no_pool_has_is_told() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"b": 0}}  # q3 does not count
    run = {query: {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0} for query in qrels}
    pool = pd.DataFrame(
        {"query_id": ["q1", "q1", "q2", "q2", "q2"], "document_id": ["a", "x", "a", "b", "x"]}
    )
    found = answered(evaluate(qrels, {"best": run}, k=3, pool=pool.iloc[:4]))
    assert found is not None
    assert found.outside is not None
    # Of six documents, x of q2 is in no pool.
    assert (found.outside.documents, found.outside.share) == (1, 1 / 6)
    assert found.outside.relevant is None
    assert found.outside.sentence in answer_in_words(found)
    assert found.outside.sentence == (
        "1 document in the first 3 of best (16.7 %) is in no pool, so nobody could judge it."
    )
    assert Answer.from_dict(found.to_dict()) == found

    for covering in (pool, None):
        nothing = answered(evaluate(qrels, {"best": run}, k=3, pool=covering))
        assert nothing is not None
        assert nothing.outside is None
        assert "pool" not in " ".join(answer_in_words(nothing))


def test_without_recall_there_is_no_answer() -> None:
    assert answered(evaluate({"q": {"a": 1}}, {"run": {"q": {"a": 1.0}}}, measures=["map"])) is None


def test_means_over_other_queries_than_the_difference_are_told_apart() -> None:
    """The second run answers half of the queries, each as the first does, and these are the easy ones."""
    qrels = {f"q{at}": {"d1": 1, "d2": 1} for at in range(30)}
    every = {query: {"d1": 2.0, "d2" if at < 15 else "x": 1.0} for at, query in enumerate(qrels)}
    runs = {"every": every, "easy": {query: every[query] for query in list(qrels)[:15]}}
    skipping = answered(evaluate(qrels, runs, k=2, conventions=Conventions(missing="skip")))
    assert skipping is not None
    assert (skipping.run, skipping.recall, skipping.queries) == ("easy", 1.0, 15)
    assert skipping.found["relevant"] == 30
    assert skipping.sentence == (
        "every and easy have the same Recall@2 for every query. That is on the 15 queries that both "
        "answer; each mean is over its run’s own queries (30 of every, 15 of easy), so the means do not tell "
        "which is better."
    )
    counted = answered(evaluate(qrels, runs, k=2))
    assert counted is not None
    assert (counted.run, counted.found["relevant"]) == ("every", 60)
    assert counted.sentence == "every is clearly better than easy."


def test_the_highest_mean_is_not_called_the_best_where_runs_answer_other_queries() -> None:
    qrels = {f"q{at}": {"d1": 1, "x": 0} for at in range(24)}
    queries, skip = list(qrels), Conventions(missing="skip")
    runs = {"easy": {query: ["d1"] for query in queries[:12]}, "hard": {q: ["x", "d1"] for q in queries[12:]}}
    runs["hard"]["q12"] = ["x", "y"]
    result = evaluate(qrels, runs, k=2, conventions=skip)
    apart = (
        "no query is answered by both easy and hard; each mean is over its run’s own queries (12 of easy, 12 "
        "of hard), so the means do not tell which is better."
    )
    found = answered(result)
    assert found is not None
    assert found.sentence == f"easy has the highest Recall@2, but {apart}"
    # A third run, far behind, answers some queries of both.
    three = evaluate(qrels, {**runs, "both": {query: ["x"] for query in queries}}, k=2, conventions=skip)
    every = answer_of(three.to_dict()["runs"], compare_at(three, [2]), 2, AnswerBasis(24))
    assert every is not None
    assert every.sentence.startswith("easy is clearly better than both. That is on the 12 queries")
    assert every.sentence.endswith(f" But {apart}")
