"""The rule for answers to gold questions: its intervals, its decisions, and how often it errs."""

from __future__ import annotations

import random
import re
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from labeling.consensus.shares import wilson
from labeling.gold.places import FIRST_ITEMS, Shares, gold_places, wants_relevant
from labeling.gold.posterior import (
    PAUSE,
    WARN,
    chance_below,
    chance_below_floor,
)
from labeling.gold.rule import Advice, Score, advice

GUIDE = Path(__file__).resolve().parents[3] / "templates" / "docs" / "quality.md"
ANNOTATORS = {
    "right 95 % of the time": (0.95, 0.95),
    "right 90 %": (0.9, 0.9),
    "right 85 %": (0.85, 0.85),
    "right 80 %": (0.8, 0.8),
    "right 75 %": (0.75, 0.75),
    "right 70 %": (0.7, 0.7),
    "right 60 %": (0.6, 0.6),
    "answers at random": (0.5, 0.5),
    "always “not relevant”": (0.0, 1.0),
}
LOOKS = (10, 20, 30, 50, 100, 200, 300)
SEVERITY = [Advice.CONTINUE, Advice.WARN, Advice.PAUSE]


@pytest.mark.parametrize(
    ("right", "answers", "low", "high"),
    [
        (9, 10, 0.5958, 0.9821),
        (18, 20, 0.6990, 0.9721),
        (45, 50, 0.7864, 0.9565),
        (0, 0, 0, 1),
        (5, 5, 0.5655, 1),
    ],
)
def test_wilson_intervals_are_those_of_the_formula(right: int, answers: int, low: float, high: float) -> None:
    assert wilson(right, answers) == pytest.approx((low, high), abs=5e-5)


def test_sensitivity_specificity_and_their_mean_by_hand() -> None:
    score = Score(relevant_right=3, relevant_wrong=1, not_relevant_right=1, not_relevant_wrong=1)
    assert (score.answers, score.sensitivity, score.specificity) == (6, 0.75, 0.5)
    assert score.balanced_accuracy == 0.625
    assert Score(relevant_right=3).balanced_accuracy is None


def test_nobody_is_judged_by_nothing() -> None:
    assert advice(Score()) == Advice.CONTINUE


def test_always_no_is_caught_however_right_it_is_on_the_others() -> None:
    assert advice(Score(relevant_wrong=7, not_relevant_right=6)) == Advice.PAUSE
    assert advice(Score(relevant_wrong=9, not_relevant_right=200)) == Advice.PAUSE


def test_a_warning_comes_before_a_pause() -> None:
    seen = [advice(Score(relevant_wrong=wrong, not_relevant_right=6)) for wrong in range(8)]
    assert seen == [Advice.CONTINUE] * 3 + [Advice.WARN] * 4 + [Advice.PAUSE]


@pytest.mark.parametrize(
    ("right", "wrong"), [((0, 0), (0, 0)), ((3, 4), (1, 0)), ((0, 0), (0, 39)), ((120, 119), (30, 31))]
)
def test_the_posterior_is_that_of_two_betas(right: tuple[int, int], wrong: tuple[int, int]) -> None:
    shares = [stats.beta(4 + a, 1 + b) for a, b in zip(right, wrong, strict=True)]
    both = quad(lambda x: shares[0].pdf(x) * shares[1].cdf(1.6 - x), 0.6, 1, epsabs=1e-12, limit=500)
    assert chance_below_floor(right, wrong) == pytest.approx(shares[0].cdf(0.6) + both[0], abs=1e-9)


def test_the_rule_at_the_scores_where_it_once_got_stricter_by_a_right_answer() -> None:
    assert [advice(Score(right, 0, 39, 39)) for right in range(4)] == [Advice.PAUSE] * 4


@cache
def severities(relevant: int, not_relevant: int) -> npt.NDArray[np.int_]:
    """What the rule says of every score with so many answers, by the wrong ones of both kinds."""
    chance = chance_below((relevant, not_relevant), (relevant, not_relevant))
    return (chance >= WARN).astype(int) + (chance >= PAUSE)


def test_one_more_right_answer_never_makes_it_worse_up_to_60_answers() -> None:
    for relevant, not_relevant in product(range(31), range(31)):
        seen = severities(relevant, not_relevant)
        assert (np.diff(seen, axis=0) >= 0).all()  # one wrong answer fewer
        assert (np.diff(seen, axis=1) >= 0).all()
        assert (severities(relevant + 1, not_relevant)[:-1] <= seen).all()  # one right answer more
        assert (severities(relevant, not_relevant + 1)[:, :-1] <= seen).all()


counts = st.integers(0, 75)


@given(counts, counts, counts, counts)
def test_one_more_right_answer_never_makes_it_worse(a: int, b: int, c: int, d: int) -> None:
    before = SEVERITY.index(advice(Score(a, b, c, d)))
    better = [Score(a + 1, b, c, d), Score(a, b, c + 1, d)]
    better += [Score(a, b, c + 1, max(0, d - 1)), Score(a + 1, max(0, b - 1), c, d)]
    assert all(SEVERITY.index(advice(score)) <= before for score in better)
    assert before == severities(a + b, c + d)[b, d]


@given(counts, counts, counts, counts)
def test_both_answers_are_treated_alike(a: int, b: int, c: int, d: int) -> None:
    assert advice(Score(a, b, c, d)) == advice(Score(c, d, a, b))


