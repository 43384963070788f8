"""The same numbers as ir-measures and ranx on generated runs, and where a name means something else there."""

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, Bpref, Judged, P, R, Rprec, Success, infAP, nDCG

from evaluation import Conventions, evaluate
from tests.evaluation.scoring.test_properties import CUTOFFS, documents, queries, scores

# ir-measures averages over all queries of the qrels, as trec_eval -c does, and reads scores as floats.
IR_MEASURES = Conventions.preset("trec_eval-9", missing="zero")
WHOLE = {AP: "map", RR: "mrr", Rprec: "rprecision", Bpref: "bpref", infAP: "infap"}
# RR@K is left out: there it has an order of ties of its own. Without ties it is compared with ranx.
AT_K = {R: "recall", P: "precision", AP: "map", nDCG: "ndcg", Success: "success"}
MEASURES = {**WHOLE, **{theirs @ k: f"{ours}@{k}" for theirs, ours in AT_K.items() for k in CUTOFFS}}

grades = st.integers(min_value=-1, max_value=3)
judged_grades = st.integers(min_value=0, max_value=3)


def sets_of(values: Any) -> Any:
    return st.dictionaries(queries, st.dictionaries(documents, values, min_size=1), min_size=1)


def by_query(qrels: Any, run: Any, names: Any, conventions: Conventions) -> dict[tuple[str, str], float]:
    """(query, `measure@k`) -> value."""
    result = evaluate(qrels, {"run": run}, CUTOFFS, list(names), conventions, bootstrap_samples=1)
    rows = result.per_query_frame().iter_rows()
    return {(query, name if k is None else f"{name}@{k}"): value for _, query, name, k, value in rows}


@given(qrels=sets_of(grades), run=sets_of(scores))
def test_every_value_equals_that_of_ir_measures(qrels: Any, run: Any) -> None:
    if not (qrels.keys() & run.keys()) or any(max(pairs.values()) < 0 for pairs in qrels.values()):
        return
    theirs = {
        (metric.query_id, MEASURES[metric.measure]): metric.value
        for metric in ir_measures.iter_calc(list(MEASURES), qrels, run)
    }
    ours = by_query(qrels, run, MEASURES.values(), IR_MEASURES)

    assert {key: ours[key] for key in theirs} == pytest.approx(theirs, abs=1e-12)


@given(qrels=sets_of(judged_grades), run=sets_of(scores), k=st.sampled_from(CUTOFFS))
def test_judged_of_ir_measures_is_the_share_of_what_was_retrieved(qrels: Any, run: Any, k: int) -> None:
    # Ties: there by document id rising for this one measure. A negative label counts as judged there.
    both = {query: run[query] for query in run if query in qrels}
    if not both:
        return
    conventions = Conventions(ties="docid-asc", missing="skip", zero_relevant="zero")
    theirs = [m.value for m in ir_measures.iter_calc([Judged @ k], qrels, both) if m.query_id in both]
    ours = evaluate(qrels, {"run": both}, k, ["judged"], conventions, bootstrap_samples=1)

    assert ours.figure("run", "judged", k)["mean_of_retrieved"] == pytest.approx(np.mean(theirs))


RANX = {
    **{
        f"{name}@{k}": f"{theirs}@{k}"
        for name, theirs in {
            "recall": "recall",
            "precision": "precision",
            "f1": "f1",
            "success": "hit_rate",
            "map": "map",
            "mrr": "mrr",
            "ndcg": "ndcg",
        }.items()
        for k in CUTOFFS
    },
    "map": "map",
    "mrr": "mrr",
    "rprecision": "r-precision",
}
# Compiling its functions takes half a minute; uncompiled they give the same numbers.
RANX_PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
from ranx import Qrels, Run, evaluate
cases, names = json.load(sys.stdin)
results = []
for qrels, run in cases:
    run = Run(run)
    try:
        evaluate(Qrels(qrels), run, names, return_mean=False)
        results.append({name: dict(run.scores[name]) for name in names})
    except AssertionError as error:
        results.append(str(error))
