"""Batches of a greedy order and an audit, and budgets spread over queries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from pooling.ranking.selection import (
    EQUAL,
    GREEDY,
    SHARE,
    Batch,
    Standing,
    next_batches,
    spread,
    spread_handed,
)

POOL = 30


def standing(
    *reached: int, drawn: tuple[int, ...] = (), free: tuple[int, ...] = (), spent: int = 0
) -> Standing:
    masks = [np.isin(np.arange(POOL), numbers) for numbers in (reached, drawn, free)]
    return Standing(*masks, spent)


def test_without_an_audit_the_batches_are_the_order_cut_in_tens() -> None:
    batches = next_batches(range(POOL), range(POOL), standing(), budget=25)
    assert [batch.handed for batch in batches] == [
        tuple(range(10)),
        tuple(range(10, 20)),
        tuple(range(20, 25)),
    ]
    assert all(batch.joined == () and batch.reached == batch.handed for batch in batches)


def test_a_fifth_of_each_batch_is_drawn_and_what_the_order_comes_to_is_not_judged_again() -> None:
    (first, second) = next_batches(
        range(POOL), [3, 28, 15, 0, *range(4, 28)], standing(), budget=20, audit_share=0.2
    )
    assert first == Batch((3, 0, 1, 2, 28, 4, 5, 6, 7, 8), (0, 1, 2, 3, 4, 5, 6, 7, 8), (3, 28))
    assert second.joined[0] == 15
    assert len(second.joined) == 2
    assert not set(first.handed) & set(second.handed)


def test_what_is_judged_elsewhere_costs_nothing() -> None:
    (batch,) = next_batches(range(POOL), range(POOL), standing(free=(0, 2)), budget=3)
    assert batch.handed == (1, 3, 4)
    assert batch.reached == (0, 1, 2, 3, 4)


def test_an_audit_that_was_reached_is_replaced_so_that_the_rest_can_be_estimated() -> None:
    known = standing(0, 1, 2, 3, drawn=(0, 1), spent=4)
    (batch,) = next_batches(range(POOL), [0, 1, 20, 21], known, budget=5, audit_share=0.2)
    assert batch == Batch((20,), (), (20,))


def test_nothing_follows_a_budget_that_is_spent_or_a_pool_at_its_end() -> None:
    assert next_batches(range(POOL), range(POOL), standing(spent=5), budget=5) == []
    assert next_batches(range(POOL), range(POOL), standing(*range(POOL), spent=30), budget=99) == []


@pytest.mark.parametrize("seed", range(3))
def test_the_audit_left_over_is_uniform_among_what_is_not_reached(seed: int) -> None:
    """Each document not reached is as often in the audit as any other, although audit members were passed."""
    random = np.random.default_rng(seed)
    counts, left = np.zeros(POOL), np.zeros(POOL)
    for _ in range(2000):
        batches = next_batches(
            range(POOL), random.permutation(POOL).tolist(), standing(), budget=12, audit_share=0.25
        )
        reached = {number for batch in batches for number in batch.reached}
        joined = {number for batch in batches for number in batch.joined}
        rest = [number for number in range(POOL) if number not in reached]
        left[rest] += 1
        counts[[number for number in rest if number in joined]] += 1
    tail = slice(12, POOL)
    shares = counts[tail] / left[tail]
    assert np.abs(shares - shares.mean()).max() < 5 * np.sqrt(shares.mean() / left[tail].min())


def test_budgets_are_spread_equally_by_share_or_as_a_floor() -> None:
    sizes = {"a": 100, "b": 20, "c": 3}
    assert spread(sizes, None) == sizes
    assert spread(sizes, 33) == {"a": 15, "b": 15, "c": 3}
    assert spread(sizes, 41, rule=SHARE) == {"a": 33, "b": 7, "c": 1}
    assert spread(sizes, 41, rule=SHARE, floor=10) == {"a": 28, "b": 10, "c": 3}
    assert spread(sizes, 60, rule=GREEDY) == {"a": 10, "b": 10, "c": 3}
    assert spread(sizes, 60, rule=GREEDY, floor=4) == {"a": 4, "b": 4, "c": 3}


@pytest.mark.parametrize("rule", [EQUAL, SHARE, GREEDY])
def test_what_a_query_that_ends_early_leaves_goes_to_the_others(rule: str) -> None:
    sizes, ends = {"a": 100, "b": 40, "c": 40}, {"a": 100, "b": 5, "c": 40}

    def handed(given: Mapping[str, int]) -> dict[str, int]:
        return {name: min(many, ends[name]) for name, many in given.items()}

    given = spread_handed(sizes, 60, handed, rule=rule)
    assert given["b"] == 5
    assert (
        given
        == {
            EQUAL: {"a": 28, "b": 5, "c": 27},
            SHARE: {"a": 39, "b": 5, "c": 16},
            GREEDY: {"a": 10, "b": 5, "c": 10},
        }[rule]
    )
    assert spread_handed(sizes, None, handed, rule=rule) == sizes
