"""Verification samples and audits by strata: SciPy's distribution, brute force, and tables by hand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.estimates.totals import estimated_total
from labeling.quality.sample_plans import (
    checked,
    cut_points,
    half_width_plan,
    neyman_allocation,
    strata_of,
    stratified_design,
    verification_design,
    zero_failure_plan,
)


def pairs(count: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "query_id": [f"q{at % 3}" for at in range(count)],
            "document_id": [f"d{at:03}" for at in range(count)],
        }
    )


# How many


@given(st.integers(1, 400), st.floats(0.005, 0.9), st.sampled_from([0.8, 0.95, 0.99]))
def test_a_clean_sample_of_the_planned_size_rules_more_failures_out_and_a_smaller_does_not(
    population: int, bound: float, confidence: float
) -> None:
    size = zero_failure_plan(population, bound, confidence).size
    failures = int(np.floor(round(bound * population, 9))) + 1
    if failures > population:
        assert size == 0
        return
    assert stats.hypergeom.pmf(0, population, failures, size) <= 1 - confidence + 1e-9
    assert stats.hypergeom.pmf(0, population, failures, size - 1) > 1 - confidence - 1e-9
    found = checked(population, size, 0, confidence)
    assert found.most is not None
    assert found.most < failures


def test_a_large_population_needs_what_an_endless_one_does() -> None:
    assert [zero_failure_plan(500, bound).size for bound in (0.05, 0.02, 0.01)] == [54, 119, 196]
    assert zero_failure_plan(10**7, 0.05).size == math.ceil(math.log(0.05) / math.log(0.95)) == 59


def test_half_widths_come_from_the_supposed_rate_and_the_population() -> None:
    sizes = [[half_width_plan(10**9, half, rate).size for rate in (0.1, 0.2, 0.3)] for half in (0.05, 0.03)]
    assert sizes == [[139, 246, 323], [385, 683, 897]]
    # 245.9 / (1 + 244.9/300).
    assert half_width_plan(300, 0.05, 0.2).size == 136
    assert half_width_plan(40, 0.01, 0.5).size == 40
    assert half_width_plan(0, 0.05).size == 0
    assert half_width_plan(10**6, 0.05, 0.0).size == half_width_plan(10**6, 0.05, 0.02).size > 0


def test_what_was_checked_bounds_what_was_not() -> None:
    found = checked(500, 54, 2)
    assert (found.least, checked(500, 0, 0).highest_rate) == (2, None)
    assert found.most is not None
    assert (
        stats.hypergeom.cdf(2, 500, found.most, 54) > 0.05 >= stats.hypergeom.cdf(2, 500, found.most + 1, 54)
    )
    assert found.highest_rate == found.most / 500


@pytest.mark.parametrize("population", [40, 200, 800])
@pytest.mark.parametrize("half_width", [0.05, 0.1, 0.3])
def test_a_sample_by_half_width_keeps_what_it_promises(population: int, half_width: float) -> None:
    """Of every sample that can be drawn: limits at most 1.1 times as wide, which hold in .95 or more."""
    size = half_width_plan(population, half_width).size
    intervals = np.array([checked(population, size, failed).interval for failed in range(size + 1)])
    assert np.diff(intervals).max() / 2 <= 1.1 * half_width
    for failing in range(0, population + 1, population // 20):
        chances = stats.hypergeom.pmf(np.arange(size + 1), population, failing, size)
        holds = (intervals[:, 0] - 1e-9 <= failing / population) & (
            failing / population <= intervals[:, 1] + 1e-9
        )
        assert chances[holds].sum() >= 0.95
    assert checked(population, population, 3).interval == (pytest.approx(3 / population), 3 / population)


def test_plans_say_what_they_promise() -> None:
    assert zero_failure_plan(20, 0.01).sentence() == "Check all 20."
    assert half_width_plan(10**6, 0.05, 0.2).sentence() == (
        "Check 246 of 1000000 at random: the failure rate is then known to about ±5 points at 95 %."
    )


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.1, float("nan")])
def test_a_bound_that_is_no_share_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="name a share"):
        zero_failure_plan(100, wrong)
    with pytest.raises(ValueError, match="name a share"):
        zero_failure_plan(100, 0.05, wrong)
    with pytest.raises(ValueError, match="supposed rate"):
        half_width_plan(100, 0.05, 1.5)


# Strata


def test_cuts_are_where_the_roots_of_the_frequencies_are_parted_equally() -> None:
    # Frequencies 16, 9, 4, 1, 1, 1: roots 4, 7, 9, 10, 11, 12; thirds at 4 and 8. Seven and nine are as near.
    scores = np.repeat([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], [16, 9, 4, 1, 1, 1])
    assert cut_points(scores, 3) == [0.1, 0.3]
    assert np.bincount(strata_of(scores, [0.1, 0.3])).tolist() == [16, 13, 3]


def test_few_values_are_strata_of_their_own() -> None:
    assert cut_points([0, 0, 1], 5) == [1.0]
    assert cut_points([0, 1 / 3, 2 / 3, 1] * 9, 4) == pytest.approx([1 / 3, 2 / 3, 1])
    assert cut_points([0.5] * 9, 3) == []
    assert strata_of([0, 1], [1.0]).tolist() == [0, 1]


def test_uniform_scores_are_cut_evenly_and_skewed_ones_finer_where_they_are_many() -> None:
    assert cut_points(np.linspace(0, 1, 10_001), 4) == pytest.approx([0.25, 0.5, 0.75], abs=0.011)
    skewed = np.random.default_rng(1).beta(0.5, 4, 5_000)
    first, second, third = cut_points(skewed, 4)
    assert first < second - first < third - second


@given(st.lists(st.floats(0, 1), min_size=1, max_size=300), st.integers(1, 8))
def test_no_stratum_is_empty(scores: list[float], strata: int) -> None:
    cuts = cut_points(scores, strata)
    assert cuts == sorted(set(cuts))
    sizes = np.bincount(strata_of(scores, cuts), minlength=len(cuts) + 1)
    assert len(sizes) <= strata
    assert sizes.min() > 0


def test_scores_that_cannot_be_cut_are_refused() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        cut_points([0.1, float("nan")], 2)
    with pytest.raises(ValueError, match="0 strata"):
        cut_points([0.1], 0)


# Allocation


def variance(sizes: np.ndarray, rates: np.ndarray, taken: np.ndarray) -> float:
    spread = np.clip(rates, 0.02, 0.98)
    return float((sizes**2 * spread * (1 - spread) * (1 / taken - 1 / sizes)).sum())


@given(
    st.lists(st.tuples(st.integers(1, 9), st.floats(0, 1)), min_size=1, max_size=3),
    st.integers(1, 3),
    st.integers(0, 27),
)
def test_no_other_allocation_in_whole_pairs_has_a_smaller_variance(
    strata: list[tuple[int, float]], least: int, more: int
) -> None:
    sizes, rates = np.array([size for size, _ in strata]), np.array([rate for _, rate in strata])
    floor = np.minimum(sizes, least)
    total = min(int(floor.sum()) + more, int(sizes.sum()))
    taken = neyman_allocation(sizes, rates, total, least=least)
    assert taken.sum() == total
    assert ((taken >= floor) & (taken <= sizes)).all()
    others = (
        np.array(one)
        for one in product(*(range(low, high + 1) for low, high in zip(floor, sizes, strict=True)))
        if sum(one) == total
    )
    assert variance(sizes, rates, taken) <= min(variance(sizes, rates, one) for one in others) + 1e-9


def test_an_allocation_is_neymans_where_nothing_binds() -> None:
    # N·S: 1000 · 0.3, 500 · 0.5, 250 · 0.4 are 300, 250, 100.
    assert neyman_allocation([1000, 500, 250], [0.1, 0.5, 0.2], 650).tolist() == pytest.approx(
        [300, 250, 100], abs=1
    )


def test_every_stratum_gets_its_least_or_all_it_has() -> None:
    assert neyman_allocation([5000, 40, 12], [0.5, 0.01, 0.99], 100).tolist() == [58, 30, 12]


@pytest.mark.parametrize(
    ("total", "rates", "message"),
    [
        (59, [0.1, 0.2], "too few for 2 strata"),
        (1001, [0.1, 0.2], "there are 1000"),
        (100, [0.1, 1.2], "outside the range"),
        (100, [0.1], "rates for 1"),
    ],
)
def test_what_cannot_be_allocated_is_refused(total: int, rates: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        neyman_allocation([500, 500], rates, total)


# The draw


def test_a_design_draws_so_many_of_each_stratum_and_says_with_which_chance() -> None:
    strata = np.arange(90) // 60
    found = stratified_design(pairs(90), strata, [15, 30], seed=3)
    counted = found.group_by("stratum", maintain_order=True).agg(
        pl.len(), pl.col("inclusion_probability").first()
    )
    assert counted.rows() == [("0", 15, 0.25), ("1", 30, 1.0)]
    assert found.filter(stratum="0")["place"].to_list() == list(range(1, 16))
    assert found.select("query_id", "document_id").is_unique().all()


def test_a_draw_depends_on_pairs_and_seed_alone_and_a_larger_one_goes_on() -> None:
    strata = np.arange(90) // 60
    first = stratified_design(pairs(90), strata, [15, 10], seed=3)
    turned = stratified_design(pairs(90).reverse(), strata[::-1], [15, 10], seed=3)
    assert turned.equals(first)
    larger = stratified_design(pairs(90), strata, [20, 10], seed=3).filter(pl.col("stratum") == "0")
    names = first.filter(pl.col("stratum") == "0")["document_id"]
    assert larger["document_id"][:15].to_list() == names.to_list()
    assert (
        stratified_design(pairs(90), strata, [15, 10], seed=4)["document_id"].to_list()
        != first["document_id"].to_list()
    )


def test_negatives_and_positives_are_samples_of_their_own() -> None:
    said = np.arange(90) < 30
    found = verification_design(pairs(90), said, zero_failure_plan(60, 0.1), half_width_plan(30, 0.1, 0.2))
    model = dict(zip(pairs(90)["document_id"], said, strict=True))
    sides = {
        bool(model[document]): stratum for document, stratum in found.select("document_id", "stratum").rows()
    }
    assert sides == {False: "0", True: "1"}
    assert found.filter(pl.col("stratum") == "0").height == zero_failure_plan(60, 0.1).size
    with pytest.raises(ValueError, match="Stratum 1 has 30 pairs"):
        stratified_design(pairs(90), said.astype(int), [10, 31])


def test_a_labelled_draw_by_score_is_a_sample_that_estimates_totals() -> None:
    """Over 80 draws the estimate is right in the mean, and Neyman's allocation is better than a proportional
    one.
    """
    rng = np.random.default_rng(5)
    score = rng.beta(0.6, 2, 600)
    truth = rng.random(600) < score
    cuts = cut_points(score, 4)
    strata = strata_of(score, cuts)
    sizes = np.bincount(strata)
    rates = np.bincount(strata, weights=score) / sizes
    labels = pairs(600).with_columns(relevant=pl.Series(truth))

    def estimates(taken: np.ndarray) -> np.ndarray:
        found = []
        for seed in range(80):
            sample = stratified_design(pairs(600), strata, taken, seed=seed).join(
                labels, on=["query_id", "document_id"]
            )
            found.append(estimated_total(sample).value or 0.0)
        return np.array(found)

    neyman = estimates(neyman_allocation(sizes, rates, 160, least=10))
    even = estimates(np.floor(sizes * 160 / 600).astype(np.int64))
    assert abs(neyman.mean() - truth.sum()) < 3 * neyman.std() / np.sqrt(80)
    assert neyman.std() < even.std()
