"""Replay: found-by-effort on labels one has, against counts by hand and the reference collections."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

from evaluation.plans.replaying import LabelledPool, all_knowing, labelled_pool, replay, rounded_up
from evaluation.plans.simulation import Simulation, simulate
from pooling.formats import name_of, read_qrels, read_run
from pooling.strategies import STRATEGIES
from tests.pooling.pools_at_random import random_runs, runs_of
from tests.testdata import DATA, needs_data

QRELS = {"query_id": pl.String, "document_id": pl.String, "relevance": pl.Int32}


def qrels_of(**queries: dict[str, int]) -> pl.DataFrame:
    rows = [
        (query, document, label) for query, labels in queries.items() for document, label in labels.items()
    ]
    return pl.DataFrame(rows, schema=QRELS, orient="row")


def labels(documents: str, relevant: str) -> dict[str, int]:
    return {document: int(document in relevant) for document in documents}


def one_list(documents: str, relevant: str) -> LabelledPool:
    """A single run, so every fixed order is the run's own."""
    return labelled_pool(qrels_of(q=labels(documents, relevant)), runs_of(q=[documents]), depth=50)


def test_pairs_without_a_label_and_queries_without_a_relevant_one_are_left_out() -> None:
    runs = runs_of(q1=["abcd"], q2=["xyz"], q3=["mn"], q4=["kl"])
    qrels = qrels_of(q1={"a": 1, "b": 0, "c": -1}, q2={"x": 0, "y": 0}, q3={"m": 1}, q5={"z": 1})
    pool = labelled_pool(qrels, runs, depth=50)
    assert {query: one.documents for query, one in pool.candidates.items()} == {"q1": ["a", "b"], "q3": ["m"]}
    assert (pool.pairs, pool.labelled, pool.queries_left_out) == (4 + 3 + 2, 2 + 2 + 1, 2)
    assert pool.unlabelled_share == pytest.approx(4 / 9)


def test_relevant_begins_where_one_says() -> None:
    runs, qrels = runs_of(q=["abc"]), qrels_of(q={"a": 1, "b": 2, "c": 0})
    assert labelled_pool(qrels, runs, depth=3, min_relevance=2).truth["q"].tolist() == [False, True, False]


def test_nothing_relevant_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to find"):
        labelled_pool(qrels_of(q={"a": 0}), runs_of(q=["a"]), depth=3)


def test_found_and_effort_are_counted_from_the_order_of_judging() -> None:
    done = replay(one_list("abcdefghij", "aceh"), STRATEGIES["rrf"])
    # One document at 10 %, three (a, b, c) at 25 % rounded up, five at a half.
    assert [done.recall_at(budget) for budget in (0.1, 0.25, 0.5)] == [0.25, 0.5, 0.75]
    # 80 % of four is all four: h is the eighth of ten.
    assert done.effort(0.8) == pytest.approx(0.8)
    assert done.effort(0.5) == pytest.approx(0.3)


def test_shares_are_rounded_up_free_of_binary_dust() -> None:
    assert [rounded_up(share, 30) for share in (0.1, 0.11, 0.001, 1.0)] == [3, 4, 1, 30]


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_judges_every_pair_once(name: str) -> None:
    done = replay(random_pool_with_labels(3), STRATEGIES[name], batch=2)
    for query_id, one in done.pool.candidates.items():
        assert sorted(done.by_query[query_id][0]) == list(range(len(one)))
    assert done.recall_at(1.0) == 1.0


def random_pool_with_labels(seed: int) -> LabelledPool:
    runs = random_runs(seed, queries=4, documents=16)
    chance = np.random.default_rng(seed)
    letters = [chr(97 + number) for number in range(16)]
    qrels = qrels_of(
        **{f"q{query}": {letter: int(chance.random() < 0.4) for letter in letters} for query in range(4)}
    )
    return labelled_pool(qrels, runs, depth=10)


def test_a_larger_batch_learns_later() -> None:
    # The second run brings what is relevant; a batch of all is the order without labels.
    runs = runs_of(q=["abcdefgh", "stuvwxyz"])
    pool = labelled_pool(qrels_of(q=labels("abcdefghstuvwxyz", "stuvwxyz")), runs, depth=8)
    found = [replay(pool, STRATEGIES["maxmean"], batch=batch).recall_at(0.5) for batch in (1, 16)]
    assert found[0] > found[1]
    assert found[1] == replay(pool, STRATEGIES["rrf"]).recall_at(0.5)


def test_noise_is_told_and_not_counted() -> None:
    pool = random_pool_with_labels(5)
    noisy = replay(pool, STRATEGIES["maxmean"], noise=0.4, seed=1)
    assert any((noisy.labels[query] != truth).any() for query, truth in pool.truth.items())
    assert noisy.recall_at(1.0) == 1.0
    assert replay(pool, STRATEGIES["maxmean"], noise=0.4, seed=1).steps == noisy.steps
    assert replay(pool, STRATEGIES["maxmean"], noise=0.4, seed=2).steps != noisy.steps


def test_a_strategy_that_chooses_queries_spends_one_budget_on_all() -> None:
    runs = runs_of(easy=["abcd"], hard=["wxyz"])
    qrels = qrels_of(easy=labels("abcd", "abcd"), hard=labels("wxyz", "z"))
    done = replay(labelled_pool(qrels, runs, depth=4), STRATEGIES["mtf-global"])
    # Four of eight judgments go to the easy query: all of it, and nothing of the hard one.
    assert done.recall_at(0.5) == 0.5
    assert done.effort(1.0) == pytest.approx((4 / 8 + 8 / 8) / 2)


