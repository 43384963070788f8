"""Intervals over queries: known answers, their limits, and that they can be repeated."""

import numpy as np
import pytest
from scipy import stats

from evaluation import evaluate
from evaluation.significance import (
    LARGEST_RESAMPLED,
    bca_intervals,
    difference_intervals,
    mean_intervals,
    paired_differences,
)


def test_the_interval_agrees_with_scipys_percentile_bootstrap() -> None:
    values = np.random.default_rng(1).random(40)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval

    low, high = mean_intervals(values[:, None])

    assert low[0] == pytest.approx(expected.low, abs=0.01)
    assert high[0] == pytest.approx(expected.high, abs=0.01)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    values = np.random.default_rng(1).random((30, 2))

    first, again, other = (mean_intervals(values, samples=500, seed=seed)[0] for seed in (7, 7, 8))

    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_columns_see_the_same_resamples() -> None:
    values = np.random.default_rng(1).random((30, 1))

    low, high = mean_intervals(np.hstack([values, values, 1 - values]), samples=500)

    assert low[0] == low[1]
    assert low[2] == pytest.approx(1 - high[0], abs=0.01)


def test_a_query_that_does_not_count_is_as_if_it_were_not_there() -> None:
    values = np.array([[0.2], [0.8], [0.5], [np.nan]])

    low, high = mean_intervals(values, samples=4_000)

    assert 0.2 <= low[0] < 0.5 < high[0] <= 0.8


@pytest.mark.parametrize("values", [[], [0.5], [0.5, np.nan], [np.nan, np.nan]])
def test_fewer_than_two_queries_have_no_interval(values: list[float]) -> None:
    low, high = mean_intervals(np.array(values).reshape(-1, 1), samples=100)

    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_many_queries_take_the_normal_limit_which_the_bootstrap_tends_to() -> None:
    values = np.random.default_rng(1).random((LARGEST_RESAMPLED + 1, 1))

    limit = mean_intervals(values)
    drawn = mean_intervals(values[:-1], samples=2_000)

    assert np.allclose(limit, drawn, atol=0.001)


def test_an_interval_never_leaves_0_to_1() -> None:
    values = np.zeros((LARGEST_RESAMPLED + 1, 2))
    values[0, 0], values[1:, 1] = 1, 1

    low, high = mean_intervals(values)

    assert low.min() >= 0
    assert high.max() <= 1


def test_an_evaluation_says_how_its_intervals_were_made() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}

    settings = evaluate(qrels, {"run": {"q1": {"a": 1.0}}}, k=1, bootstrap_samples=300, seed=5).to_dict()

    assert settings["conventions"]["interval"] == {
        "level": 0.95,
        "method": "percentile bootstrap over queries",
        "resampled": True,
        "samples": 300,
        "seed": 5,
    }


def test_bca_agrees_with_scipys_where_the_values_lean_to_one_side() -> None:
    values = np.random.default_rng(3).beta(0.5, 3, 30)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(4)
    ).confidence_interval
    percentile = mean_intervals(values[:, None], samples=20_000)[1][0]

    low, high = bca_intervals(values[:, None], samples=20_000)

    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=0.003)
    assert high[0] > percentile + 0.003  # the correction is not nothing here


def test_bca_leaves_out_what_does_not_count_and_knows_equal_values() -> None:
    values = np.array([[0.2, 0.5, np.nan], [0.8, 0.5, 1.0], [0.4, 0.5, np.nan], [np.nan, 0.5, np.nan]])

    low, high = bca_intervals(values, samples=1_000)

    assert 0.2 <= low[0] < 0.47 < high[0] <= 0.8
    assert (low[1], high[1]) == (0.5, 0.5)
    assert np.isnan([low[2], high[2]]).all()


def test_the_interval_of_a_difference_pairs_the_queries() -> None:
    # Two runs that differ by 0.1 on every query, however hard it is: no choice of queries changes that.
    hard = np.random.default_rng(5).random(20)

    low, high = difference_intervals(paired_differences(np.stack([hard + 0.1, hard], axis=1), [(0, 1)]))

    assert (low[0], high[0]) == pytest.approx((0.1, 0.1))
