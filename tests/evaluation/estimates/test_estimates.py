"""Totals, recall and bounds from samples: tables computed by hand, and campaigns by the hundred."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl
import pytest

from evaluation.estimates.totals import (
    Estimate,
    Remainder,
    estimated_total,
    micro_recall,
    most_missing,
    most_missing_in_all,
)
from pooling.strategies.audited import Audited, campaign
from tests.pooling.pools_at_random import random_pool

SCHEMA = {
    "query_id": pl.String,
    "document_id": pl.String,
    "relevant": pl.Boolean,
    "inclusion_probability": pl.Float64,
}


def sample_of(*rows: tuple[str, str, int, float]) -> pl.DataFrame:
    """Rows of query, document, relevant (0 or 1) and π."""
    return pl.DataFrame([(q, d, bool(y), p) for q, d, y, p in rows], schema=SCHEMA, orient="row")


def pairs_of(query_id: str, documents: str) -> pl.DataFrame:
    return pl.DataFrame({"query_id": [query_id] * len(documents), "document_id": list(documents)})


#: Two certain documents, and four drawn of eight in the rest, of which one is relevant.
STRATUM = sample_of(
    ("q", "a", 1, 1),
    ("q", "b", 0, 1),
    ("q", "c", 1, 0.5),
    ("q", "d", 0, 0.5),
    ("q", "e", 0, 0.5),
    ("q", "f", 0, 0.5),
)


def test_a_stratum_gives_its_total_and_the_variance_of_simple_random_sampling() -> None:
    total = estimated_total(STRATUM)
    # 1 + 8 · ¼; N²(1 - f)s²/n = 64 · ½ · ¼ / 4 with s² = (¾·¼)·4/3 = ¼.
    assert total.value == pytest.approx(3.0)
    assert total.standard_error == pytest.approx(math.sqrt(64 * 0.5 * 0.25 / 4))


def test_a_pair_drawn_on_its_own_takes_the_conservative_variance() -> None:
    total = estimated_total(sample_of(("q", "a", 1, 0.5), ("q", "b", 1, 0.2), ("q", "c", 0, 0.1)))
    assert total.value == pytest.approx(2 + 5)
    assert total.standard_error == pytest.approx(math.sqrt(0.5 / 0.25 + 0.8 / 0.04))


def test_equal_probabilities_in_two_queries_are_two_strata() -> None:
    total = estimated_total(sample_of(("q1", "a", 1, 0.5), ("q2", "a", 0, 0.5)))
    assert total.standard_error == pytest.approx(math.sqrt(0.5 / 0.25))


def test_recall_weighs_both_its_parts() -> None:
    recall = micro_recall(STRATUM, pairs_of("q", "ab"))
    # a is found (1), c is not (1/½ = 2): 1 of 3. Residuals of the stratum: -1/9, 0, 0, 0.
    assert recall.value == pytest.approx(1 / 3)
    residuals = np.array([-1 / 9, 0, 0, 0])
    assert recall.standard_error == pytest.approx(math.sqrt(64 * 0.5 * residuals.var(ddof=1) / 4))


def test_everything_judged_leaves_no_uncertainty() -> None:
    sample = sample_of(("q", "a", 1, 1), ("q", "b", 1, 1))
    assert estimated_total(sample) == Estimate(2.0, 0.0)
    assert micro_recall(sample, pairs_of("q", "a")).interval() == (0.5, 0.5)


def test_recall_without_a_relevant_pair_is_undefined() -> None:
    recall = micro_recall(sample_of(("q", "a", 0, 0.5)), pairs_of("q", "a"))
    assert recall == Estimate(None, None)
    assert recall.interval() is None


@pytest.mark.parametrize("probability", [0.0, 1.5, float("nan")])
def test_a_probability_out_of_range_is_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="inclusion probability lies outside"):
        estimated_total(sample_of(("q", "a", 1, probability)))


def test_a_sample_without_its_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="no column inclusion_probability"):
        estimated_total(STRATUM.drop("inclusion_probability"))


# What is missing at most


def test_nothing_found_in_a_sample_bounds_what_is_missing() -> None:
    # (10 - M choose 5) / (10 choose 5) > .05: 56/252, 21/252, then 6/252.
    assert most_missing(Remainder(10, 5, 0)) == 3
    assert most_missing(Remainder(10, 10, 0)) == 0
    assert most_missing(Remainder(10, 10, 4)) == 4
    assert most_missing(Remainder(0, 0, 0)) == 0
    assert most_missing(Remainder(10, 0, 0)) is None


def test_the_bound_over_queries_uses_the_smallest_fraction() -> None:
    # .8^M > .05 up to M = 13.
    assert most_missing_in_all([Remainder(50, 10, 0), Remainder(50, 25, 0)]) == 13
    assert most_missing_in_all([Remainder(50, 10, 0), Remainder(0, 0, 0)]) == 13
    assert most_missing_in_all([Remainder(4, 1, 0)]) == 3
    assert most_missing_in_all([Remainder(4, 4, 2)]) == 2
    assert most_missing_in_all([Remainder(50, 10, 0), Remainder(50, 0, 0)]) is None
    assert most_missing_in_all([]) == 0


def test_a_remainder_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="relevant ≤ sampled ≤ size"):
        Remainder(10, 5, 6)


# Campaigns


@cache
def campaigns(count: int, seed: int) -> tuple[list[pl.DataFrame], int, dict[str, int]]:
    """Samples of whole campaigns over five queries, the true total, and the size of each query's pool."""
    pool = random_pool(seed, queries=5, runs=5, documents=24)
    chance = np.random.default_rng(seed)
    truth = {query_id: chance.random(len(one)) < 0.35 for query_id, one in pool.items()}
    samples = []
    for draw in range(count):
        strategy = Audited(pool, seed=draw)
        for query_id, one in pool.items():
            campaign(
                strategy, one, budget=10, audit=4, answer=lambda n, known=truth[query_id]: bool(known[n])
            )
        samples.append(pl.concat(labelled(strategy, query_id, truth[query_id]) for query_id in pool))
    sizes = {query_id: len(one) for query_id, one in pool.items()}
    return samples, sum(int(known.sum()) for known in truth.values()), sizes


