"""Falls beyond noise: at most the promised share of them where nothing changed, at every size of noise."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from evaluation.canaries.regressions import ValueChange, change_between, false_falls, is_fall, least_fall
from evaluation.measures.significance import queries_needed, randomisation_test


def changed(differences: list[float], *, confidence: float = 0.95, comparisons: int = 1) -> ValueChange:
    now = np.array(differences)
    before = np.zeros(len(now))
    return change_between(now, before, confidence=confidence, samples=10_000, seed=0, comparisons=comparisons)


@pytest.mark.parametrize("unchanged", [0, 12])
@pytest.mark.parametrize("sizes", [[1.0] * 7, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [1.0, 1.0, 1.0, 9.0]])
def test_of_all_signs_that_noise_can_have_no_more_are_falls_than_promised(
    sizes: list[float], unchanged: int
) -> None:
    patterns = [np.array(signs) * sizes / 10 for signs in product((-1, 1), repeat=len(sizes))]
    falls = sum(
        is_fall(found.high, found.p, 0.95) for found in (changed([*p, *[0.0] * unchanged]) for p in patterns)
    )
    assert falls <= false_falls(0.95) * len(patterns)


def test_so_few_queries_that_no_interval_is_shown_can_still_show_a_fall() -> None:
    # Nine queries that all fall: one of 512 equally likely patterns of signs.
    falls, mixed = changed([-0.25] * 9), changed([*[-0.25] * 3, *[0.25] * 3])

    assert (falls.high, falls.p) == (None, pytest.approx(1 / 512, abs=0.003))
    assert is_fall(falls.high, falls.p, 0.95)
    assert not is_fall(mixed.high, mixed.p, 0.95)


def test_the_test_of_falls_agrees_with_scipy_and_with_a_table() -> None:
    differences = np.random.default_rng(0).normal(-0.03, 0.1, 12)
    exact = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", alternative="less", n_resamples=np.inf
    )
    ours = randomisation_test(differences[:, None], permutations=100_000, falls_only=True)[0]
    assert ours == pytest.approx(exact.pvalue, abs=0.005)
    # Four of twenty queries fell: one pattern of sixteen. A rise is none.
    assert changed([-1.0] * 4 + [0.0] * 16).p == pytest.approx(1 / 16, abs=0.01)
    assert changed([1.0] * 4 + [0.0] * 16).p == 1.0


def test_a_fall_must_be_clearer_the_more_comparisons_there_are() -> None:
    seven = [-0.5] * 7 + [0.0] * 13  # once in 128
    found = {count: changed(seven, comparisons=count) for count in (1, 2, 4)}
    assert [is_fall(change.high, change.p, 0.95) for change in found.values()] == [True, True, False]
    # So small a level needs draws of its own.
    twenty = changed([-0.5] * 20, confidence=0.999, comparisons=38)
    assert is_fall(twenty.high, twenty.p, 0.999)


def test_of_very_many_queries_the_limit_decides() -> None:
    many = np.random.default_rng(0).normal(-0.01, 0.1, 20_000)
    assert changed([*many]).p == pytest.approx(stats.norm.cdf(many.sum() / np.sqrt((many**2).sum())))
    assert changed([0.0] * 20_000).p == 1.0


def test_where_nothing_counts_nothing_is_said() -> None:
    assert changed([np.nan, np.nan]) == ValueChange(None, None, None, None, None)
    one = changed([-1.0, np.nan])
    assert (one.difference, one.high) == (-1.0, None)
    assert not is_fall(one.high, one.p, 0.95)


def test_the_least_fall_is_what_so_many_queries_are_needed_for() -> None:
    found = least_fall(81, 0.16, 1, confidence=0.95, comparisons=1).difference
    assert found is not None
    assert queries_needed(0.16, found) in (81, 82)
    assert least_fall(5, 0.16, 1, confidence=0.95, comparisons=1).difference is None
    assert least_fall(6, 1.0, 1, confidence=0.95, comparisons=1).difference is None  # it would be above 1
