"""Orders that no label changes: their scores written out slowly, and what no fusion may do."""

from __future__ import annotations

from fractions import Fraction
from math import log2
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooling.strategies import STRATEGIES, Candidates
from tests.pooling.pools_at_random import query_of

Ranks = list[dict[str, int]]

lists = st.lists(
    st.lists(st.sampled_from("abcdef"), min_size=1, unique=True).map("".join), min_size=1, max_size=4
)


def order(name: str, one: Candidates, seed: int = 0) -> list[str]:
    return STRATEGIES[name].start({one.query_id: one}, seed=seed).next(one.query_id, 100)


def fused(some: list[str]) -> dict[str, Fraction]:
    """Σ 1/(60 + rank), exactly."""
    places = [(document, rank) for run in some for rank, document in enumerate(run, start=1)]
    return {
        one: sum((Fraction(1, 60 + rank) for d, rank in places if d == one), Fraction()) for one, _ in places
    }


def depth(some: list[str], document: str) -> Fraction:
    return -Fraction(min(run.index(document) for run in some if document in run))


def rrf(some: list[str], document: str) -> Fraction:
    return fused(some)[document]


def borda(some: list[str], document: str) -> Fraction:
    """The first of n documents gets n points, the next n - 1 …; those not found share what is left."""
    n = len({d for run in some for d in run})
    points = Fraction()
    for run in some:
        left = n - len(run)
        points += n - run.index(document) if document in run else Fraction(sum(range(1, left + 1)), left)
    return points


def rbp(some: list[str], document: str) -> Fraction:
    ranks = [run.index(document) for run in some if document in run]
    return sum((Fraction(1, 5) * Fraction(4, 5) ** rank for rank in ranks), Fraction())


def disagreement(some: list[str], document: str) -> Fraction:
    """The entropy of the votes, rounded where half of them and the other half are the same."""
    share = sum(document in run for run in some) / len(some)
    entropy = -sum(part * log2(part) for part in (share, 1 - share) if part)
    return Fraction(round(entropy, 9))


@given(some=lists)
def test_a_fixed_order_is_that_of_its_definition(some: list[str]) -> None:
    sums = fused(some)
    for score in (depth, rrf, borda, rbp, disagreement):
        scores = {document: score(some, document) for document in sums}
        wanted = sorted(sums, key=lambda one: (scores[one], sums[one], one), reverse=True)
        found = order(score.__name__, query_of(*some))
        # Floats can tell fractions that are equal from one another: scores are compared, not names.
        assert [scores[one] for one in found] == [scores[one] for one in wanted], score.__name__
        if score in (depth, rrf, disagreement):
            assert found == wanted, score.__name__


@settings(max_examples=20)
@given(some=lists, chance=st.randoms(use_true_random=False))
def test_no_run_counts_more_for_being_named_first(some: list[str], chance: Any) -> None:
    other = chance.sample(some, len(some))

    for name in ("depth", "rrf", "borda", "rbp", "disagreement", "sampling"):
        assert order(name, query_of(*some), seed=3) == order(name, query_of(*other), seed=3), name


@settings(max_examples=20)
@given(some=lists, data=st.data())
def test_what_every_run_prefers_comes_first(some: list[str], data: st.DataObject) -> None:
    upper, lower = data.draw(st.permutations("ghxy"))[:2]
    # Each run has both, with whatever it found between and around them.
    cut = data.draw(st.lists(st.integers(0, 6), min_size=len(some), max_size=len(some)))
    with_both = [f"{run[:at]}{upper}{run[at:]}{lower}" for run, at in zip(some, cut, strict=True)]

    for name in ("depth", "rrf", "borda", "rbp"):
        found = order(name, query_of(*with_both))
        assert found.index(upper) < found.index(lower), name


@settings(max_examples=20)
@given(documents=st.permutations("abcdefgh"), copies=st.integers(1, 4))
def test_of_runs_that_agree_the_order_is_theirs(documents: list[str], copies: int) -> None:
    one = query_of(*["".join(documents)] * copies)

    for name in ("depth", "rrf", "borda", "rbp", "disagreement"):
        assert order(name, one) == documents, name


@settings(max_examples=20)
@given(some=lists, cut=st.integers(1, 5))
def test_the_depth_pool_begins_with_every_shallower_one(some: list[str], cut: int) -> None:
    shallow = query_of(*some, depth=cut)

    assert set(order("depth", query_of(*some))[: len(shallow)]) == set(shallow.documents)


@settings(max_examples=20)
@given(some=lists)
def test_a_run_without_a_find_for_a_query_changes_no_sum(some: list[str]) -> None:
    for name in ("depth", "rrf", "rbp", "borda"):
        assert order(name, query_of(*some, "")) == order(name, query_of(*some)), name


@pytest.mark.parametrize(
    ("name", "some", "expected"),
    [
        (
            "depth",
            ["abc", "cd"],
            "cadb",
        ),  # best ranks a 1, b 2, c 1, d 2; c is in both, and d's id is the higher
        ("rrf", ["ab", "cb"], "bca"),  # b: 2/62 against 1/61
        (
            "borda",
            ["abc", "dba"],
            "abdc",
        ),  # a 4 + 2, b 3 + 3, c 2 + 1, d 1 + 4; a and b tie, rrf has a above b
        ("rbp", ["abc", "dbc", "ebc"], "bceda"),  # b .48, c .384, then .2 each: by id, falling
        ("disagreement", ["ab", "ac", "ad"], "dcba"),  # all three found a
    ],
)
def test_small_orders_by_hand(name: str, some: list[str], expected: str) -> None:
    assert "".join(order(name, query_of(*some))) == expected
