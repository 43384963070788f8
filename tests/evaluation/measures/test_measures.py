"""The measures on one query that can be counted by hand, and their registry."""

import numpy as np
import pytest

from evaluation import Conventions, evaluate
from evaluation.measures import MEASURES, measure_keys, split_name

# Four relevant documents (a b c d), one judged not relevant (n); the run finds a at 1, n at 2, b at 4.
QRELS = {"q": {"a": 1, "b": 2, "c": 1, "d": 1, "n": 0}}
RUN = {"q": {"a": 9.0, "n": 8.0, "x": 7.0, "b": 6.0, "y": 5.0}}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("recall@1", 1 / 4),
        ("recall@3", 1 / 4),
        ("recall@4", 2 / 4),
        ("recall@10", 2 / 4),
        ("precision@1", 1.0),
        ("precision@4", 2 / 4),
        ("precision@10", 2 / 10),  # empty places count
        ("f1@4", 2 * 0.5 * 0.5 / (0.5 + 0.5)),
        ("f1@10", 2 * 0.2 * 0.5 / (0.2 + 0.5)),
        ("success@1", 1.0),
        ("capped_recall@1", 1.0),
        ("capped_recall@3", 1 / 3),
        ("capped_recall@10", 2 / 4),
        ("judged@1", 1.0),
        ("judged@4", 3 / 4),  # a, n and b
        ("judged@10", 3 / 10),
        ("map", (1 / 1 + 2 / 4) / 4),  # of four relevant documents, two are never found
        ("map@3", 1 / 4),
        ("mrr", 1.0),
        ("rprecision", 2 / 4),  # a and b within the first R = 4
        ("ndcg@1", 1 / 2),  # best possible: b, with its grade 2
        # b at rank 4 gains 2 / log2(5); the best order is b, then a c d.
        ("ndcg@4", (1 + 2 / 2.321928) / (2 + 1 / 1.584963 + 1 / 2 + 1 / 2.321928)),
        ("bpref", (1 + 0) / 4),  # n, the only one judged not relevant, stands above b
        # a: 1. b: 1/4 + 2/4 · (1 + ε) / (2 + 2ε), two pooled documents above it, one of them relevant.
        ("infap", (1 + 1 / 4 + 2 / 4 * 1 / 2) / 4),
    ],
)
def test_a_measure_equals_its_count_by_hand(key: str, value: float) -> None:
    figures = evaluate(QRELS, {"run": RUN}, measures=[key]).runs["run"].figures

    assert figures[key]["mean"] == pytest.approx(value)


def test_judged_says_both_denominators() -> None:
    figure = evaluate(QRELS, {"run": RUN}, k=10).figure("run", "judged", 10)

    assert figure["mean"] == pytest.approx(3 / 10)
    assert figure["mean_of_retrieved"] == pytest.approx(3 / 5)


def test_micro_recall_pools_the_queries_and_macro_averages_them() -> None:
    # q1: 1 of 1 found; q2: 1 of 4 found. Macro (1 + 1/4) / 2, micro 2 / 5.
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1, "c": 1, "d": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0, "x": 0.5}}

    figure = evaluate(qrels, {"run": run}, k=5).figure("run", "recall", 5)

    assert figure["mean"] == pytest.approx(0.625)
    assert figure["micro"] == pytest.approx(0.4)


def test_a_grade_below_the_threshold_is_judged_but_not_relevant() -> None:
    result = evaluate(QRELS, {"run": RUN}, k=4, conventions=Conventions(min_relevance=2))

    assert result.figure("run", "recall", 4)["mean"] == 1.0
    assert result.figure("run", "judged", 4)["mean"] == 0.75


@pytest.mark.parametrize(
    ("key", "relevance", "value"),
    [
        # Above the relevant document at rank 2 stands one of the pool that the sample left out.
        ("infap", {"x": -1, "a": 1}, 1 / 2 + 1 / 2 * 1 / 2),
        # A document outside the pool counts as not relevant.
        ("infap", {"a": 1}, 1 / 2),
        # Of two judged not relevant, one stands above it; R = 1, so that it breaks the only preference.
        ("bpref", {"x": 0, "y": 0, "a": 1}, 0.0),
        ("bpref", {"x": -1, "y": 0, "a": 1}, 1.0),
        ("bpref", {"a": 1}, 1.0),
        ("mrr", {"a": 1}, 1 / 2),
        ("mrr@1", {"a": 1}, 0.0),
        ("mrr@2", {"a": 1, "z": 1}, 1 / 2),
        # The gain is the label, whatever counts as relevant; a negative label gains nothing.
        ("ndcg@2", {"x": -2, "a": 3}, 1 / 1.584963),
        ("rprecision", {"a": 1, "z": 1}, 1 / 2),
    ],
)
def test_a_measure_of_ranks_equals_its_count_by_hand(
    key: str, relevance: dict[str, int], value: float
) -> None:
    run = {"q": {"x": 3.0, "a": 2.0, "y": 1.0}}

    figures = evaluate({"q": relevance}, {"run": run}, measures=[key]).runs["run"].figures

    assert figures[key]["mean"] == pytest.approx(value, abs=1e-5)


def test_a_measure_over_the_whole_run_is_asked_for_without_a_cutoff() -> None:
    assert measure_keys(["map", "map@5", "AP@5", "rprec", "recall"], [1, 2]) == [
        ("map", None),
        ("map", 5),
        ("rprecision", None),
        ("recall", 1),
        ("recall", 2),
    ]


@pytest.mark.parametrize("name", ["bpref@10", "rprec@5", "infap@1"])
def test_a_measure_without_cutoffs_says_so(name: str) -> None:
    with pytest.raises(ValueError, match="has no cutoff"):
        split_name(name)


def test_a_query_without_relevant_documents_has_no_value_and_counts_0_by_the_preset() -> None:
    qrels = {"q": {"a": 1}, "none": {"a": 0, "b": 0}}
    runs = {"run": {"q": {"a": 1.0}, "none": {"a": 1.0}}}
    names = ("map", "mrr", "ndcg", "rprecision", "bpref", "infap")

    ours = evaluate(qrels, runs, 5, names)
    preset = evaluate(qrels, runs, 5, names, Conventions.preset("trec_eval"))

    keys = ["map", "mrr", "ndcg@5", "rprecision", "bpref", "infap"]
    assert [ours.runs["run"].figures[key]["mean"] for key in keys] == pytest.approx([1.0] * 6)
    assert [preset.runs["run"].figures[key]["mean"] for key in keys] == pytest.approx([0.5] * 6)


@pytest.mark.parametrize("name", ["ndgc", "recall@0", "recall@", "recall@1.5", ""])
def test_an_unknown_measure_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="measure"):
        split_name(name)


def test_every_measure_is_documented() -> None:
    for measure in MEASURES.values():
        assert all((measure.title, measure.definition, measure.formula, measure.reference))


def test_the_values_of_every_measure_stay_between_0_and_1() -> None:
    result = evaluate(QRELS, {"run": RUN}, k=(1, 2, 3, 7), measures=list(MEASURES))

    values = np.stack(list(result.runs["run"].values.values()))
    assert values.min() >= 0
    assert values.max() <= 1
