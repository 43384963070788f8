"""Recall@K of lists, counted by hand, and equal to what `evaluate` makes of the same documents."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import evaluate
from evaluation.scoring.arrays import recall_at_k

IDS = st.sampled_from("abcdefgh")
LISTS = st.lists(IDS, min_size=1, unique=True)
ANSWERS = st.dictionaries(st.sampled_from(["q1", "q2", "q3", "q4"]), LISTS, min_size=1)
RELEVANT = st.dictionaries(st.sampled_from(["q1", "q2", "q3", "q4"]), st.sets(IDS), min_size=1)


@pytest.mark.parametrize(("k", "value"), [(1, 1 / 4), (3, 1 / 4), (4, 2 / 4), (100, 2 / 4)])
@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series])
def test_one_query_is_counted_by_hand(kind: Any, k: int, value: float) -> None:
    retrieved, relevant = kind(["a", "n", "x", "b", "y"]), ["a", "b", "c", "d"]

    assert recall_at_k(retrieved, set(relevant), k) == value
    assert recall_at_k(retrieved, kind(relevant), k) == value


def test_the_mean_over_queries_leaves_out_those_without_a_relevant_document() -> None:
    retrieved = {"q1": ["a", "b"], "q2": ["x"], "q3": ["c"], "unknown": ["a"]}
    relevant = {"q1": {"a", "b"}, "q2": {"y"}, "q3": set(), "missing": {"z"}}

    assert recall_at_k(retrieved, relevant, 2) == (1 + 0 + 0) / 3
    assert recall_at_k([["a", "b"], ["x"], ["c"]], [["a", "b"], ["y"], []], 1) == (1 / 2 + 0) / 2


def test_numbers_in_arrays_are_ids_and_negative_ones_empty_places() -> None:
    approximate = np.array([[3, 1, 7], [4, 5, 6], [8, -1, -1], [9, 2, 1]])
    exact = np.array([[1, 2, -1], [4, 5, -1], [8, 9, 7], [-1, -1, -1]])
    by_hand = (1 / 2 + 1 + 1 / 3) / 3

    assert recall_at_k(approximate, exact, 2) == pytest.approx(by_hand)
    assert recall_at_k(approximate, [{1, 2}, {4, 5}, {8, 9, 7}, set()], 2) == pytest.approx(by_hand)
    assert recall_at_k(approximate[2], exact[2], 2) == 1 / 3


def test_a_whole_number_and_its_text_are_one_id() -> None:
    assert recall_at_k([1, 2], {"1", "7"}, k=2) == 0.5
    assert recall_at_k(["1", "2"], np.array([1, 7]), k=2) == 0.5
    assert recall_at_k({1: ["a"], 2: ["b"]}, {"1": {"a"}, "2": {"c"}}, k=1) == 0.5


def test_nothing_relevant_has_no_recall() -> None:
    assert isnan(recall_at_k(["a"], [], 1))
    assert isnan(recall_at_k({"q": ["a"]}, {"q": set()}, 1))
    assert recall_at_k([], {"a"}, 1) == 0


@pytest.mark.parametrize(
    ("retrieved", "relevant", "k", "why"),
    [
        (["a"], {"a"}, 0, "K is 0"),
        (["a"], {"a"}, 1.5, "K is 1.5"),
        (["a"], {"a"}, (1, 5), "give one K here"),
        ({"a", "b"}, {"a"}, 1, "has no order"),
        ({"q": {"a"}}, {"q": {"a"}}, 1, "has no order"),
        (["a", "b", "a"], {"a"}, 1, "'a' is retrieved twice"),
        ({"q": ["a"]}, {"a"}, 1, "both by query, or neither"),
        ([["a"], ["b"]], [{"a"}], 1, "2 lists of retrieved and 1 of relevant"),
        ({"q": ["a"]}, {"Q": {"a"}}, 1, "compare the query ids"),
        ({"q": {"a": 0.5}}, {"q": {"a"}}, 1, "use evaluate"),
        ({"q": ["a"]}, {"q": {"a": 0}}, 1, "use evaluate"),
        (["a"], [{"a"}], 1, "'a' is not a list"),
        (["d3", "d1"], "d1", 2, "'d1' is not a list"),
        ("d1", ["d1"], 2, "'d1' is not a list"),
        (pd.DataFrame({"a": ["d1"]}), ["a"], 1, "A DataFrame is not a list"),
        (pd.Series([11.0, 12.0]), [11], 2, "12.0 is a document id of the type float. Write ids as text."),
        ([11.0], [11.0], 1, "Write ids as text."),
        (np.array([[1.0], [2.0]]), [{1}, {2}], 1, "Write ids as text."),
        (np.array([b"d1"]), ["d1"], 1, "Write ids as text."),
        ({1.0: ["a"]}, {"1": {"a"}}, 1, "1.0 is a query id of the type float. Write ids as text."),
        (["a", None], ["a"], 1, "Write ids as text."),
    ],
)
def test_what_has_no_one_meaning_is_refused(retrieved: Any, relevant: Any, k: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        recall_at_k(retrieved, relevant, k)


@given(ANSWERS, RELEVANT, st.integers(1, 10))
def test_it_is_the_recall_that_evaluate_computes(
    answers: dict[str, list[str]], relevant: dict[str, set[str]], k: int
) -> None:
    labels = {query: dict.fromkeys(ids, 1) | {"n": 0} for query, ids in relevant.items()}
    run = {query: {id: -float(place) for place, id in enumerate(ids)} for query, ids in answers.items()}
    if not run.keys() & labels.keys():
        return

    mean = evaluate(labels, {"run": run}, k=k, measures=["recall"]).figure("run", "recall", k)["mean"]

    assert recall_at_k(answers, relevant, k) == pytest.approx(np.nan if mean is None else mean, nan_ok=True)


@given(LISTS, st.sets(IDS, min_size=1), st.integers(1, 10))
def test_it_rises_with_k_to_the_share_that_was_retrieved_at_all(
    retrieved: list[str], relevant: set[str], k: int
) -> None:
    here, deeper = (recall_at_k(retrieved, relevant, at) for at in (k, k + 1))

    assert 0 <= here <= deeper <= recall_at_k(retrieved, relevant, len(retrieved))
    assert recall_at_k(retrieved, relevant, 8) == len(relevant & set(retrieved)) / len(relevant)
