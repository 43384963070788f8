"""Paired tests, corrections, effect sizes and power: tables by hand, SciPy, and what must always hold."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from evaluation.measures.significance import (
    adjusted,
    effect_sizes,
    power_line,
    queries_needed,
    randomisation_test,
    t_test,
)

p_values = arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1))
shares = st.floats(-1, 1).map(lambda value: round(value, 3))
columns = arrays(np.float64, st.tuples(st.integers(2, 12), st.just(1)), elements=shares)


def column(*values: float) -> Any:
    return np.array(values)[:, None]


@pytest.mark.parametrize(
    ("differences", "share"),
    [
        ((0.0, 0.0, 0.0), 1.0),  # all sign patterns give the same sum
        ((0.1, 0.2, 0.3), 2 / 8),  # only all of one sign reach a sum of 0.6
        ((0.1, 0.1, -0.1), 1.0),  # 0.1 is the least any pattern gives
        ((0.5, 0.1, 0.1, 0.1), 2 / 16),
        ((0.3, 0.3, 0.3, -0.3), 10 / 16),  # 2 of 16 patterns reach 4 · 0.3, and 8 more 2 · 0.3
        ((0.1, 0.2, 0.3, np.nan), 2 / 8),
    ],
)
def test_the_randomisation_test_counts_sign_patterns(differences: tuple[float, ...], share: float) -> None:
    p = randomisation_test(column(*differences), permutations=9_999)[0]

    assert p == pytest.approx((1 + 9_999 * share) / 10_000, abs=0.02)


def test_no_difference_that_luck_could_not_make_has_a_p_of_0() -> None:
    assert randomisation_test(np.full((60, 1), 0.1), permutations=99)[0] == 1 / 100


def test_the_randomisation_test_agrees_with_scipys() -> None:
    random = np.random.default_rng(1)
    differences = random.normal(0.05, 0.2, (40, 3))
    expected = [
        stats.permutation_test(
            (values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(2)
        ).pvalue
        for values in differences.T
    ]

    assert randomisation_test(differences, permutations=20_000) == pytest.approx(expected, abs=0.015)


def test_the_same_seed_gives_the_same_p_and_pairs_are_tested_as_if_alone() -> None:
    differences = np.random.default_rng(1).normal(0.05, 0.2, (30, 4))

    together = randomisation_test(differences, permutations=500, seed=3)

    alone = [randomisation_test(differences[:, [at]], permutations=500, seed=3)[0] for at in range(4)]
    assert together.tolist() == alone
    assert together.tolist() != randomisation_test(differences, permutations=500, seed=4).tolist()


@given(differences=columns)
def test_a_p_value_does_not_depend_on_which_run_is_named_first(differences: Any) -> None:
    for test in (randomisation_test, t_test):
        assert test(differences)[0] == pytest.approx(test(-differences)[0])
    assert 0 < randomisation_test(differences, permutations=200)[0] <= 1


def test_the_t_test_agrees_with_scipys() -> None:
    values = np.random.default_rng(1).random((25, 2))

    p = t_test(values[:, [0]] - values[:, [1]])

    assert p[0] == pytest.approx(stats.ttest_rel(values[:, 0], values[:, 1]).pvalue)


def test_the_t_test_and_the_effect_without_a_spread() -> None:
    differences = np.array([[0.1, 0.0, 0.5], [0.1, 0.0, np.nan], [0.1, 0.0, np.nan]])

    assert t_test(differences).tolist()[:2] == [0.0, 1.0]
    assert np.isnan(t_test(differences)[2])
    assert np.isnan(effect_sizes(differences)).all()


def test_the_effect_is_the_mean_in_standard_deviations() -> None:
    # Mean 0.2, deviations -0.1, 0, 0.1: standard deviation 0.1.
    assert effect_sizes(column(0.1, 0.2, 0.3))[0] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("method", "given_values", "expected"),
    [
        # Ranked 0.01 0.02 0.03 0.5, times 4 3 2 1, never falling.
        ("holm", [0.03, 0.01, 0.5, 0.02], [0.06, 0.04, 0.5, 0.06]),
        ("holm", [0.6, 0.7], [1.0, 1.0]),
        # Times 4/1 4/2 4/3 4/4: 0.04 0.04 0.04 0.5.
        ("benjamini-hochberg", [0.03, 0.01, 0.5, 0.02], [0.04, 0.04, 0.5, 0.04]),
        ("none", [0.03, 0.01], [0.03, 0.01]),
        # What has no p-value is no comparison: two are corrected, not three.
        ("holm", [0.01, np.nan, 0.04], [0.02, np.nan, 0.04]),
        ("holm", [np.nan], [np.nan]),
        ("holm", [], []),
    ],
)
def test_corrections_by_hand(method: str, given_values: list[float], expected: list[float]) -> None:
    assert adjusted(given_values, method) == pytest.approx(expected, nan_ok=True)


@given(values=p_values)
def test_a_corrected_p_value_keeps_the_order_and_is_never_smaller(values: Any) -> None:
    holm, rate = adjusted(values, "holm"), adjusted(values, "benjamini-hochberg")

    assert (values <= rate + 1e-12).all()
    assert (rate <= holm + 1e-12).all()
    assert (holm <= np.minimum(values * len(values), 1) + 1e-12).all()
    assert (np.diff(holm[np.argsort(values)]) >= -1e-12).all()


def test_what_cannot_be_corrected_is_refused() -> None:
    with pytest.raises(ValueError, match="choose one of holm"):
        adjusted([0.1], "bonferroni")
    with pytest.raises(ValueError, match="outside 0 to 1"):
        adjusted([1.1])


def test_power_agrees_with_the_noncentral_t() -> None:
    # What the exact distribution gives at that number of queries is a little below the 80 % aimed at.
    needed = queries_needed(0.16, 0.05)
    shift = 0.05 / 0.16 * np.sqrt(needed)
    limit = stats.t.ppf(0.975, needed - 1)

    assert stats.nct.sf(limit, needed - 1, shift) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("deviation", "difference", "needed"), [(0.11, 0.05, 38), (0.16, 0.02, 503), (0, 0.05, 2)]
)
def test_the_queries_it_takes(deviation: float, difference: float, needed: int) -> None:
    assert queries_needed(deviation, difference) == needed
    # Below ten queries there is no interval.
    told = f"needs about {max(needed, 10):,} queries; there are 1,000,000."
    assert told in power_line(deviation, 1_000_000, difference)


@pytest.mark.parametrize("count", [5, 10, 20])
def test_the_power_by_the_spread_of_few_queries_is_near_what_is_named(count: int) -> None:
    random = np.random.default_rng(count)
    spreads = random.normal(0, 0.16, (count, 2_000)).std(axis=0, ddof=1)

    def power(measured: int | None) -> float:
        needed = np.array([queries_needed(one, 0.05, measured=measured) for one in spreads])
        limit = stats.t.ppf(0.975, needed - 1)
        return float(stats.nct.sf(limit, needed - 1, 0.05 / 0.16 * np.sqrt(needed)).mean())

    assert power(count) == pytest.approx(0.8, abs=0.05)
    assert power(None) < power(count)


def test_a_difference_of_nothing_needs_no_number() -> None:
    with pytest.raises(ValueError, match="above 0"):
        queries_needed(0.1, 0)
