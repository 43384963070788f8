"""Which falls the unjudged documents of two runs could take back, and what every labelling does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from evaluation import Evaluation, evaluate
from evaluation.canaries.unjudged import could_reverse

K = 2
Labels = dict[str, dict[str, int]]
Lists = dict[str, dict[str, list[str]]]


def small(seed: int) -> tuple[Labels, Lists]:
    """Three runs of three queries over six documents, four of them judged, one of these relevant at least."""
    draw = np.random.default_rng(seed)
    qrels: Labels = {}
    runs: Lists = {name: {} for name in ("new", "old", "best")}
    for query in ("q1", "q2", "q3"):
        qrels[query] = {f"d{at}": int(draw.random() < 0.5) for at in draw.permutation(6)[:4]} | {"d0": 1}
        for lists in runs.values():
            lists[query] = [f"d{at}" for at in draw.permutation(6)[:K]]
    return qrels, runs


def differences(qrels: Labels, runs: Lists, measure: str) -> set[float]:
    """Of the first run from the second, by every labelling of the documents that either has."""
    unjudged = sorted(
        {(query, one) for name in ("new", "old") for query, top in runs[name].items() for one in top}
        - {(query, one) for query, labels in qrels.items() for one in labels}
    )
    means = set()
    for labels in product((0, 1), repeat=len(unjudged)):
        relevant = {query: {one for one, label in of.items() if label} for query, of in qrels.items()}
        for (query, one), label in zip(unjudged, labels, strict=True):
            relevant[query] |= {one} if label else set()
        difference = [
            (len(of & set(runs["new"][query])) - len(of & set(runs["old"][query])))
            / (len(of) if measure == "recall" else K)
            for query, of in relevant.items()
        ]
        means.add(float(np.mean(difference)))
    return means


def measured(qrels: Labels, runs: Lists, measure: str) -> Evaluation:
    return evaluate(qrels, runs, K, [measure], bootstrap_samples=100)


@pytest.mark.parametrize("measure", ["recall", "precision"])
def test_a_fall_is_open_where_some_labelling_takes_it_back(measure: str) -> None:
    answers = []
    for seed in range(300):
        qrels, runs = small(seed)
        result = measured(qrels, runs, measure)
        figures = [result.figure(run, "judged", K)["mean"] for run in ("new", "old")]
        by_labels = result.figure("new", measure, K)["mean"] - result.figure("old", measure, K)["mean"]
        if by_labels >= 0 or 0 in figures:
            continue
        wanted = max(differences(qrels, runs, measure)) > -1e-12
        assert could_reverse(result, ("new", "old"), f"{measure}@{K}") is wanted, seed
        answers.append(wanted)
    assert 20 < sum(answers) < len(answers) - 20


def test_unjudged_documents_of_a_third_run_leave_no_fall_open() -> None:
    """In q1 the new run is behind, in q2 it is ahead by less; the third run has unjudged documents of q1."""
    qrels = {"q1": {"a": 1, "x": 0}, "q2": {"a": 1, "b": 1, "x": 0}}
    two = {"new": {"q1": ["x"], "q2": ["a"]}, "old": {"q1": ["a"], "q2": ["x"]}}
    three = {**two, "best": {"q1": ["n1", "n2"], "q2": ["a"]}}
    assert not could_reverse(measured(qrels, two, "recall"), ("new", "old"), "recall@2")
    assert not could_reverse(measured(qrels, three, "recall"), ("new", "old"), "recall@2")