def pause_shares(sensitivity: float, specificity: float, answers: int) -> list[float]:
    """The probability to be paused by the 1st, 2nd, … answer, for an annotator with these two shares.

    Exact, by dynamic programming over what can have happened, for gold questions that are relevant and not
    relevant in turn.
    """
    going_on = np.ones((1, 1))
    paused, shares = 0.0, []
    for answer in range(answers):
        axis, right = answer % 2, (sensitivity, specificity)[answer % 2]
        stays, grows = ((0, 0), (0, 1)), ((0, 0), (1, 0))
        if axis == 0:
            stays, grows = stays[::-1], grows[::-1]
        going_on = right * np.pad(going_on, stays) + (1 - right) * np.pad(going_on, grows)
        stopped = _stopped((answer + 2) // 2, (answer + 1) // 2)
        paused += float(going_on[stopped].sum())
        going_on[stopped] = 0.0
        shares.append(paused)
    return shares


def mean_answers_to_pause(shares: list[float]) -> float | None:
    """The mean number of answers after which those are paused who are, of `pause_shares`; None for nobody."""
    steps = [later - earlier for earlier, later in zip([0.0, *shares], shares, strict=False)]
    if not shares or not shares[-1]:
        return None
    return sum(place * step for place, step in enumerate(steps, start=1)) / shares[-1]


@cache
def _stopped(relevant: int, not_relevant: int) -> npt.NDArray[np.bool_]:
    """Scores after this many answers that the rule pauses, by the wrong ones of both kinds."""
    counts = relevant, not_relevant
    stopped: npt.NDArray[np.bool_] = chance_below(counts, counts) >= PAUSE
    return stopped


def test_the_exact_error_rates_are_those_of_a_simulation() -> None:
    draw, paused = random.Random(7), 0
    for _ in range(2000):
        score = Score()
        for answer in range(20):
            is_right = draw.random() < 0.6
            kind = ("relevant", "not_relevant")[answer % 2] + ("_right" if is_right else "_wrong")
            score = Score(**{**score.__dict__, kind: getattr(score, kind) + 1})
            if advice(score) == Advice.PAUSE:
                paused += 1
                break
    assert paused / 2000 == pytest.approx(pause_shares(0.6, 0.6, 20)[-1], abs=0.04)


def test_careful_people_are_left_alone_and_careless_ones_are_not() -> None:
    by_the_end = {name: pause_shares(*shares, 300) for name, shares in ANNOTATORS.items()}
    assert by_the_end["right 95 % of the time"][-1] < 0.0001
    assert by_the_end["right 90 %"][-1] < 0.0005
    assert by_the_end["right 85 %"][-1] <= 0.005
    assert by_the_end["answers at random"][49] >= 0.985
    assert by_the_end["right 60 %"][99] > 0.98
    assert pause_shares(0.0, 1.0, 13)[-1] == pytest.approx(1)


def error_rates() -> str:
    """The guide's table, computed."""
    rows = [
        "| annotator | " + " | ".join(f"by {look}" for look in LOOKS) + " | mean, if paused |",
        "| --- " * (len(LOOKS) + 2) + "|",
    ]
    for name, shares in ANNOTATORS.items():
        paused = pause_shares(*shares, LOOKS[-1])
        cells = [f"{100 * paused[look - 1]:.1f} %" for look in LOOKS]
        mean = mean_answers_to_pause(paused)
        rows.append(f"| {name} | {' | '.join(cells)} | {mean:.0f} |")
    return "\n".join(rows)


def test_the_guide_shows_the_computed_error_rates() -> None:
    table = re.search(r"\| annotator \| by 10.*?(?=\n\n)", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert table is not None
    assert table.group() == error_rates()


seeds = st.integers(0, 2**62)


@given(seeds)
def test_a_fifth_of_the_first_items_is_gold_and_a_twentieth_after(seed: int) -> None:
    places = gold_places(seed, 0, FIRST_ITEMS + 200, Shares(0.2, 0.05))
    assert sum(place < FIRST_ITEMS for place in places) == 5
    assert sum(place >= FIRST_ITEMS for place in places) == 10


@given(seeds, st.lists(st.integers(1, 12), min_size=1, max_size=20))
def test_the_places_do_not_hang_on_how_many_items_a_claim_asks_for(seed: int, claims: list[int]) -> None:
    shares, start = Shares(0.2, 0.05), 0
    found: list[int] = []
    for count in claims:
        found += gold_places(seed, start, count, shares)
        start += count
    assert found == gold_places(seed, 0, start, shares)


@given(seeds)
def test_half_of_the_gold_questions_are_relevant(seed: int) -> None:
    assert sum(wants_relevant(seed, number) for number in range(20)) == 10
    assert [wants_relevant(seed, 2 * pair) + wants_relevant(seed, 2 * pair + 1) for pair in range(9)] == [
        1
    ] * 9


def test_the_places_are_irregular_and_differ_between_people() -> None:
    streams = [tuple(gold_places(seed, 25, 2000, Shares(0.2, 0.05))) for seed in range(50)]
    assert len(set(streams)) == 50
    gaps = {later - earlier for stream in streams for earlier, later in pairwise(stream)}
    assert min(gaps) == 1
    assert max(gaps) > 35


def test_without_a_share_there_is_no_gold() -> None:
    assert gold_places(1, 0, 1000, Shares(0, 0)) == []