def labelled(strategy: Audited, query_id: str, known: Sequence[bool]) -> pl.DataFrame:
    one = strategy.candidates[query_id]
    rows = zip(one.documents, known, strategy.probabilities(one), strict=True)
    return sample_of(
        *((query_id, document, int(y), float(p)) for document, y, p in rows if not math.isnan(p))
    )


def remainders(sample: pl.DataFrame, sizes: dict[str, int]) -> list[Remainder]:
    """Of each query what is not certain, what was drawn of that, and what of it is relevant."""
    found = []
    for query_id, size in sizes.items():
        rows = sample.filter(pl.col("query_id") == query_id)
        drawn = rows.filter(pl.col("inclusion_probability") < 1)
        found.append(Remainder(size - (len(rows) - len(drawn)), len(drawn), drawn["relevant"].sum()))
    return found


def test_over_two_hundred_campaigns_the_estimate_is_unbiased_and_the_bound_holds() -> None:
    samples, truth, sizes = campaigns(200, seed=11)
    totals = np.array([estimated_total(sample).value for sample in samples])
    assert abs(totals.mean() - truth) < 3 * totals.std() / math.sqrt(len(totals))
    held = 0
    for sample in samples:
        reached = int((sample["relevant"] & (sample["inclusion_probability"] == 1)).sum())
        bound = most_missing_in_all(remainders(sample, sizes))
        assert bound is not None
        held += truth <= reached + bound
    assert held / len(samples) >= 0.95 - 2 * math.sqrt(0.95 * 0.05 / len(samples))


def test_intervals_of_the_total_hold_at_their_rate() -> None:
    samples, truth, _ = campaigns(200, seed=11)
    intervals = [estimated_total(sample).interval() or (0.0, 0.0) for sample in samples]
    held = np.mean([low <= truth <= high for low, high in intervals])
    assert held >= 0.92 - 2 * math.sqrt(0.92 * 0.08 / len(samples))
