"""The interval that is expected beside intervals of samples that are drawn."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from evaluation.estimates.intervals import interval_of_micro_recall
from evaluation.plans.expected_width import (
    audit_probabilities,
    curve_with,
    design_of,
    effective_reach,
    expected_intervals,
    fitted_curve,
)
from pooling.ranking.sample import choose_in_query


def whole(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def test_a_curve_is_found_again_from_labels_drawn_by_it() -> None:
    random, curve = np.random.default_rng(1), curve_with(0.3, 4.0)
    places = random.random(20_000)
    found = fitted_curve(places, random.random(20_000) < curve.at(places))
    assert (found.a, found.b) == pytest.approx((curve.a, curve.b), abs=0.15)


def test_a_label_weighs_in_the_curve_as_what_it_stands_for() -> None:
    """Half of the labels stand for nine times as many pairs: the curve is that of all the pairs."""
    random, rare, common = np.random.default_rng(4), curve_with(0.1), curve_with(0.5)
    places = random.random(40_000)
    of_large = np.arange(40_000) < 20_000
    relevant = random.random(40_000) < np.where(of_large, rare.at(places), common.at(places))
    found = fitted_curve(places, relevant, np.where(of_large, 9.0, 1.0))
    assert found.share == pytest.approx(0.9 * 0.1 + 0.1 * 0.5, abs=0.01)


def test_remainders_keep_as_many_audit_documents_as_chance_leaves_them() -> None:
    sizes, audits = whole(*[100] * 50), whole(*[10] * 50)
    design = design_of(sizes, whole(*[28] * 50), audits)
    drawn = audit_probabilities(design, sizes, audits, draws=40)
    # Twenty documents are reached, and of ten audit documents eight are left among eighty.
    assert np.mean(drawn) == pytest.approx(0.1, abs=0.001)
    assert np.min(drawn) < 0.07 < 0.12 < np.max(drawn)
    assert all((one * 80 == np.rint(one * 80)).all() for one in drawn)
    assert np.isnan(audit_probabilities(design_of(sizes, sizes, audits), sizes, audits)).all()


def test_a_run_that_found_the_whole_pool_misses_nothing() -> None:
    chance = np.linspace(0.1, 0.7, 7)
    (found,) = expected_intervals(
        chance, np.arange(7) < 3, np.zeros(7, np.int64), [np.array([0.3])], tops=[np.arange(7)]
    )
    assert found.value == pytest.approx(1)
    assert found.high == pytest.approx(1)


def test_a_steeper_order_reaches_further_and_a_random_one_less_far() -> None:
    curve, reached = curve_with(0.2), np.array([0.0, 0.25, 1.0])
    assert effective_reach(curve, reached, 1.0).tolist() == reached.tolist()
    for pace, further in ((1.4, True), (0.0, False)):
        other = effective_reach(curve, reached, pace)
        assert other[[0, 2]] == pytest.approx([0.0, 1.0])
        assert (other[1] > 0.25) == further


def test_a_budget_that_covers_the_pool_leaves_no_remainder() -> None:
    design = design_of(whole(10, 0), whole(10, 0), whole(2, 0))
    assert design.reached.tolist() == [1.0, 1.0]
    assert np.isnan(design.probability).all()


def test_the_expected_share_reached_is_that_of_the_choice() -> None:
    reached, drawn = [], []
    for seed in range(300):
        documents = pl.Series([f"d{number:03}" for number in range(120)])
        _, probability = choose_in_query("q", documents, budget=40, audit_share=0.3, seed=seed)
        reached.append(np.mean(probability == 1))
        drawn.append(np.nanmin(probability))
    design = design_of(whole(120), whole(40), whole(12))
    assert float(design.reached[0]) == pytest.approx(np.mean(reached), rel=0.02)
    assert float(design.probability[0]) == pytest.approx(np.mean(drawn), rel=0.03)


def test_the_expected_width_is_that_of_drawn_samples_in_the_mean() -> None:
    random, size, budget, audit = np.random.default_rng(2), 400, 120, 60
    places = (np.arange(size) + 0.5) / size
    curve = curve_with(0.3)
    chance, design = curve.at(places), design_of(whole(size), whole(budget), whole(audit))
    top = np.arange(100)
    certain = places <= design.reached[0]
    expected = expected_intervals(
        chance, certain, np.zeros(size, np.int64), [design.probability], tops=[top]
    )[0]
    pairs = pl.DataFrame({"query_id": ["q"] * size, "document_id": [f"d{n:03}" for n in range(size)]})
    widths = []
    for seed in range(200):
        _, probability = choose_in_query(
            "q", pairs["document_id"], budget=budget, audit_share=audit / budget, seed=seed
        )
        sample = pairs.with_columns(
            relevant=pl.Series(random.random(size) < chance), inclusion_probability=pl.Series(probability)
        ).filter(pl.col("inclusion_probability").is_not_nan())
        one = interval_of_micro_recall(sample, pairs[top])
        widths.append((one.high or 0) - (one.low or 0))
    assert expected.width == pytest.approx(np.mean(widths), rel=0.05)


def test_few_expected_finds_use_the_exact_bound_as_the_report_does() -> None:
    chance = np.full(50, 0.1)
    found = expected_intervals(
        chance, np.arange(50) < 10, np.zeros(50, np.int64), [np.array([0.1])], tops=[whole(0, 1, 20)]
    )[0]
    assert found.method == "exact bound"
    assert 0 <= found.low <= found.value <= found.high <= 1  # type: ignore[operator]