@pytest.mark.parametrize(
    ("option", "value"), [("noise", 0.5), ("noise", -0.1), ("noise", float("nan")), ("batch", 0)]
)
def test_options_out_of_range_are_refused(option: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"The {option} is"):
        replay(one_list("ab", "a"), STRATEGIES["rrf"], **{option: value})


# Side by side


def test_recall_so_far_is_held_against_that_of_all_labels() -> None:
    runs = runs_of(q=["ab", "cd"])
    pool = labelled_pool(qrels_of(q={"a": 1, "b": 1, "c": 1, "d": 0}), runs, depth=2)
    outcome = simulate(pool, ["depth"], budgets=[0.25, 1.0]).outcomes["depth"]
    # The first document is c: the runs have 0 and 1 so far, 2/3 and 1/3 in truth.
    assert outcome.recall_error == {0.25: pytest.approx(2 / 3), 1.0: 0.0}
    assert outcome.tau == {0.25: pytest.approx(-1), 1.0: pytest.approx(1)}
    assert outcome.estimated_recall_error == {0.25: None, 1.0: None}


def test_samples_estimate_recall_better_than_their_labels_alone() -> None:
    pool = random_pool_with_labels(6)
    outcomes = simulate(pool, ["sampling", "hybrid"], budgets=[0.5, 1.0], seeds=20).outcomes
    for outcome in outcomes.values():
        assert outcome.estimated_recall_error[1.0] == pytest.approx(0, abs=1e-12)
        assert outcome.estimated_recall_error[0.5] is not None
    hybrid = outcomes["hybrid"]
    assert (hybrid.spread[0.5] or 0) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budgets": [0.0]}, "A budget is 0"),
        ({"budgets": [1.5]}, "A budget is 1.5"),
        ({"seeds": 0}, "number of seeds"),
        ({"k": 99}, "K is 99; it must lie between 1 and the depth of the pool, 50"),
    ],
)
def test_a_simulation_refuses_values_out_of_range(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(one_list("ab", "a"), ["rrf"], **options)  # type: ignore[arg-type]


@cache
def reference(name: str) -> Simulation:
    """The strategies that matter on a real collection, depth 50."""
    paths = sorted((DATA / name / "runs").iterdir())
    runs = {name_of(path): read_run(path).frame for path in paths}
    pool = labelled_pool(read_qrels(DATA / name / "qrels.txt").frame, runs, depth=50)
    return simulate(pool, ["depth", "rrf", "maxmean", "learned"])


@pytest.mark.slow
@needs_data
@pytest.mark.data
def test_learned_and_maxmean_find_what_the_guide_says_on_covid() -> None:
    simulation = reference("covid-r3")
    found = {name: outcome.found[0.25] or 0 for name, outcome in simulation.outcomes.items()}
    assert simulation.pool.labelled == 8291
    assert found["maxmean"] >= 1.08 * found["rrf"]
    assert found["maxmean"] >= 1.2 * found["depth"]
    assert found["learned"] >= 1.12 * found["rrf"]


@needs_data
@pytest.mark.data
def test_learned_finds_more_than_the_others_on_deep_learning_2019() -> None:
    outcomes = reference("dl19").outcomes
    for other in ("depth", "rrf", "maxmean"):
        assert (outcomes["learned"].found[0.25] or 0) > (outcomes[other].found[0.25] or 0)
        assert (outcomes["learned"].effort[0.8] or 1) < (outcomes[other].effort[0.8] or 1)


def test_the_curve_is_what_was_found_at_each_share() -> None:
    done = replay(one_list("abcdefghij", "aceh"), STRATEGIES["rrf"])
    shares = (0.1, 0.25, 0.5, 1.0)
    assert done.curve(shares).tolist() == [done.recall_at(share) for share in shares]
    everywhere = replay(labelled_pool(*two_queries(), depth=9), STRATEGIES["mtf-global"])
    assert everywhere.curve(shares).tolist() == pytest.approx(
        [everywhere.recall_at(share) for share in shares]
    )


def two_queries() -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    runs = runs_of(q1=["abcdefgh", "badcfegh"], q2=["stuvwxyz", "zyxwvuts"])
    return qrels_of(q1=labels("abcdefgh", "ace"), q2=labels("stuvwxyz", "uz")), runs


def test_nobody_finds_more_than_who_knows_the_labels() -> None:
    pool = labelled_pool(*two_queries(), depth=9)
    best = all_knowing(pool)
    # Two of eight are a quarter: two of three, and both of two.
    assert best.recall_at(0.25) == pytest.approx((2 / 3 + 1) / 2)
    result = simulate(pool, ["depth", "learned", "sampling"], budgets=(0.25,))
    printed = result.to_dict()
    assert printed["all_knowing"]["found"] == {"0.25": best.recall_at(0.25)}
    for curve in printed["curves"]["found"].values():
        assert len(curve) == len(printed["curves"]["share"])
        assert all(np.array(curve) <= np.array(printed["curves"]["all_knowing"]) + 1e-12)
        assert curve[-1] == 1
