"""Intervals over queries: known answers, their limits, and that they can be repeated."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation import evaluate
from evaluation.measures.hajek import effective_size
from evaluation.measures.intervals import (
    FEWEST_QUERIES,
    LARGEST_RESAMPLED,
    difference_intervals,
    mean_intervals,
)


def bootstrap_t(values: Any, level: float = 0.95) -> tuple[float, float]:
    """The bootstrap-t of a mean, one resample after the other."""
    random = np.random.default_rng(2)
    n, mean, error = len(values), values.mean(), values.std() / np.sqrt(len(values))
    drawn = []
    for _ in range(10_000):
        some = values[random.integers(0, n, n)]
        drawn.append((some.mean() - mean) / max(some.std() / np.sqrt(n), error / 3))
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return mean - high * error, mean - low * error


@pytest.mark.parametrize(("n", "level"), [(10, 0.95), (14, 0.8), (60, 0.95)])
def test_each_limit_is_the_further_one_of_students_t_and_the_bootstrap_t(n: int, level: float) -> None:
    values = np.random.default_rng(1).beta(0.4, 2, n) - 0.3  # lopsided, and not within 0 to 1
    by_t = stats.t.interval(level, n - 1, values.mean(), stats.sem(values))
    by_bootstrap = bootstrap_t(values, level)

    low, high = mean_intervals(values[:, None], level=level)

    assert low[0] == pytest.approx(min(by_t[0], by_bootstrap[0]), abs=0.01)
    assert high[0] == pytest.approx(max(by_t[1], by_bootstrap[1]), abs=0.01)
    assert by_t[1] < by_bootstrap[1] - 0.01 or n == 60  # the bootstrap-t is not idle here


def test_resamples_that_are_drawn_part_by_part_are_those_drawn_all_at_once() -> None:
    n, samples = 2_000, 5_000  # five parts, of which two are in memory
    values = np.random.default_rng(1).beta(0.4, 2, n) - 0.3
    error = values.std() / np.sqrt(n)
    drawn = values[np.random.default_rng(7).integers(0, n, (samples, n), dtype=np.int32)]
    t_values = (drawn.mean(axis=1) - values.mean()) / (drawn.std(axis=1) / np.sqrt(n))
    below, above = np.quantile(t_values, [0.025, 0.975])
    by_t = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))

    low, high = mean_intervals(values[:, None], samples=samples, seed=7)

    assert low[0] == pytest.approx(min(by_t[0], values.mean() - above * error), abs=1e-9)
    assert high[0] == pytest.approx(max(by_t[1], values.mean() - below * error), abs=1e-9)
    assert high[0] > by_t[1] + 1e-5


def test_the_interval_of_even_values_is_that_of_students_t() -> None:
    values = np.tile([0.0, 1.0], 10)
    expected = stats.t.interval(0.95, 19, 0.5, stats.sem(values))

    low, high = mean_intervals(values[:, None])

    assert (low[0], high[0]) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("n", [10, 25])
def test_intervals_of_few_lopsided_values_hold_their_mean_where_percentiles_do_not(n: int) -> None:
    # Most queries gain a little and some a lot; drawn with a seed.
    population = np.array([-4, -2, -1, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8, 10]) / 40
    drawn = population[np.random.default_rng(n).integers(0, 20, (n, 1_000))]
    made = stats.bootstrap((drawn,), np.mean, axis=0, n_resamples=500, method="percentile", rng=n)

    def held(low: Any, high: Any) -> float:
        return float(((low <= population.mean()) & (population.mean() <= high)).mean())

    assert held(*difference_intervals(drawn, samples=1_000)) >= 0.93
    assert held(made.confidence_interval.low, made.confidence_interval.high) < 0.93


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
    values = np.linspace(0.1, 0.9, 12)[:, None]

    alone = mean_intervals(values, samples=4_000)
    beside = mean_intervals(np.vstack([values, np.full((5, 1), np.nan)]), samples=4_000)

    assert np.allclose(alone, beside, atol=0.01)


@pytest.mark.parametrize("count", [0, 1, FEWEST_QUERIES - 1])
@pytest.mark.parametrize("beside", [0, 20])
def test_too_few_queries_have_no_interval(count: int, beside: int) -> None:
    values = np.concatenate([np.linspace(0, 1, count), np.full(beside, np.nan)])[:, None]
    low, high = mean_intervals(values, samples=100)

    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_many_queries_take_the_normal_limit_which_the_bootstrap_tends_to() -> None:
    values = np.random.default_rng(1).random((LARGEST_RESAMPLED + 1, 1))

    limit = mean_intervals(values)
    drawn = mean_intervals(values[:-1], samples=2_000)

    assert np.allclose(limit, drawn, atol=0.001)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.3, 1.0]), min_size=10, max_size=30), st.booleans())
def test_an_interval_holds_the_mean_and_stays_where_it_can_be(numbers: list[float], weighted: bool) -> None:
    values = np.array(numbers)[:, None]
    weights = np.arange(1.0, len(numbers) + 1) if weighted else None
    mean = np.average(numbers, weights=weights)

    low, high = mean_intervals(values, samples=50, weights=weights)

    assert 0 <= low[0] <= mean + 1e-12
    assert mean - 1e-12 <= high[0] <= 1
    if len(set(numbers)) == 1:
        worth = len(numbers) if weights is None else effective_size(weights)
        unlike = 1 - 0.025 ** (1 / worth) if mean in (0.0, 1.0) else 0.0
        assert (low[0], high[0]) == pytest.approx((mean - mean * unlike, mean + (1 - mean) * unlike))


@pytest.mark.parametrize("share", [0.02, 0.05])
@pytest.mark.parametrize("count", [12, 43])
def test_all_or_nothing_in_every_query_does_not_promise_it_of_others(share: float, count: int) -> None:
    """Of queries of which a small share finds nothing, a few often have none of these."""
    found = (np.random.default_rng(count).random((count, 400)) >= share).astype(np.float64)

    low, high = mean_intervals(found, samples=200)
    low_difference, high_difference = difference_intervals(found - 1, samples=200)

    assert np.mean(found.all(axis=0)) > 0.05
    assert np.mean((low <= 1 - share) & (1 - share <= high)) > 0.9
    assert np.mean((low_difference <= -share) & (-share <= high_difference)) > 0.9


@pytest.mark.parametrize("share", [0.1, 0.2])
@pytest.mark.parametrize("count", [10, 20, 30])
def test_one_or_two_queries_that_differ_do_not_tell_how_far_others_would(share: float, count: int) -> None:
    random = np.random.default_rng(count)
    missed = np.where(random.random((count, 500)) < share, random.random((count, 500)), 0.0)

    low, high = mean_intervals(1 - missed, samples=200)
    low_difference, high_difference = difference_intervals(missed, samples=200)

    assert np.mean((low <= 1 - share / 2) & (1 - share / 2 <= high)) > 0.95
    assert np.mean((low_difference <= share / 2) & (share / 2 <= high_difference)) > 0.95


def test_the_limit_of_one_query_that_differs_by_hand() -> None:
    (low,), (high,) = mean_intervals(np.array([[1.0] * 19 + [0.8]]).T)

    # One of twenty: up to .2487 differ (Clopper and Pearson), by the mean of .2 and 1.
    assert low == pytest.approx(1 - 0.2487 * (0.2 + 1) / 2, abs=1e-4)
    assert high == 1


def test_exchanging_two_runs_turns_the_students_side_of_a_difference_over() -> None:
    differences = np.tile([-0.2, 0.0, 0.3], 6)[:, None]

    (low,), (high,) = difference_intervals(differences, samples=4_000)
    (back_low,), (back_high,) = difference_intervals(-differences, samples=4_000)

    assert (low, high) == pytest.approx((-back_high, -back_low), abs=0.01)


def test_equal_weights_change_nothing() -> None:
    values = np.random.default_rng(1).beta(0.5, 2, (15, 3))

    assert np.allclose(mean_intervals(values), mean_intervals(values, weights=np.full(15, 7.0)))


def test_all_or_nothing_is_worth_as_many_queries_as_their_weights() -> None:
    low, high = mean_intervals(np.repeat([[1.0, 0.0]], 13, axis=0), weights=np.array([1.0] * 12 + [12.0]))

    unlike = 1 - 0.025 ** (156 / 24**2)
    assert np.allclose((low, high), [[1 - unlike, 0], [1, unlike]])


def test_an_interval_never_leaves_0_to_1() -> None:
    values = np.zeros((LARGEST_RESAMPLED + 1, 2))
    values[0, 0], values[1:, 1] = 1, 1

    low, high = mean_intervals(values)

    assert low.min() >= 0
    assert high.max() <= 1


def test_an_evaluation_says_how_its_intervals_were_made() -> None:
    def interval(queries: int) -> Any:
        qrels = {f"q{number}": {"a": 1} for number in range(queries)}
        found = evaluate(qrels, {"run": {"q1": {"a": 1.0}}}, k=1, bootstrap_samples=300, seed=5)
        return found.to_dict()["conventions"]["interval"]

    drawn = {"level": 0.95, "samples": 300, "seed": 5}
    wider = (
        "the wider of Student’s t and the bootstrap-t over queries (Clopper and Pearson’s where all queries "
        "but two at most have 0, or 1)"
    )
    assert interval(10) == {**drawn, "method": wider, "resampled": True}
    none = "not shown for fewer than 10 queries"
    assert interval(9) == {**drawn, "method": none, "resampled": False}


def test_the_interval_of_a_difference_pairs_the_queries() -> None:
    # Two runs that differ by 0.1 on every query, however hard it is: no choice of queries changes that.
    hard = np.random.default_rng(5).random(20)

    low, high = difference_intervals((hard + 0.1 - hard)[:, None])

    assert (low[0], high[0]) == pytest.approx((0.1, 0.1))
