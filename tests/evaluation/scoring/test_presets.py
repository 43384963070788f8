"""The trec_eval presets, measure by measure: equal to pytrec-eval as printed, and where trec_eval 10 differs,
tables by hand."""

from typing import Any

import numpy as np
import pytest

from evaluation import Conventions, evaluate
from tests.evaluation.scoring.test_properties import ASKED, CUTOFFS, peer

# In single precision a and z tie, so that 9 puts z first (id falling) where 10 puts a. c has label 2, z is
# judged not relevant, d has no label: R = 2, one document judged not relevant.
QRELS = {"q": {"a": 1, "c": 2, "z": 0}}
RUN = {"q": {"a": 30.123456789, "z": 30.123456788, "c": 1.0, "d": 0.5}}
LOG3 = np.log2(3)
IDEAL = 2 / 1 + 1 / LOG3
BY_HAND = {
    # key: (trec_eval 10: a z c d, trec_eval 9: z a c d)
    "recall@1": (1 / 2, 0),
    "recall@2": (1 / 2, 1 / 2),
    "precision@1": (1, 0),
    "precision@3": (2 / 3, 2 / 3),
    "f1@1": (2 / 3, 0),
    "success@1": (1, 0),
    "capped_recall@1": (1, 0),
    "judged@1": (1, 1),
    "ndcg@1": (1 / 2, 0),
    "ndcg@2": (1 / IDEAL, (1 / LOG3) / IDEAL),
    "ndcg@3": ((1 + 2 / 2) / IDEAL, (1 / LOG3 + 2 / 2) / IDEAL),
    "map": ((1 / 1 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2),
    "map@2": ((1 / 1) / 2, (1 / 2) / 2),
    "mrr": (1, 1 / 2),
    "mrr@1": (1, 0),
    "rprecision": (1 / 2, 1 / 2),
    # One of one judged not relevant above: 1 - 1/1.
    "bpref": ((1 + 0) / 2, 0),
    # At rank k: 1/k + (k-1)/k · pooled above / (k-1) · relevant / judged above; smoothed by 0.00001.
    "infap": ((1 + (1 / 3 + 2 / 3 * 1 / 2)) / 2, ((1 / 2 + 1 / 2 * 0) + (1 / 3 + 2 / 3 * 1 / 2)) / 2),
}


@pytest.mark.parametrize("key", BY_HAND)
@pytest.mark.parametrize(("preset", "column"), [("trec_eval", 0), ("trec_eval-c", 0), ("trec_eval-9", 1)])
def test_scores_in_double_and_in_single_precision(key: str, preset: str, column: int) -> None:
    result = evaluate(QRELS, {"run": RUN}, 1, [key], Conventions.preset(preset), bootstrap_samples=1)
    mean = result.runs["run"].figures[key]["mean"]

    assert mean == pytest.approx(BY_HAND[key][column], abs=2e-5)


# q1 is found, q2 has no relevant label, q3 is missing from the run.
@pytest.mark.parametrize(
    ("preset", "queries"), [("trec_eval", 2), ("trec_eval-c", 3), ("trec_eval-9", 2), (None, 2)]
)
@pytest.mark.parametrize("key", [key for key in BY_HAND if not key.startswith("judged")])
def test_which_queries_each_preset_divides_by(preset: str | None, queries: int, key: str) -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 1}}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0}}
    alone = evaluate({"q1": qrels["q1"]}, {"run": {"q1": run["q1"]}}, 1, [key], bootstrap_samples=1)
    conventions = Conventions.preset(preset) if preset else Conventions()
    figure = (
        evaluate(qrels, {"run": run}, 1, [key], conventions, bootstrap_samples=1).runs["run"].figures[key]
    )

    assert figure["queries"] == queries
    assert figure["mean"] == pytest.approx(alone.runs["run"].figures[key]["mean"] / queries)


def generated(seed: int) -> tuple[Any, Any]:
    """Sixty queries with many ties, some of them in single precision only, labels from -2 to 3, and missing
    queries on both sides."""
    random = np.random.default_rng(seed)
    values = np.array([2.0, 1.5, 1.0, 0.0, -1.0, 30.123456789, 30.123456788])
    qrels, run = {}, {}
    for number in range(60):
        names = [f"d{name}" for name in random.permutation(25)]
        labelled, retrieved = int(random.integers(1, 20)), int(random.integers(1, 25))
        if random.random() < 0.85:
            grades = random.integers(-2, 4, labelled).tolist()
            grades[0] = max(grades[0], 0)  # a query of negative labels only can crash the peer
            qrels[f"q{number}"] = dict(zip(names[:labelled], grades, strict=True))
        if random.random() < 0.85:
            chosen = random.permutation(names)[:retrieved].tolist()
            run[f"q{number}"] = dict(zip(chosen, random.choice(values, retrieved).tolist(), strict=True))
    return qrels, run


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("level", [1, 2])
def test_values_and_means_are_printed_as_pytrec_evals(seed: int, level: int) -> None:
    qrels, run = generated(seed)
    theirs = peer(qrels, run, level)
    answered = {query for query, *_ in theirs}
    every = [
        ("trec_eval-9", len(answered), {"missing": "skip"}),
        ("trec_eval-9", len(qrels), {"missing": "zero"}),
    ]
    for preset, count, changed in every:
        conventions = Conventions.preset(preset, min_relevance=level, **changed)
        result = evaluate(qrels, {"run": run}, CUTOFFS, ASKED, conventions, bootstrap_samples=1)
        for measure, k in {key[1:] for key in theirs}:
            mean = sum(theirs[query, measure, k] for query in sorted(answered)) / count
            assert f"{result.figure('run', measure, k)['mean']:.4f}" == f"{mean:.4f}", (measure, k)
    ours = {row[1:4]: row[4] for row in result.per_query_frame().iter_rows()}
    assert {key: f"{ours[key]:.4f}" for key in theirs} == {key: f"{held:.4f}" for key, held in theirs.items()}


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_in_single_precision_ten_prints_what_nine_prints(seed: int) -> None:
    qrels, run = generated(seed)
    coarse = {query: {name: round(score, 3) for name, score in held.items()} for query, held in run.items()}
    theirs = peer(qrels, coarse, 1)
    conventions = Conventions.preset("trec_eval")
    result = evaluate(qrels, {"run": coarse}, CUTOFFS, ASKED, conventions, bootstrap_samples=1)

    ours = {row[1:4]: row[4] for row in result.per_query_frame().iter_rows()}
    assert {key: f"{ours[key]:.4f}" for key in theirs} == {key: f"{held:.4f}" for key, held in theirs.items()}
