"""The interval that is expected beside intervals of samples that are drawn."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from evaluation.expected_width import (
    curve_with,
    design_of,
    effective_reach,
    expected_intervals,
    fitted_curve,
)
from evaluation.recall_intervals import interval_of_micro_recall
from pooling.audit import choose_in_query


def whole(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def test_a_curve_is_found_again_from_labels_drawn_by_it() -> None:
    random, curve = np.random.default_rng(1), curve_with(0.3, 4.0)
    places = random.random(20_000)
    found = fitted_curve(places, random.random(20_000) < curve.at(places))
    assert (found.a, found.b) == pytest.approx((curve.a, curve.b), abs=0.15)


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
        _, probability = choose_in_query("q", documents, 40, 0.3, seed)
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
    expected = expected_intervals(chance, certain, np.full(size, design.probability[0]), [top])[0]
    pairs = pl.DataFrame({"query_id": ["q"] * size, "document_id": [f"d{n:03}" for n in range(size)]})
    widths = []
    for seed in range(200):
        _, probability = choose_in_query("q", pairs["document_id"], budget, audit / budget, seed)
        sample = pairs.with_columns(
            relevant=pl.Series(random.random(size) < chance), inclusion_probability=pl.Series(probability)
        ).filter(pl.col("inclusion_probability").is_not_nan())
        one = interval_of_micro_recall(sample, pairs[top])
        widths.append((one.high or 0) - (one.low or 0))
    assert expected.width == pytest.approx(np.mean(widths), rel=0.05)


def test_few_expected_finds_use_the_exact_bound_as_the_report_does() -> None:
    chance = np.full(50, 0.1)
    found = expected_intervals(chance, np.arange(50) < 10, np.full(50, 0.1), [whole(0, 1, 20)])[0]
    assert found.method == "exact bound"
    assert 0 <= found.low <= found.value <= found.high <= 1  # type: ignore[operator]
