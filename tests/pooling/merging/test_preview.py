"""Counts before a pool is built are those of the pool that is then built."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from pooling.merging.merging import build_pool
from pooling.merging.preview import NumberedTops, number_tops
from pooling.merging.summary import diagnose
from tests.pooling.pools_at_random import random_runs, runs_of

RUNS = runs_of(q1=["abc", "bad"], q2=["x", ""])


def numbered(runs: dict, queries: list[str], depth: int) -> NumberedTops:
    rows, pairs = number_tops(runs, queries, depth=depth)
    ids = sorted(set(pairs["query_id"]))
    query = np.array([ids.index(query) for query in pairs["query_id"]], dtype=np.int64)
    return NumberedTops(rows, query, ids)


@given(some.integers(0, 10**6), some.integers(1, 12))
def test_sizes_overlap_and_lone_finds_are_those_of_the_pool(seed: int, depth: int) -> None:
    runs = random_runs(seed)
    told = diagnose(runs, build_pool(runs, depth=depth), depth)
    every = numbered(runs, ["q0", "q1"], 100)
    tops = every.chosen(range(4), depth)
    sizes = every.chosen(range(4), 100).size_by_depth(len(told["size_by_depth"]))
    assert sizes.tolist() == told["size_by_depth"]
    assert (np.diff(sizes) >= 0).all()
    assert tops.overlap(range(4)) == pytest.approx(np.array(told["overlap"]))
    assert tops.by_run(range(4)).tolist() == list(told["contributed"].values())
    assert tops.alone(range(4)).tolist() == list(told["unique_finds"].values())
    assert sorted(tops.query_sizes()) == [told["sizes"]["least"], told["sizes"]["most"]]


@given(some.integers(0, 10**6), some.integers(1, 12), some.integers(1, 30))
def test_a_run_with_a_depth_of_its_own_goes_to_it(seed: int, depth: int, own: int) -> None:
    runs = random_runs(seed)
    pooled = build_pool(runs, depth=depth, depths={list(runs)[2]: own})
    every = numbered(runs, ["q0", "q1"], 100).chosen(range(4), 100)
    tops = every.to_depths(depth, {2: own})
    assert tops.query_sizes().sum() == pooled.height
    assert tops.by_run(range(4)).sum() == pooled["run_count"].sum()
    assert every.size_by_depth(depth, {2: own})[-1] == pooled.height


def test_some_runs_alone_are_counted_among_themselves() -> None:
    tops = numbered(RUNS, ["q1", "q2"], 3).chosen([1], 3)
    assert tops.by_run([1]).tolist() == tops.alone([1]).tolist() == [3]
    assert tops.query_sizes().tolist() == [3, 0]


def test_queries_that_are_not_asked_for_are_left_out() -> None:
    assert numbered(RUNS, ["q2"], 3).query_ids == ["q2"]


def test_places_are_those_of_the_fused_order() -> None:
    tops = numbered(RUNS, ["q1", "q2"], 3).chosen([0, 1], 3)
    # q1: a has ranks 1 and 2, b 2 and 1, then c and d with rank 3 each; q2 has x alone.
    first, second, third, fourth, alone = tops.fused_places()
    assert {first, second} == {1 / 8, 3 / 8}
    assert {third, fourth} == {5 / 8, 7 / 8}
    assert alone == 1 / 2
