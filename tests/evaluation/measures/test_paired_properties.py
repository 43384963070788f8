"""Paired tests, corrections and power for any differences: patterns counted, SciPy, statsmodels."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower

from evaluation.measures.significance import (
    adjusted,
    effect_sizes,
    least_difference,
    power_line,
    queries_needed,
    randomisation_test,
    t_test,
)

# Tenths: sums of them tie as the differences of measures over few documents do.
tenths = st.lists(st.integers(-10, 10), min_size=1, max_size=7).map(lambda some: np.array(some) / 10)
# Two to twelve queries of which some do not count for both runs.
partly = st.lists(st.none() | st.integers(-100, 100), min_size=2, max_size=12).map(
    lambda some: np.array([np.nan if one is None else one / 100 for one in some])
)
chances = st.lists(st.integers(0, 100).map(lambda share: share / 100), min_size=1, max_size=6)
PERMUTATIONS = 2_000


def one_p(test: Any, values: Any, **options: Any) -> float:
    return float(test(values[:, None], **options)[0])


def share_of_patterns(values: Any, *, falls_only: bool) -> float:
    """The share of all sign patterns whose sum is as far from 0 as the one seen, or as low."""
    whole = np.round(values * 10).astype(int)
    sums = [int(np.dot(signs, whole)) for signs in product((-1, 1), repeat=len(whole))]
    seen = int(whole.sum())
    reached = [total <= seen if falls_only else abs(total) >= abs(seen) for total in sums]
    return sum(reached) / len(reached)


@settings(max_examples=25)
@given(values=tenths, falls_only=st.booleans(), seed=st.integers(0, 1_000))
def test_p_is_the_share_of_all_sign_patterns(values: Any, falls_only: bool, seed: int) -> None:
    share = share_of_patterns(values, falls_only=falls_only)

    p = one_p(randomisation_test, values, permutations=PERMUTATIONS, seed=seed, falls_only=falls_only)

    error = np.sqrt(share * (1 - share) / PERMUTATIONS)
    assert p == pytest.approx((1 + PERMUTATIONS * share) / (1 + PERMUTATIONS), abs=6 * error + 1e-12)


@settings(max_examples=20)
@given(values=partly)
def test_a_fall_and_the_rise_that_mirrors_it_share_out_the_patterns(values: Any) -> None:
    if np.isnan(values).all():
        return
    fall, rise = (
        one_p(randomisation_test, side, permutations=99, falls_only=True) for side in (values, -values)
    )

    # Each pattern counts for one of the two, and what was seen counts for both.
    assert fall + rise >= 1 + 1 / 100 - 1e-12
    assert min(fall, rise) >= 1 / 100


@settings(max_examples=20)
@given(values=tenths, factor=st.sampled_from([0.25, 0.5, 4.0]))
def test_the_unit_of_a_measure_changes_neither_p_nor_effect(values: Any, factor: float) -> None:
    for test in (randomisation_test, t_test, effect_sizes):
        assert one_p(test, values * factor) == pytest.approx(one_p(test, values), nan_ok=True)


@settings(max_examples=20)
@given(values=partly, others=partly)
def test_t_and_effect_are_those_of_scipy_without_the_queries_that_do_not_count(
    values: Any, others: Any
) -> None:
    size = min(len(values), len(others))
    table = np.column_stack([values[:size], others[:size]])

    for p, effect, column in zip(t_test(table), effect_sizes(table), table.T, strict=True):
        counted = column[~np.isnan(column)]
        if len(counted) < 2:
            assert np.isnan([p, effect]).all()
        elif np.ptp(counted) > 0:
            found = stats.ttest_1samp(counted, 0)
            assert p == pytest.approx(found.pvalue)
            assert effect * np.sqrt(len(counted)) == pytest.approx(found.statistic)
        else:
            assert np.isnan(effect)
            assert p == (0 if counted[0] else 1)


@settings(max_examples=20)
@given(values=partly, others=partly)
def test_the_order_of_queries_and_of_pairs_is_no_evidence(values: Any, others: Any) -> None:
    size = min(len(values), len(others))
    table = np.column_stack([values[:size], others[:size], np.linspace(0, 1, size)])
    differences = table[:, [0, 2, 1]] - table[:, [1, 1, 0]]

    assert np.array_equal(differences[:, 0], -differences[:, 2], equal_nan=True)
    for test in (t_test, effect_sizes):
        forward, turned = test(differences), test(differences[::-1, ::-1])
        assert turned[::-1] == pytest.approx(forward, nan_ok=True)


@settings(max_examples=20)
@given(values=tenths, more=st.integers(0, 10))
def test_a_lead_that_grows_on_every_query_alike_is_no_less_significant(values: Any, more: int) -> None:
    values = (
        np.abs(values.sum()) / len(values) + values - values.mean()
    )  # the same spread, a mean of at least 0
    ahead = values + more / 10

    assert one_p(t_test, ahead) <= one_p(t_test, values) + 1e-9 or len(values) < 2
    assert one_p(randomisation_test, ahead, permutations=64) <= one_p(
        randomisation_test, values, permutations=64
    )


def by_closed_testing(values: list[float]) -> list[float]:
    """Holm's adjustment by what it stands for: each comparison in every set of comparisons, by Bonferroni."""
    sets = [some for size in range(1, len(values) + 1) for some in combinations(range(len(values)), size)]
    return [
        max(min(1.0, len(some) * min(values[at] for at in some)) for some in sets if here in some)
        for here in range(len(values))
    ]