json.dump(results, sys.stdout)
"""


def generated(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """A case that both read alike: the same queries, no ties, no negative label."""
    random = np.random.default_rng(seed)
    qrels, run = {}, {}
    for number in range(1, 7):
        names = [f"d{name}" for name in random.permutation(15)]
        labelled, retrieved = int(random.integers(1, 12)), int(random.integers(1, 15))
        qrels[f"q{number}"] = {name: int(random.integers(0, 4)) for name in names[:labelled]}
        places, scored = random.permutation(names)[:retrieved], random.permutation(retrieved)
        run[f"q{number}"] = dict(zip(places.tolist(), scored.astype(float).tolist(), strict=True))
    return qrels, run


ALIKE = [generated(seed) for seed in range(25)]
TIED = {"q": {"a": 1.0, "b": 1.0}}
OTHERWISE: list[Any] = [
    ({"q": {"b": 1}}, TIED),  # ties: there as the run comes, here by document id, falling
    ({"q": {"b": 1}}, {"q": {"b": 1.0, "a": 1.0}}),
    ({"q": {"b": 1, "a": -1}}, {"q": {"a": 2.0, "b": 1.0}}),  # a negative label: not relevant in both
    ({"q": {"b": 0}}, TIED),  # no relevant label: 0 there, undefined here
    ({"q": {"a": 1}, "z": {"a": 1}}, {"q": {"a": 1.0}}),  # a missing query: refused there, 0 here
]


@cache
def ranx() -> list[Any]:
    """Per case of ALIKE and OTHERWISE name -> query -> value, or what it refuses the case with."""
    done = subprocess.run(
        [sys.executable, "-c", RANX_PROGRAM],
        input=json.dumps([[*ALIKE, *OTHERWISE], list(RANX.values())]),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_every_value_equals_that_of_ranx() -> None:
    # bpref is left out: there it takes unjudged documents as not relevant, and gives NaN without any such.
    for (qrels, run), theirs in zip(ALIKE, ranx(), strict=False):
        ours = by_query(qrels, run, RANX, Conventions.preset("trec_eval-c"))
        for name, peer in RANX.items():
            assert {query: ours[query, name] for query in qrels} == pytest.approx(theirs[peer], abs=1e-12), (
                name
            )


@pytest.mark.slow
def test_where_ranx_means_something_else() -> None:
    *theirs, refused = ranx()[len(ALIKE) :]
    cases = OTHERWISE[:-1]

    def ours(case: Any, **changed: Any) -> Any:
        return by_query(*case, ["recall@1"], Conventions(**changed))["q", "recall@1"]

    assert [held["recall@1"]["q"] for held in theirs] == [0, 1, 0, 0]
    assert [ours(case) for case in cases] == [1, 1, 0, None]
    assert [ours(case, ties="file", zero_relevant="zero") for case in cases] == [0, 1, 0, 0]
    assert "query ids do not match" in refused


def test_a_missing_query_counts_in_ir_measures_and_not_in_pytrec_eval() -> None:
    import pytrec_eval

    qrels, run = {"q": {"a": 1}, "z": {"a": 1}}, {"q": {"a": 1.0}}
    left_out = pytrec_eval.RelevanceEvaluator(qrels, {"recall.1"}).evaluate(run)
    averaged = ir_measures.calc_aggregate([R @ 1], qrels, run)[R @ 1]

    def mean(conventions: Conventions) -> Any:
        result = evaluate(qrels, {"run": run}, 1, ["recall"], conventions)
        return result.figure("run", "recall", 1)["mean"]

    assert list(left_out) == ["q"]
    assert (averaged, mean(Conventions()), mean(Conventions(missing="skip"))) == (0.5, 0.5, 1.0)
