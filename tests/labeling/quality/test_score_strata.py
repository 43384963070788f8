"""The plan of an audit by scores: bands, supposed rates and the numbers drawn, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.items.ordering import (
    PARTS,
    Candidate,
    order_keys,
    order_keys_in_parts,
    parts_of_draw,
    stretch_of,
)
from labeling.quality.strata import plan_by_scores


def test_bands_are_drawn_by_their_supposed_rates_and_pairs_without_a_score_on_their_own() -> None:
    # 400 pairs at 0.1, 100 at 0.8, 50 without: N·S = 400 · 0.3, 100 · 0.4, 50 · √(0.24 · 0.76) = 21.4.
    scores = np.concatenate([np.full(400, 0.1), np.full(100, 0.8), np.full(50, np.nan)])
    plan, numbers = plan_by_scores(scores, 182, 5)
    assert np.bincount(numbers).tolist() == [400, 100, 50]
    assert [(one.name, one.pairs, one.rests_on) for one in plan.strata] == [
        ("below 0.8", 400, "scores"),
        ("0.8 or more", 100, "scores"),
        ("no score", 50, "the other strata"),
    ]
    assert [one.rate for one in plan.strata] == pytest.approx([0.1, 0.8, 0.24])
    # The last would get 21 and gets the least; 152 are left, by 3 to 1.
    assert [one.drawn for one in plan.strata] == [114, 38, 30]
    assert (plan.population, plan.drawn) == (550, 182)


def test_twenty_blind_labels_of_a_band_say_more_than_its_scores() -> None:
    scores = np.repeat([0.1, 0.8], [400, 100])
    known = np.repeat([0.1, 0.8], [20, 19])
    relevant = np.concatenate([np.arange(20) < 10, np.ones(19, dtype=bool)])
    plan, _ = plan_by_scores(scores, 100, 2, labelled_scores=known, labelled_relevant=relevant)
    first, second = plan.strata
    assert (first.rate, first.rests_on, first.labels) == (pytest.approx(11 / 22), "labels", 20)
    assert (second.rate, second.rests_on, second.labels) == (pytest.approx(0.8), "scores", 19)


def test_a_plan_says_what_is_drawn_and_foretells_no_interval() -> None:
    plan, _ = plan_by_scores(np.full(1200, 0.3), 160, 2)
    facts = plan.facts()
    assert (plan.strata[0].name, facts["half_width"], facts["simple_half_width"]) == (
        "all scores",
        None,
        None,
    )
    assert facts["sentence"].startswith("160 of 1,200 pairs are drawn. How surely they tell")


def test_scores_alone_are_not_believed_to_be_sure() -> None:
    plan, _ = plan_by_scores(np.repeat([0.0, 1.0], 500), 100, 2)
    assert [one.rate for one in plan.strata] == [pytest.approx(0.1), 0.9]


def test_what_cannot_be_planned_is_refused_with_what_it_takes() -> None:
    scores = np.repeat([0.1, 0.5, 0.9], 100)
    with pytest.raises(
        ValueError, match="80 pairs are too few for 3 strata with at least 30 each: it takes 90"
    ):
        plan_by_scores(scores, 80, 3)
    with pytest.raises(ValueError, match=r"4 strata .* takes 91, .* holds the pairs without a score"):
        plan_by_scores([*scores, np.nan], 90, 3)
    with pytest.raises(ValueError, match="there are 300"):
        plan_by_scores(scores, 301, 3)
    with pytest.raises(ValueError, match="has a score"):
        plan_by_scores([np.nan] * 40, 30, 3)


@given(
    st.lists(st.one_of(st.floats(0, 1), st.just(np.nan)), min_size=2, max_size=200),
    st.integers(1, 6),
    st.floats(0, 1),
)
def test_strata_part_all_pairs_and_weights_sum_to_the_population(
    scores: list[float], strata: int, share: float
) -> None:
    if np.isnan(scores).all():
        scores[0] = 0.5
    least = 2
    sizes = np.bincount(plan_by_scores(scores, len(scores), strata, least=least)[1])
    floor = int(np.minimum(sizes[sizes > 0], least).sum())
    plan, numbers = plan_by_scores(scores, floor + int(share * (len(scores) - floor)), strata, least=least)
    assert np.bincount(numbers).tolist() == [one.pairs for one in plan.strata]
    assert all(min(one.pairs, least) <= one.drawn <= one.pairs for one in plan.strata)
    weights = [one.drawn * (one.pairs / one.drawn) for one in plan.strata]
    assert sum(weights) == pytest.approx(len(scores))


def test_a_sample_is_judged_in_parts_that_are_each_a_part_of_every_stratum() -> None:
    drawn = [[[f"q{at % 3}", f"a{at}"] for at in range(40)], [[f"q{at % 3}", f"b{at}"] for at in range(12)]]
    parts = parts_of_draw({"drawn": drawn})
    for stratum in drawn:
        of = [parts[query, document] for query, document in stratum]
        assert of == sorted(of)
        assert np.bincount(of).tolist() == [len(stratum) // PARTS] * PARTS
    assert parts_of_draw({"runs": ["a"]}) == {}
    pairs = [Candidate(*pair) for stratum in drawn for pair in stratum]
    numbers = [parts[pair.query, pair.document] for pair in pairs]
    keys = order_keys_in_parts(pairs, numbers, 5)
    for part in range(1, PARTS):
        before = [key for key, one in zip(keys, numbers, strict=True) if one < part]
        after = [key for key, one in zip(keys, numbers, strict=True) if one >= part]
        assert stretch_of(max(before)) < stretch_of(min(after))
    assert order_keys_in_parts(pairs, [0] * len(pairs), 5) == order_keys(pairs, 5)