@settings(max_examples=20)
@given(values=chances, missing=st.integers(0, 2))
def test_corrections_are_those_of_their_definitions(values: list[float], missing: int) -> None:
    expected = {
        "holm": by_closed_testing(values),
        "benjamini-hochberg": multipletests(values, method="fdr_bh")[1],
    }

    for method, by_definition in expected.items():
        found = adjusted([*values, *[np.nan] * missing], method)
        assert found[: len(values)] == pytest.approx(by_definition)
        assert np.isnan(found[len(values) :]).all()


@settings(max_examples=20)
@given(values=chances, data=st.data())
def test_a_correction_does_not_depend_on_the_order_of_pairs(values: list[float], data: st.DataObject) -> None:
    order = np.array(data.draw(st.permutations(range(len(values)))))

    for method in ("holm", "benjamini-hochberg", "none"):
        assert adjusted(np.array(values)[order], method).tolist() == pytest.approx(
            adjusted(values, method)[order].tolist()
        )


def test_a_correction_leaves_what_it_was_given_as_it_was() -> None:
    given_values = np.array([0.04, 0.01])

    for method in ("holm", "benjamini-hochberg", "none"):
        adjusted(given_values, method)[:] = 0
        assert given_values.tolist() == [0.04, 0.01]


@settings(max_examples=25)
@given(
    deviation=st.integers(1, 60).map(lambda one: one / 100),
    difference=st.integers(1, 20).map(lambda one: one / 100),
    power=st.sampled_from([0.5, 0.8, 0.95]),
    level=st.sampled_from([0.01, 0.05, 0.1]),
)
def test_the_queries_needed_are_the_fewest_that_reach_the_power(
    deviation: float, difference: float, power: float, level: float
) -> None:
    needed = queries_needed(deviation, difference, power=power, level=level)

    assert least_difference(deviation, needed, power=power, level=level) <= difference + 1e-12
    if needed > 2:
        assert least_difference(deviation, needed - 1, power=power, level=level) > difference
        # ratio 0: one sample, as paired differences are. It counts a find in the wrong direction too.
        reached = [
            NormalIndPower(ddof=0).power(difference / deviation, some, level, ratio=0)
            for some in (needed - 1, needed)
        ]
        assert reached[1] >= power - 1e-9
        assert reached[0] < power + level / 2


@pytest.mark.parametrize(
    ("deviation", "queries", "options", "difference"),
    [
        (0.2, 100, {}, 0.056032),  # (1.959964 + 0.841621) · 0.2 / 10
        (0.2, 400, {}, 0.028016),  # four times the queries see half of it
        (0.4, 100, {}, 0.112063),
        (0.2, 100, {"power": 0.5}, 0.039199),  # z(0.5) is 0: 1.959964 · 0.02
        (0.2, 100, {"level": 0.01}, 0.068349),  # (2.575829 + 0.841621) · 0.02
        (0.0, 100, {}, 0.0),
    ],
)
def test_the_difference_that_can_be_seen_by_hand(
    deviation: float, queries: int, options: dict[str, float], difference: float
) -> None:
    assert least_difference(deviation, queries, **options) == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize(
    ("deviation", "difference", "options"),
    [(0.1, -0.05, {}), (-0.1, 0.05, {}), (0.1, 0.05, {"power": 1}), (0.1, 0.05, {"level": 0})],
)
def test_power_of_what_cannot_be_is_refused(
    deviation: float, difference: float, options: dict[str, float]
) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        queries_needed(deviation, difference, **options)


def test_the_power_line_names_its_own_power_and_separates_thousands() -> None:
    # By Student's quantiles of 1,233: (1.961892 + 1.282269)² · (0.4 / 0.01)² = 16,839.
    assert power_line(0.4, 1_234, 0.01, power=0.9) == (
        "90 % power for a difference of 0.01 needs about 16,839 queries; there are 1,234."
    )
