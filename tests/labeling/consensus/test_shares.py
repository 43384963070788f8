"""Shares and coefficients over queries, for any labels: SciPy, statsmodels, and what changes nothing."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from labeling.consensus.clustered import (
    FEWEST_QUERIES,
    NO_SPREAD,
    ONE_SIDED,
    correlation_over_queries,
    kappa_over_queries,
    share_over_queries,
    too_few,
)
from labeling.consensus.shares import Share, clopper_pearson, difference_of, share_of, wilson

counts = st.integers(1, 60).flatmap(lambda labels: st.tuples(st.integers(0, labels), st.just(labels)))
#: Labels with a weight each and the query they are of.
weighed = st.lists(st.tuples(st.booleans(), st.integers(1, 9), st.integers(0, 3)), min_size=1, max_size=20)


def columns(rows: list[Any]) -> tuple[Any, Any, Any]:
    hits, weights, query = zip(*rows, strict=True)
    return np.array(hits), np.array(weights, dtype=float), np.array(query)


def numbers(share: Share) -> list[float | None]:
    return [share.value, share.low, share.high]


@settings(max_examples=20)
@given(count=counts)
def test_the_limits_of_a_count_are_those_of_statsmodels(count: tuple[int, int]) -> None:
    hits, labels = count

    assert wilson(hits, labels) == pytest.approx(proportion_confint(hits, labels, method="wilson"), abs=1e-6)
    assert clopper_pearson(hits, labels) == pytest.approx(proportion_confint(hits, labels, method="beta"))


@settings(max_examples=20)
@given(count=counts, confidence=st.sampled_from([0.8, 0.95, 0.99]))
def test_beyond_an_exact_limit_what_was_seen_would_be_rare(count: tuple[int, int], confidence: float) -> None:
    hits, labels = count
    low, high = clopper_pearson(hits, labels, confidence)
    tail = (1 - confidence) / 2

    assert low == 0 if hits == 0 else stats.binom.sf(hits - 1, labels, low) == pytest.approx(tail)
    assert high == 1 if hits == labels else stats.binom.cdf(hits, labels, high) == pytest.approx(tail)


@settings(max_examples=20)
@given(rows=weighed, exact=st.booleans(), factor=st.sampled_from([0.25, 7.0]))
def test_what_a_share_does_not_depend_on(rows: list[Any], exact: bool, factor: float) -> None:
    hits, weights, _ = columns(rows)
    found = share_of(hits, weights, exact=exact)

    assert numbers(share_of(hits, weights * factor, exact=exact)) == pytest.approx(numbers(found))
    assert numbers(share_of(hits[::-1], weights[::-1], exact=exact)) == pytest.approx(numbers(found))
    turned = share_of(~hits, weights, exact=exact)
    assert numbers(turned.flipped()) == pytest.approx(numbers(found))
    assert (turned.flipped().count, turned.labels) == (found.count, found.labels)


@settings(max_examples=20)
@given(rows=weighed, exact=st.booleans())
def test_weights_and_queries_never_narrow_an_interval(rows: list[Any], exact: bool) -> None:
    hits, weights, query = columns(rows)
    found = share_of(hits, weights, exact=exact)
    value = found.value
    assert value is not None
    whole = clopper_pearson(value * len(hits), len(hits)) if exact else wilson(value * len(hits), len(hits))

    assert 0 <= found.low <= value <= found.high <= 1  # type: ignore[operator]
    assert found.low <= whole[0] + 1e-9  # type: ignore[operator]
    assert found.high >= whole[1] - 1e-9  # type: ignore[operator]
    few = share_of(hits, weights, exact=exact, groups=query, freedom=3)
    together = share_of(hits, weights, exact=exact, groups=query)
    assert few.high - few.low >= together.high - together.low - 1e-9  # type: ignore[operator]


@settings(max_examples=20)
@given(one=counts, other=counts)
def test_a_difference_of_shares_mirrors_and_stays_within_what_is_possible(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    first, second = (share_of(np.arange(labels) < hits) for hits, labels in (one, other))
    found, back = difference_of(first, second), difference_of(second, first)

    assert found.value == pytest.approx(one[0] / one[1] - other[0] / other[1])
    assert astuple(found) == pytest.approx((-back.value, -back.high, -back.low))  # type: ignore[operator]
    assert -1 - 1e-9 <= found.low <= found.value <= found.high <= 1 + 1e-9  # type: ignore[operator]
    assert found.is_decided == (found.low > 0 or found.high < 0)  # type: ignore[operator]


def test_a_difference_from_nothing_is_none() -> None:
    found = difference_of(share_of(np.array([True])), share_of(np.array([], dtype=bool)))

    assert astuple(found) == (None, None, None)
    assert not found.is_decided


@pytest.mark.parametrize(
    ("hits", "weights", "share", "labels"),
    [
        ([1, 1, 0, 0], [1, 1, 1, 1], 1 / 2, 4.0),
        # Σ(w/2)² / 8² = (9 + 1 + 1 + 9) / 4 / 64 = 5/64, and 1/4 of it: 3.2.
        ([1, 1, 0, 0], [3, 1, 1, 3], 1 / 2, 3.2),
        ([1, 0, 0, 0], [3, 1, 1, 1], 1 / 2, 3.0),  # (9 + 1 + 1 + 1) / 4 / 36 = 1/12
        # (7² + 1² + 6²) / 8⁴ of 7/64 would make 5.2 of three; Kish's (Σw)² / Σw² leaves 64/38.
        ([1, 0, 0], [1, 1, 6], 1 / 8, 64 / 38),
        ([0, 0, 0], [1, 1, 6], 0.0, 64 / 38),  # without a hit there is no variance to go by
    ],
)
def test_how_many_equal_labels_unequal_ones_are_worth_by_hand(
    hits: list[int], weights: list[float], share: float, labels: float
) -> None:
    found = share_of(np.array(hits, dtype=bool), np.array(weights, dtype=float))

    assert found.value == pytest.approx(share)
    assert (found.low, found.high) == pytest.approx(wilson(share * labels, labels))


def clustered(seed: int, *, queries: int = 9) -> tuple[Any, Any, Any, Any, Any]:
    """Label, verdict, score, weight and query of some labels in which nothing is constant."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), 4)
    label = rng.random(len(query)) < 0.4
    return (
        label,
        label ^ (rng.random(len(query)) < 0.3),
        rng.random(len(query)) + label,
        rng.integers(1, 4, len(query)),
        query,
    )


