"""Generated runs with ties, missing queries and negative labels, beside pytrec-eval-terrier."""

from typing import Any

import pytest
import pytrec_eval
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation import Conventions, evaluate

CUTOFFS = (1, 2, 3, 5, 10)
NAMES = {"recall": "recall", "precision": "P", "success": "success", "map": "map_cut", "ndcg": "ndcg_cut"}
WHOLE_RUN = {"map": "map", "mrr": "recip_rank", "rprecision": "Rprec", "bpref": "bpref", "infap": "infAP"}
ASKED = [*WHOLE_RUN, *(f"{name}@{k}" for name in NAMES for k in CUTOFFS)]

queries = st.sampled_from(["q1", "q2", "q10", "Q1", "é", "01"])
documents = st.sampled_from(["a", "b", "c", "d10", "d9", "D9", "é", "e", "ö#", "z-1", "Z", "漢字"])
# Few different values make ties; two of them are equal in single precision only.
scores = st.sampled_from([2.0, 1.5, 1.0, 0.0, -1.0, 30.123456789, 30.123456788])
grades = st.integers(min_value=-2, max_value=3)
qrels_sets = st.dictionaries(queries, st.dictionaries(documents, grades, min_size=1), min_size=1)
run_sets = st.dictionaries(queries, st.dictionaries(documents, scores, min_size=1), min_size=1)


def peer(qrels: Any, run: Any, level: int) -> dict[tuple[str, str, int | None], float]:
    wanted = {f"{name}.{','.join(map(str, CUTOFFS))}" for name in NAMES.values()} | set(WHOLE_RUN.values())
    results = pytrec_eval.RelevanceEvaluator(qrels, wanted, relevance_level=level).evaluate(run)
    at_cutoffs = {
        (query, measure, k): values[f"{name}_{k}"]
        for query, values in results.items()
        for measure, name in NAMES.items()
        for k in CUTOFFS
    }
    return at_cutoffs | {
        (query, measure, None): values[name]
        for query, values in results.items()
        for measure, name in WHOLE_RUN.items()
    }


@given(qrels=qrels_sets, run=run_sets, level=st.integers(1, 2))
def test_every_value_equals_pytrec_evals(qrels: Any, run: Any, level: int) -> None:
    # The peer can crash on a query whose labels are all negative; test_edge_cases.py has that case.
    assume(all(max(pairs.values()) >= 0 for pairs in qrels.values()))
    conventions = Conventions.preset("trec_eval-9", min_relevance=level)
    if not qrels.keys() & run.keys():
        with pytest.raises(ValueError, match="no query in common"):
            evaluate(qrels, {"run": run}, CUTOFFS, conventions=conventions)
        return

    result = evaluate(qrels, {"run": run}, CUTOFFS, ASKED, conventions, bootstrap_samples=1)
    table = result.per_query_frame().drop_nulls("value")
    values = {row[1:4]: row[4] for row in table.iter_rows() if row[2] != "judged"}

    assert values == pytest.approx(peer(qrels, run, level), abs=1e-12)


@given(qrels=qrels_sets, runs=st.lists(run_sets, min_size=1, max_size=3), k=st.integers(1, 12))
def test_bounds_and_ties_enclose_what_they_speak_of(qrels: Any, runs: Any, k: int) -> None:
    answering = {str(index): run for index, run in enumerate(runs) if run.keys() & qrels.keys()}
    assume(answering)

    for figures in evaluate(qrels, answering, k, bootstrap_samples=1).runs.values():
        recall = figures.figures[f"recall@{k}"]
        low, high = recall["bounds"]
        assert recall["mean"] is None or 0 <= low <= recall["mean"] + 1e-12 <= high + 2e-12 <= 1 + 3e-12
        if ties := recall.get("ties"):
            assert ties["min"] - 1e-12 <= recall["mean"] <= ties["max"] + 1e-12
            assert ties["min"] <= ties["expected"] <= ties["max"]


@given(qrels=qrels_sets, run=run_sets, k=st.integers(1, 12))
def test_bounds_hold_for_every_completion_of_the_labels(qrels: Any, run: Any, k: int) -> None:
    if not qrels.keys() & run.keys():
        return
    before = evaluate(qrels, {"run": run}, k, bootstrap_samples=1)
    with_relevant = {query for query, pairs in qrels.items() if max(pairs.values()) > 0}
    for label in (0, 1):
        filled = {
            query: {
                **dict.fromkeys(run.get(query, {}), label),
                **{d: g if g >= 0 else label for d, g in pairs.items()},
            }
            for query, pairs in qrels.items()
            if query in with_relevant
        }
        if filled and filled.keys() & run.keys():
            after = evaluate(filled, {"run": run}, k, bootstrap_samples=1).figure("run", "recall", k)["mean"]
            low, high = before.figure("run", "recall", k)["bounds"]
            # Labels beyond the first k that the pool does not hold are outside what the bounds speak of.
            if all(len(documents) <= k for documents in run.values()):
                assert low - 1e-12 <= after <= high + 1e-12
