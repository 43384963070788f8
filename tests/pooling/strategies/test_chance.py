"""Draws: the same for a seed on every machine, others for other names, and with the chances that are told."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from pooling.strategies import STRATEGIES
from pooling.strategies.base import stream, uniforms
from pooling.strategies.static import Sampling
from tests.pooling.pools_at_random import query_of

ONE = query_of("abcdef", "fedghi", name="q1")


def order(name: str, seed: int, query: str = "q1") -> str:
    one = query_of("abcdef", "fedghi", name=query)
    return "".join(STRATEGIES[name].start({query: one}, seed=seed).next(query, 100))


@pytest.mark.parametrize(
    ("seed", "names", "event", "drawn"),
    [
        # Bits of Philox keyed by BLAKE2b: with the pool and its seed anybody can draw a sample again.
        (0, ("sampling", "q1"), 0, [0.35016479720644267, 0.9680013734625981, 0.19746820011381438]),
        (7, ("sampling", "q1"), 0, [0.41337308519253146, 0.14058788584461546]),
        (0, ("thompson", "q1"), 1, [0.27680970022632445, 0.6627057827745368]),
    ],
)
def test_a_stream_is_the_same_for_ever(
    seed: int, names: tuple[str, ...], event: int, drawn: list[float]
) -> None:
    assert uniforms(stream(seed, *names, event=event), len(drawn)).tolist() == drawn


def test_a_stream_depends_on_each_of_its_names() -> None:
    keys = product((0, 1, -1), (("a", "q1"), ("a", "q2"), ("b", "q1")), (0, 1, 2))
    found = {tuple(uniforms(stream(seed, *names, event=event), 4)) for seed, names, event in keys}

    assert len(found) == 27
    # What comes later in a stream does not depend on how many are asked for.
    assert uniforms(stream(0, "a"), 9)[:4].tolist() == uniforms(stream(0, "a"), 4).tolist()


def test_uniform_numbers_are_spread_over_0_to_1_without_0() -> None:
    drawn = uniforms(stream(0, "a"), 20_000)

    assert 0 < drawn.min() < drawn.max() <= 1
    # Of 20,000 a tenth is 2,000 with a standard error of 42.
    assert np.histogram(drawn, bins=10, range=(0, 1))[0] == pytest.approx([2_000] * 10, abs=5 * 42)


@pytest.mark.parametrize(("seed", "expected"), [(0, "dcaegfhib"), (7, "beghcafdi")])
def test_a_published_sample_can_be_drawn_again(seed: int, expected: str) -> None:
    assert order("sampling", seed) == expected


@pytest.mark.parametrize("name", [name for name, kind in STRATEGIES.items() if kind.make.random])
def test_another_seed_or_query_is_another_draw_and_the_same_is_the_same(name: str) -> None:
    orders = [order(name, seed, query) for seed, query in product(range(4), ("q1", "q2"))]

    assert orders == [order(name, seed, query) for seed, query in product(range(4), ("q1", "q2"))]
    assert len(set(orders)) == 8


@pytest.mark.parametrize("name", [name for name, kind in STRATEGIES.items() if not kind.make.random])
def test_where_chance_has_no_part_a_seed_changes_nothing(name: str) -> None:
    if not STRATEGIES[name].needs_scores:
        assert len({order(name, seed) for seed in range(4)}) == 1


@pytest.mark.parametrize(
    ("told", "chance"),
    [
        # Beta(1 + relevant, 1 + not) against a uniform number: (1 + relevant) / (2 + judged).
        ("", 1 / 2),
        ("+", 2 / 3),
        ("-", 1 / 3),
        ("+++-", 4 / 6),
        ("-----", 1 / 7),
    ],
)
def test_thompson_plays_a_run_with_the_chance_that_it_is_the_better_one(told: str, chance: float) -> None:
    one = query_of("abcdefgh", "stuvwxyz")
    played = 0
    for seed in range(300):
        strategy = STRATEGIES["thompson"].start({"q": one}, seed=seed)
        for document, sign in zip("abcdefgh", told, strict=False):
            strategy.tell("q", document, sign == "+")
        played += strategy.next("q")[0] < "i"

    assert played / 300 == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / 300))


@pytest.mark.parametrize("seed", range(5))
def test_the_probabilities_of_a_sample_grow_with_it_to_certainty(seed: int) -> None:
    strategy = STRATEGIES["sampling"].start({"q1": ONE}, seed=seed)
    assert isinstance(strategy, Sampling)
    taken = [ONE.number[document] for document in strategy.next("q1", 100)]
    found = [strategy.probabilities_after(ONE, count) for count in range(len(ONE) + 1)]

    for count, probability in enumerate(found):
        assert sorted(taken[:count]) == np.flatnonzero(~np.isnan(probability)).tolist()
        assert all(0 < one <= 1 for one in probability[taken[:count]])
    for smaller, larger in pairwise(found):
        known = ~np.isnan(smaller)
        assert (larger[known] >= smaller[known] - 1e-12).all()
    assert found[-1].tolist() == [1.0] * len(ONE)
    # Sizes are 1/(30 + place in RRF order): of two that are both drawn the lower place was no likelier.
    for probability in found:
        assert all(upper >= lower for upper, lower in pairwise(probability[~np.isnan(probability)]))


def test_a_sample_is_what_its_labels_follow() -> None:
    strategy = STRATEGIES["sampling"].start({"q1": ONE}, seed=1)
    for document in strategy.next("q1", 4):
        strategy.tell("q1", document, True)

    assert isinstance(strategy, Sampling)
    assert np.array_equal(strategy.probabilities(ONE), strategy.probabilities_after(ONE, 4), equal_nan=True)
    assert STRATEGIES["depth"].start({"q1": ONE}).probabilities(ONE) is None
