"""The interval of any values: it holds that of Student's t, widens with its level, and has no unit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.measures.intervals import (
    FEWEST_QUERIES,
    LARGEST_RESAMPLED,
    difference_intervals,
    interval_settings,
    mean_intervals,
)

# Beyond 1, so that no limit is cut at 0 or 1.
counts = st.lists(st.integers(2, 20), min_size=10, max_size=14).map(lambda some: np.array(some, dtype=float))
levels = st.sampled_from([0.5, 0.8, 0.95, 0.99])


def interval(values: Any, **options: Any) -> tuple[float, float]:
    low, high = mean_intervals(values[:, None], samples=60, **options)
    return float(low[0]), float(high[0])


def students_t(values: Any, weights: Any, level: float) -> tuple[float, float]:
    """Σwx / Σw and its linearised standard error, times √(n / (n - 1)), on n - 1 degrees of freedom."""
    n, mean = len(values), np.average(values, weights=weights)
    error = np.sqrt(np.sum((weights * (values - mean)) ** 2)) / weights.sum() * np.sqrt(n / (n - 1))
    reach = stats.t.ppf((1 + level) / 2, n - 1) * error
    return mean - reach, mean + reach


@settings(max_examples=25)
@given(values=counts, level=levels, weighted=st.booleans())
def test_an_interval_is_never_narrower_than_students_t(values: Any, level: float, weighted: bool) -> None:
    weights = np.arange(1.0, len(values) + 1) if weighted else np.ones(len(values))
    least = students_t(values, weights, level)

    low, high = interval(values, level=level, weights=weights if weighted else None)

    assert low <= least[0] + 1e-9
    assert high >= least[1] - 1e-9
    if not weighted and np.ptp(values) > 0:
        theirs = stats.t.interval(level, len(values) - 1, values.mean(), stats.sem(values))
        assert least == pytest.approx(theirs)


@settings(max_examples=25)
@given(values=counts, shift=st.integers(-50, 50), factor=st.sampled_from([0.5, 3.0]), weighted=st.booleans())
def test_an_interval_moves_and_stretches_with_its_values(
    values: Any, shift: int, factor: float, weighted: bool
) -> None:
    weights = np.arange(1.0, len(values) + 1) if weighted else None
    far = values + 20  # beyond 1 after the change as well
    low, high = interval(far, weights=weights)

    assert interval(far * factor, weights=weights) == pytest.approx((low * factor, high * factor))
    assert interval(far + 100 + shift, weights=weights) == pytest.approx(
        (low + 100 + shift, high + 100 + shift)
    )
    if weights is not None:
        assert interval(far, weights=weights * 8) == pytest.approx((low, high))
        assert interval(far, weights=weights[:, None]) == (low, high)


@settings(max_examples=20)
@given(values=counts)
def test_a_higher_level_holds_all_that_a_lower_one_holds(values: Any) -> None:
    spans = [interval(values, level=level) for level in (0.5, 0.8, 0.95, 0.99)]

    for (low, high), (lower, higher) in pairwise(spans):
        assert lower <= low + 1e-12
        assert higher >= high - 1e-12


def test_one_query_of_half_the_weight_leaves_as_wide_an_interval_as_few_queries() -> None:
    # Nine queries of weight 1, of which one missed all, and one of 9: worth 18² / (81 + 9) = 3.6 queries, so
    # two degrees of freedom. The variance without weights is 10/9 · 0.9 · 0.1 = 0.1, with them less.
    values, weights = np.array([0.0, *[1.0] * 9]), np.array([*[1.0] * 9, 9.0])
    reach = stats.t.ppf(0.975, 2) * np.sqrt(0.1 / 3.6)

    assert interval(values, weights=weights) == (pytest.approx(17 / 18 - reach), 1.0)


@settings(max_examples=20)
@given(data=st.data())
def test_a_column_has_the_interval_that_it_has_alone(data: st.DataObject) -> None:
    size = data.draw(st.integers(10, 16))
    cell = st.none() | st.integers(-9, 9)
    columns = data.draw(st.lists(st.lists(cell, min_size=size, max_size=size), min_size=2, max_size=4))
    table = np.array(columns, dtype=float).T
    weights = np.arange(1.0, size + 1) if data.draw(st.booleans()) else None
    together = mean_intervals(table, samples=60, weights=weights)

    for at in range(table.shape[1]):
        alone = interval(table[:, at], weights=weights)
        assert (together[0][at], together[1][at]) == pytest.approx(alone, nan_ok=True)
        if np.count_nonzero(~np.isnan(table[:, at])) < FEWEST_QUERIES:
            assert np.isnan(alone).all()


def test_columns_beyond_the_first_thousand_are_no_worse_off() -> None:
    table = np.tile(np.arange(10.0)[:, None], 1_002)
    table[:, 1_000] = 3.0

    low, high = mean_intervals(table, samples=20)

    assert (low[1_000], high[1_000]) == (3.0, 3.0)
    assert len({*low[:1_000], low[1_001]}) == 1
    assert low[0] < 4.5 < high[0]


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_limit_of_many_weighted_queries_by_hand(level: float) -> None:
    # Half of the weight at 2 and half at 4, in one query of three and two of three: the mean is 3, and
    # each residual w(x - 3) is ±2 or ±1. So Σ(w(x - 3))² = n/3 · 4 + 2n/3 · 1 = 2n, and Σw = 4n/3.
    n = 3 * (LARGEST_RESAMPLED // 3 + 1)
    values, weights = np.tile([2.0, 4.0, 4.0], n // 3), np.tile([2.0, 1.0, 1.0], n // 3)
    reach = stats.norm.ppf((1 + level) / 2) * np.sqrt(2 * n) / (4 * n / 3)

    # As many queries of equal weight reach as far, by Student's t.
    assert interval(values, level=level, weights=weights) == pytest.approx((3 - reach, 3 + reach), rel=1e-5)
    beside = np.concatenate([values, np.full(7, np.nan)])
    assert interval(beside, level=level, weights=np.concatenate([weights, np.ones(7)])) == pytest.approx(
        (3 - reach, 3 + reach), rel=1e-5
    )


@settings(max_examples=20)
@given(values=st.lists(st.integers(-10, 10), min_size=10, max_size=14))
def test_the_interval_of_differences_stays_within_what_is_possible(values: list[int]) -> None:
    differences = np.array(values)[:, None] / 10

    (low,), (high,) = difference_intervals(differences, samples=60)

    assert -1 <= low <= differences.mean() + 1e-12
    assert differences.mean() - 1e-12 <= high <= 1
    # The same numbers as values of their own: not cut at -1, since they are not within 0 to 1.
    wide_low, wide_high = interval(differences[:, 0])
    if min(values) < 0:
        assert (low, high) == pytest.approx((max(wide_low, -1), min(wide_high, 1)))


def test_one_rare_gain_among_many_queries_has_a_limit() -> None:
    # Resamples that miss the one query, or draw nothing else, have no spread of their own.
    differences = np.zeros((30, 1))
    differences[3] = 1.0

    (low,), (high,) = difference_intervals(differences)

    assert -1 < low < 0 < 1 / 30 < high < 1


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_confidence_that_is_no_share_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match=f"A confidence of {level:g} makes no interval"):
        interval_settings(50, 100, 0, level)


@pytest.mark.parametrize(
    ("queries", "method", "resampled"),
    [
        (FEWEST_QUERIES - 1, "not shown", False),
        (FEWEST_QUERIES, "the wider of", True),
        (LARGEST_RESAMPLED, "the wider of", True),
        (LARGEST_RESAMPLED + 1, "normal limit", False),
    ],
)
def test_the_method_changes_where_the_intervals_do(queries: int, method: str, resampled: bool) -> None:
    said = interval_settings(queries, 20, 0)
    (low,), _ = mean_intervals(np.linspace(0, 1, queries)[:, None], samples=20, seed=1)
    (other,), _ = mean_intervals(np.linspace(0, 1, queries)[:, None], samples=20, seed=2)

    assert said["method"].startswith(method)
    assert said["resampled"] == resampled
    assert np.isnan(low) == (queries < FEWEST_QUERIES)
    assert resampled or low == other or np.isnan(low)
