"""Facts that the first K documents hold: by hand, against every verdict that could come, and against ndeval
and nuggetizer."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterator
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation.facts.evaluating import evaluate_facts
from evaluation.facts.measures import FACT_MEASURES, Counting, fact_recall, recall_bounds
from evaluation.facts.query import QueryFacts, Retrieved
from evaluation.facts.results import FactConventions
from evaluation.scoring.conventions import Conventions
from pooling.formats.facts.reading import read_facts
from pooling.formats.facts.records import FactRecord, SupportRecord, support_records
from tests.testdata import DATA, needs_data

# Three facts; a supports two of them, b one again, c the third in part. The run: a, x, b.
WEIGHTS = np.array([[0.0, 0.0, 0.5], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])  # c, b, a: by falling id
NOWHERE = np.inf
RUN = Retrieved(QueryFacts(WEIGHTS), np.array([NOWHERE, 3.0, 1.0]), np.array([2.0]), np.array([1, 2, 3, 30]))
STRICT = Counting()


def value(measure: str, run: Retrieved = RUN, counting: Counting = STRICT) -> list[float]:
    return FACT_MEASURES[measure].function(run, counting).tolist()


def test_each_measure_by_hand() -> None:
    third, log3 = 0.5 / np.log2(4), np.log2(3)
    assert value("fact_recall") == pytest.approx([2 / 3] * 4)
    assert value("fact_recall", counting=Counting("findable")) == [1.0] * 4
    ideal = [2, 2 + 0.5 / log3, 2 + 0.5 / log3, 2 + 0.5 / log3]
    assert value("alpha_ndcg") == pytest.approx(
        [1, 2 / ideal[1], (2 + third) / ideal[2], (2 + third) / ideal[3]]
    )
    best = 2 + 0.25
    assert value("err_ia") == pytest.approx([1, 2 / best, (2 + 0.5 / 3) / best, (2 + 0.5 / 3) / best])
    assert value("p_ia") == pytest.approx([2 / (1 * 2), 2 / (2 * 2), 3 / (3 * 2), 3 / (30 * 2)])
    assert value("map_ia") == pytest.approx([((1 + 2 / 3) / 2 + 1) / 2] * 4)
    assert value("redundancy") == pytest.approx([0, 0, 1 / 3, 1 / 3])


def test_parts_count_half_where_asked_for() -> None:
    run = Retrieved(RUN.facts, np.array([1.0, NOWHERE, NOWHERE]), np.zeros(0), np.array([1]))
    assert value("fact_recall", run, Counting(partial=True)) == pytest.approx([0.5 / 3])
    assert value("fact_recall", run, Counting("findable", True)) == pytest.approx([0.5 / 3])
    assert np.isnan(value("redundancy", run)).all()


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int, int]:
    facts, documents = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    cells = st.sampled_from([0.0, 1.0, np.nan])
    weights = [draw(st.lists(cells, min_size=facts, max_size=facts)) for _ in range(documents)]
    order = draw(st.permutations(range(documents)))
    shown = draw(st.integers(0, documents))
    places = np.full(documents, NOWHERE)
    for place, row in enumerate(order[:shown], start=1):
        places[row] = place
    return np.array(weights), places, draw(st.integers(1, 3)), draw(st.integers(0, 1))


def every_labeling(weights: np.ndarray, values: tuple[float, ...]) -> Iterator[np.ndarray]:
    spots = np.argwhere(np.isnan(weights))
    assume(len(values) ** len(spots) <= 4000)
    for given_values in itertools.product(values, repeat=len(spots)):
        filled = weights.copy()
        for (row, column), one in zip(spots, given_values, strict=True):
            filled[row, column] = one
        yield filled


@given(cases(), st.booleans(), st.booleans())
def test_bounds_are_those_of_every_verdict(
    case: tuple[np.ndarray, np.ndarray, int, int], findable: bool, partial: bool
) -> None:
    weights, places, k, beyond = case
    counting = Counting("findable" if findable else "all", partial)
    cutoffs = np.array([k])
    now = Retrieved(QueryFacts(weights), places, np.zeros(0), cutoffs)
    # A document of the pool that the run lacks and nobody judged is one more row without a verdict.
    more = np.vstack([weights, np.full((beyond, weights.shape[1]), np.nan)])
    further = np.append(places, np.full(beyond, NOWHERE))
    possible = (0.0, 0.5, 1.0) if partial else (0.0, 1.0)
    found = [
        fact_recall(Retrieved(QueryFacts(filled), further, np.zeros(0), cutoffs), counting)[0]
        for filled in every_labeling(more, possible)
    ]
    # A query that does not count now counts in no mean.
    assume(not np.isnan(fact_recall(now, counting)[0]))
    known = [one for one in found if not np.isnan(one)]
    low, high = recall_bounds(now, counting, np.array([beyond]))
    assert (low[0], high[0]) == pytest.approx((min(known), max(known)))


def test_a_retrieved_document_outside_the_pool_is_unjudged_for_every_fact() -> None:
    facts = [FactRecord("q", "f1"), FactRecord("q", "f2"), FactRecord("none", "f1", importance="okay")]
    supports = [SupportRecord("q", "f1", "a", 1.0), SupportRecord("q", "f2", "a", 0.0)]
    runs = {"one": {"q": ["x", "a"]}, "other": {"q": ["a"]}}
    vital = FactConventions(importance="vital")
    found = evaluate_facts(facts, supports, runs, [("fact_recall", 1), ("fact_recall", 2)], conventions=vital)
    spans = {
        run: [(one["bound_low"], one["mean"], one["bound_high"]) for one in figures.values()]
        for run, figures in found.runs.items()
    }
    assert spans == {"one": [(0, 0, 1), (0.5, 0.5, 1)], "other": [(0.5, 0.5, 0.5), (0.5, 0.5, 0.5)]}
    assert found.line("one", "fact_recall@2").split(" · ") == [
        "Fact recall@2 0.500 (too few queries for an interval)",
        "1 of 2 queries (1 without a fact)",
        "missing = 0",
        "facts: vital, strict",
        "ties: score, then id ↓",
        "judged pairs@2 50.0 %",
    ]


def half_judged() -> tuple[list[FactRecord], list[SupportRecord], pl.DataFrame]:
    """Of q nobody looked at n, which is not relevant, nor at x; of it one pair, a support. Of r nothing."""
    facts = [FactRecord("q", "f1"), FactRecord("q", "f2"), FactRecord("r", "f1")]
    supports = [
        SupportRecord("q", "f1", "a", 1.0),
        SupportRecord("q", "f2", "a", 0.0),
        SupportRecord("q", "f2", "m", 1.0),
        SupportRecord("r", "f1", "a", None),
    ]
    relevance = {"a": 1, "n": 0, "m": 0}
    labels = pl.DataFrame({"query_id": "q", "document_id": list(relevance), "relevance": relevance.values()})
    return facts, supports, labels


def test_a_document_that_is_not_relevant_supports_nothing_where_nobody_looked() -> None:
    facts, supports, labels = half_judged()
    runs = {"one": {"q": ["a", "n", "x"], "r": ["a"]}}
    keys = [("fact_recall", 2), ("fact_recall", 3)]
    found = evaluate_facts(facts, supports, runs, keys, labels=labels)
    at_2, at_3 = found.runs["one"].values()
    assert (at_2["mean"], at_2["bound_high"], at_3["bound_high"]) == (0.5, 0.5, 1.0)
    assert (at_2["judged_pairs"], at_2["decided_pairs"]) == (0.5, 1.0)
    assert "not relevant = no support (1 of 1 such pair judged are)" in found.line("one", "fact_recall@2")
    without = evaluate_facts(facts, supports, runs, keys).runs["one"]["fact_recall@2"]
    assert without["bound_high"] == 1.0


def test_queries_without_a_judged_pair_are_counted_apart() -> None:
    facts, supports, labels = half_judged()
    found = evaluate_facts(
        facts, supports, {"one": {"q": ["a"], "r": ["a"]}}, [("fact_recall", 1)], labels=labels
    )
    assert (found.runs["one"]["fact_recall@1"]["mean"], found.runs["one"]["fact_recall@1"]["queries"]) == (
        0.5,
        1,
    )
    assert "1 of 2 queries (1 without a judged pair)" in found.line("one", "fact_recall@1")
    assert found.to_dict()["counts"]["without_judged"] == 1


def test_what_needs_every_pair_is_not_told_below_four_fifths() -> None:
    facts, supports, labels = half_judged()
    keys = [(name, k) for name in ("alpha_ndcg", "err_ia", "p_ia", "redundancy") for k in (2, 3)]
    found = evaluate_facts(facts, supports, {"one": {"q": ["a", "n", "x"]}}, keys, labels=labels)
    told = {key: figure["mean"] is not None for key, figure in found.runs["one"].items()}
    assert told == {key: key.endswith("@2") for key in told}
    assert found.line("one", "alpha_ndcg@3").startswith("α-nDCG@3 not told below 80.0 % of the pairs")
    every = FactConventions(least_judged=0)
    whole = evaluate_facts(facts, supports, {"one": {"q": ["a", "n", "x"]}}, keys, conventions=every)
    assert all(figure["mean"] is not None for figure in whole.runs["one"].values())


NDEVAL = DATA / "living/ndeval"
RUNS = ("better", "noisy", "random")
COLUMNS = {"fact_recall": "strec", "alpha_ndcg": "alpha-nDCG", "err_ia": "nERR-IA", "p_ia": "P-IA"}


@needs_data
@pytest.mark.parametrize("complete", [False, True], ids=["answered topics", "all topics"])
def test_ndeval_says_the_same(complete: bool) -> None:
    file = read_facts(NDEVAL / "qrels.web2013.diversity.txt.gz")
    keys = [(name, k) for name in COLUMNS for k in (5, 10, 20)] + [("map_ia", None)]
    order = Conventions() if complete else Conventions.preset("ndeval")
    paths = [NDEVAL / f"{run}.run.gz" for run in RUNS]
    findable = FactConventions(denominator="findable")
    found = evaluate_facts(file.facts, file.supports, paths, keys, conventions=findable, order=order)
    for run in RUNS:
        header = (NDEVAL / f"expected.{run}.csv").read_text().splitlines()[0]
        name = f"expected.{run}.complete.csv" if complete else f"expected.{run}.csv"
        last = (NDEVAL / name).read_text().splitlines()[-1]
        (theirs,) = csv.DictReader([header, last])
        for measure, k in keys:
            expected = float(theirs["MAP-IA" if k is None else f"{COLUMNS[measure]}@{k}"])
            ours = found.runs[run][measure if k is None else f"{measure}@{k}"]["mean"]
            assert ours == pytest.approx(expected, abs=6e-7), (run, measure, k)


@needs_data
def test_the_reference_bounds_with_documents_hidden() -> None:
    file = read_facts(NDEVAL / "qrels.web2013.diversity.txt.gz")

    def is_hidden(one: SupportRecord) -> bool:
        return Random(f"hide{one.query_id}{one.document_id}").random() < 0.3

    hidden = [one._replace(weight=None) if is_hidden(one) else one for one in support_records(file.supports)]
    expected = json.loads((DATA / "living/facts/web2013.expected.json").read_text())
    keys = [("fact_recall", k) for k in (5, 10, 20)]
    paths = [NDEVAL / f"{run}.run.gz" for run in RUNS]
    names = {"findable": "bounds_findable_30_percent_hidden", "all": "bounds_all_facts_30_percent_hidden"}
    for denominator, name in names.items():
        conventions = FactConventions(denominator=denominator)  # type: ignore[arg-type]
        found = evaluate_facts(file.facts, hidden, paths, keys, conventions=conventions)
        whole = evaluate_facts(file.facts, file.supports, paths, keys, conventions=conventions)
        for run, (_, k) in itertools.product(RUNS, keys):
            figure, theirs = found.runs[run][f"fact_recall@{k}"], expected[f"{run}@{k}"]
            assert [figure["bound_low"], figure["bound_high"]] == pytest.approx(theirs[name])
            if denominator == "findable":
                mean = whole.runs[run][f"fact_recall@{k}"]["mean"]
                assert mean == pytest.approx(theirs["fact_recall_findable"])


@needs_data
def test_nuggetizer_says_the_same_under_its_preset(tmp_path_factory: pytest.TempPathFactory) -> None:
    theirs = json.loads((DATA / "living/nuggets/nuggetizer.expected.json").read_text())
    path = tmp_path_factory.mktemp("nuggets") / "assignments.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in theirs["assignments"]))
    file = read_facts(path)
    runs = {"answers": {query: ["answer"] for query in ("q1", "q2", "q3")}}
    order = Conventions.preset("nuggetizer")
    scores = {one["qid"]: one for one in theirs["scores"]}
    for importance, partial in itertools.product(("all", "vital"), (True, False)):
        conventions = FactConventions(importance=importance, partial=partial)  # type: ignore[arg-type]
        asked = (file.facts, file.supports, runs, [("fact_recall", 1)])
        found = evaluate_facts(*asked, conventions=conventions, order=order)
        key = f"{'' if partial else 'strict_'}{importance}_score"
        assert found.runs["answers"]["fact_recall@1"]["mean"] == pytest.approx(scores["all"][key])
        values = found.values["answers"]["fact_recall"][:, 0]
        by_query = dict(zip(found.table.query_ids, values, strict=True))
        assert by_query == pytest.approx({query: scores[query][key] for query in ("q1", "q2", "q3")})
