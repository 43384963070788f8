"""The signs of implausible work, on small cases computed by hand."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.gold.signs import (
    FEWEST,
    MODEL_FLOOR,
    UNOPENED_FLOOR,
    Answer,
    Finding,
    Others,
    combined,
    examined,
    others_of,
)


def found(answers: list[Answer], others: Others | None = None) -> Finding:
    finding = examined(answers, others or Others({}))
    assert finding
    return finding


def chance(name: str, answers: list[Answer], others: Others | None = None) -> float:
    return next(sign.chance for sign in found(answers, others).signs if sign.name == name)


def slow(said: list[bool], size: int = 10, **more: bool) -> list[Answer]:
    return [Answer(at // size, relevant, is_fast=False, **more) for at, relevant in enumerate(said)]


def test_too_few_answers_show_nothing() -> None:
    assert examined([Answer(1, True, is_fast=True)] * (FEWEST - 1), Others({})) is None


def test_the_chance_of_speed_is_a_binomial_tail() -> None:
    fast = [Answer(at // 10, at % 3 == 0, is_fast=at > 0) for at in range(20)]
    # 19 or 20 of 20, each with 0.75.
    assert chance("speed", fast) == pytest.approx(20 * 0.75**19 * 0.25 + 0.75**20)


@given(st.lists(st.booleans(), min_size=2, max_size=7))
def test_the_chance_of_alternating_is_exact(said: list[bool]) -> None:
    orders = Counter(sum(a != b for a, b in pairwise(one)) for one in permutations(said))
    changes = sum(a != b for a, b in pairwise(said))
    exact = sum(many for at, many in orders.items() if at >= changes) / orders.total()
    # The rest are queries with one verdict each, which cannot change.
    answers = slow(said, size=len(said)) + [Answer(100 + at, True, is_fast=False) for at in range(FEWEST)]
    assert chance("alternation", answers) == pytest.approx(exact)


def test_a_run_is_as_likely_as_the_others_let_expect() -> None:
    always_no = slow([False] * 40)
    half = Others(dict.fromkeys(range(4), (5, 10)))
    rarely = Others(dict.fromkeys(range(4), (0, 10)))
    assert chance("one_answer", always_no, half) < 1e-4
    assert chance("one_answer", always_no, rarely) > 0.2
    # Nobody else has judged: the queue may have next to nothing relevant.
    assert not found(always_no).is_implausible


def test_the_model_and_unopened_documents_never_lead_to_a_proposal_alone() -> None:
    said = [at % 3 == 0 for at in range(60)]
    against = [Answer(at // 10, one, False, model=not one, opened=False) for at, one in enumerate(said)]
    others = others_of([Answer(7, True, False, model=True, opened=True)] * 40)
    assert chance("model", against, others) == MODEL_FLOOR
    assert chance("unopened", against, others) == UNOPENED_FLOOR
    assert not found(against, others).is_implausible
    assert any("0 of 60 answers agree" in sentence for sentence in found(against, others).sentences)


def test_clicking_one_answer_and_alternating_are_proposed() -> None:
    assert found([Answer(at // 10, at % 3 == 0, is_fast=True) for at in range(50)]).is_implausible
    assert found(slow([at % 2 == 0 for at in range(50)])).is_implausible
    others = Others(dict.fromkeys(range(10), (4, 10)))
    assert found(slow([True] * 100), others).is_implausible
    careful = slow([at % 10 < 3 for at in range(100)])
    assert not found(careful, others).is_implausible


def test_independent_signs_combine_to_the_chance_of_their_product() -> None:
    # P(UV ≤ .01) = .01 (1 - ln .01), counted on a grid of midpoints.
    steps = [(at + 0.5) / 1000 for at in range(1000)]
    hits = sum(a * b <= 0.01 for a, b in product(steps, steps)) / 1000**2
    assert combined([0.1, 0.1]) == pytest.approx(hits, rel=0.01)
