"""A score per document as what strategies start from."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.bench_prior import found, judged_pool, scores_with
from evaluation.plans.replaying import with_prior_scores
from pooling.strategies import STRATEGIES, Candidates
from pooling.strategies.learned import Learned
from pooling.strategies.prior import with_prior, with_priors
from tests.pooling.pools_at_random import pool_of, random_pool, runs_of
from tests.testdata import needs_data

#: Orders that count a run only where it found something.
BY_FINDS = ["depth", "rrf", "hedge", "maxmean", "rbp-adaptive", "posterior-rrf", "learned"]


def order_of(candidates: dict[str, Candidates], strategy: str, query: str = "q") -> list[str]:
    return STRATEGIES[strategy].start(candidates).next(query, 1_000)


def priors(**scores: float) -> pl.DataFrame:
    rows = [("q", name, float(score)) for name, score in scores.items()]
    schema = {"query_id": pl.String, "document_id": pl.String, "score": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_a_score_is_fused_as_so_many_more_runs() -> None:
    pool = pool_of(runs_of(q=["abcd", "abdc"]))
    found_by = with_priors(pool, priors(d=0.9, a=0.2), votes=3)["q"]
    assert (found_by.runs, found_by.depth) == (5, 4)
    # d: 1/64 + 1/63 + 3/61; a: 2/61 + 3/62; b: 2/62; c: 1/63 + 1/64.
    assert dict(zip(found_by.documents, found_by.rrf, strict=True)) == pytest.approx(
        {"a": 2 / 61 + 3 / 62, "d": 1 / 64 + 1 / 63 + 3 / 61, "b": 2 / 62, "c": 1 / 63 + 1 / 64}
    )
    assert found_by.documents == ["a", "d", "b", "c"]
    assert [found_by.finders(number).tolist() for number in range(4)] == [
        [0, 1, 2, 3, 4],
        [2, 3, 4, 1, 0],
        [0, 1],
        [0, 1],
    ]
    assert found_by.rank[found_by.starts[1] : found_by.starts[2]].tolist() == [1, 1, 1, 3, 4]


def test_by_default_a_score_counts_as_half_of_the_runs() -> None:
    pool = pool_of(runs_of(q=["ab", "ba", "ab"]))
    assert with_priors(pool, priors(a=1.0))["q"].runs == 3 + 2


def test_equal_scores_stay_in_the_order_of_the_runs() -> None:
    pool = pool_of(runs_of(q=["abcdef"]))
    verdicts = with_priors(pool, priors(a=0, b=1, c=0, d=1, e=0, f=1), votes=1000)
    assert order_of(verdicts, "rrf") == list("bdface")


@pytest.mark.parametrize("strategy", [name for name, kind in STRATEGIES.items() if kind.make.learns])
def test_every_order_of_an_adaptive_queue_takes_a_score_up(strategy: str) -> None:
    pool = pool_of(runs_of(q=["abcdef", "bacdfe"]))
    told = with_priors(pool, priors(f=6, e=5, d=4, c=3, b=2, a=1), votes=4)["q"]
    greedy = STRATEGIES[strategy].greedy
    before, after = (greedy({"q": one}).next("q", 6) for one in (pool["q"], told))
    assert after.index("f") < before.index("f")


@pytest.mark.parametrize("strategy", BY_FINDS)
def test_without_a_score_nothing_changes(strategy: str) -> None:
    pool = random_pool(7)
    same = with_priors(pool, priors(), votes=2)
    for query in pool:
        assert order_of(same, strategy, query) == order_of(pool, strategy, query)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_every_strategy_takes_each_document_once_whatever_the_scores(strategy: str, seed: int) -> None:
    pool, rng = random_pool(seed), np.random.default_rng(seed)
    some = {
        name: float(rng.normal()) for one in pool.values() for name in one.documents if rng.random() < 0.6
    }
    told = {query: with_prior(one, some, votes=2) for query, one in pool.items()}
    for query, one in pool.items():
        assert sorted(told[query].documents) == sorted(one.documents)
        assert sorted(order_of(told, strategy, query)) == sorted(one.documents)


def test_labels_of_other_queries_tell_what_a_score_is_worth() -> None:
    """The score is a shuffle of what the run says, with as much weight; labels side with the run."""
    letters, rng = "abcdefghijklmnopqrstuvwxyz", np.random.default_rng(1)
    pool = pool_of(runs_of(**{f"q{number}": [letters] for number in range(40)}))
    told = {
        query: with_prior(one, dict(zip(letters, rng.permutation(26).tolist(), strict=True)), votes=1)
        for query, one in pool.items()
    }
    strategy = Learned(told)
    run, score = strategy.shared_weights()
    assert run == score
    for query in pool:
        for name in letters[:10] + letters[-10:]:
            strategy.tell(query, name, name in letters[:10])
    run, score = strategy.shared_weights()
    assert run > 1.3 * score


@pytest.mark.parametrize(
    ("frame", "votes", "message"),
    [
        (priors(a=float("nan")), 1, "not a finite number"),
        (pl.concat([priors(a=1.0), priors(a=2.0)]), 1, "two prior scores"),
        (priors(a=1.0), 0, "needs 1 or more votes"),
    ],
)
def test_priors_that_cannot_be_are_refused(frame: pl.DataFrame, votes: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_priors(pool_of(runs_of(q=["ab"])), frame, votes=votes)


@pytest.mark.data
@needs_data
def test_a_fair_score_finds_more_and_a_worthless_one_costs_little() -> None:
    pool = judged_pool("dl19")
    before = found(pool, "learned")[1]
    fair, worthless = (with_prior_scores(pool, scores_with(pool, auc)) for auc in (0.75, 0.5))
    assert found(fair, "learned")[1] > 1.05 * before
    assert found(worthless, "learned")[1] > 0.97 * before