def limits(figure: Any) -> list[float]:
    return [figure.value, figure.low, figure.high]


@settings(max_examples=10)
@given(seed=st.integers(0, 500), names=st.permutations(range(9)))
def test_a_coefficient_over_queries_has_no_names_sides_or_units(seed: int, names: Any) -> None:
    label, verdict, score, weight, query = clustered(seed)
    if label.all() or not label.any() or verdict.all() or not verdict.any():
        return
    renamed = np.array([f"q{name}" for name in names])[query]
    kappa = kappa_over_queries(label, verdict, weight, query=query)
    rho = correlation_over_queries(label, score, weight, query=query)

    for same in (
        kappa_over_queries(verdict, label, weight, query=renamed),
        kappa_over_queries(~label, ~verdict, weight * 5, query=query),
    ):
        assert limits(same) == pytest.approx(limits(kappa))
    stretched = correlation_over_queries(label, 10 * score - 3, weight * 0.5, query=renamed)
    assert limits(stretched) == pytest.approx(limits(rho))
    value, low, high = limits(correlation_over_queries(~label, score, weight, query=query))
    assert [-value, -high, -low] == pytest.approx(limits(rho))
    repeated = np.repeat(np.column_stack([label, score]), weight, axis=0)
    assert rho.value == pytest.approx(np.corrcoef(repeated.T)[0, 1])
    assert -1 < low < value < high < 1


@settings(max_examples=10)
@given(seed=st.integers(0, 500))
def test_a_lower_level_of_error_has_wider_limits(seed: int) -> None:
    label, verdict, score, weight, query = clustered(seed)
    if verdict.all() or not verdict.any() or label.all() or not label.any():
        return
    for strict, loose in (
        [kappa_over_queries(label, verdict, weight, query=query, level=level) for level in (0.01, 0.2)],
        [correlation_over_queries(label, score, weight, query=query, level=level) for level in (0.01, 0.2)],
    ):
        assert strict.value == loose.value
        assert strict.low < loose.low < loose.high < strict.high  # type: ignore[operator]


@pytest.mark.parametrize("queries", [1, FEWEST_QUERIES - 1, FEWEST_QUERIES])
def test_labels_of_few_queries_say_nothing_yet(queries: int) -> None:
    label, verdict, score, weight, query = clustered(3, queries=queries)
    found: list[Any] = [
        share_over_queries(verdict, weight.astype(float), query),
        kappa_over_queries(label, verdict, weight, query=query),
        correlation_over_queries(label, score, weight, query=query),
    ]

    if queries < FEWEST_QUERIES:
        assert [(one.value, one.low, one.why) for one in found] == [(None, None, too_few(queries))] * 3
        assert found[0].labels == len(query)
    else:
        assert all(one.value is not None and one.low is not None and not one.why for one in found)


@pytest.mark.parametrize("sides", ["label", "verdict"])
@pytest.mark.parametrize("said", [True, False])
def test_where_all_say_the_same_there_is_no_coefficient(sides: str, said: bool) -> None:
    label, verdict, score, weight, query = clustered(3)
    same = np.full(len(query), said)
    people, model = (same, verdict) if sides == "label" else (label, same)

    assert kappa_over_queries(people, model, weight, query=query).why == ONE_SIDED
    level = np.ones(len(query))
    shown = correlation_over_queries(same, score, weight, query=query)
    flat = correlation_over_queries(label, level, weight, query=query)
    assert (shown.why, flat.why) == (NO_SPREAD, NO_SPREAD)
