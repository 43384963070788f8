"""Dawid and Skene's model: a round worked by hand, people of known ability, and crowd-kit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.consensus.rules import Fitted, Priors, dawid_skene

NONE = Priors(0, 0, 0)

Votes = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def votes(seed: int, people: list[tuple[float, float]], pairs: int = 400, share: float = 0.3) -> Votes:
    """Verdicts of everybody on every pair: pair, annotator, relevant; and the truth."""
    generator = np.random.default_rng(seed)
    truth = generator.random(pairs) < share
    found = [np.where(truth, generator.random(pairs) < s, generator.random(pairs) >= c) for s, c in people]
    pair = np.tile(np.arange(pairs), len(people))
    annotator = np.repeat(np.arange(len(people)), pairs)
    return pair, annotator, np.concatenate(found), truth


def agrees(fitted: Fitted, truth: np.ndarray) -> float:
    return float(((fitted.relevant > 0.5) == truth).mean())


def test_one_known_pair_gives_the_odds_worked_by_hand() -> None:
    # Ada's answer to the known pair 0 (relevant) was right: sensitivity at the end solves its own equation.
    fitted = dawid_skene(
        np.array([0, 1]), np.array([0, 0]), np.array([True, True]), gold_answers=np.array([1.0, np.nan])
    )
    chance = fitted.relevant[1]
    sensitivity = (4 + 1 + chance) / (5 + 1 + chance)
    specificity = 4 / (5 + 1 - chance)
    prevalence = (1 + 1 + chance) / (2 + 2)
    odds = math.log(sensitivity / (1 - specificity)) + math.log(prevalence / (1 - prevalence))
    assert fitted.sensitivity[0] == pytest.approx(sensitivity, abs=1e-4)
    assert fitted.specificity[0] == pytest.approx(specificity, abs=1e-4)
    assert chance == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-4)
    assert fitted.relevant[0] == 1


def test_it_finds_how_good_people_are_and_beats_the_majority() -> None:
    people = [(0.9, 0.95), (0.85, 0.9), (0.55, 0.5), (0.5, 0.55), (0.6, 0.5)]
    pair, annotator, relevant, truth = votes(7, people, pairs=2_000)
    fitted = dawid_skene(pair, annotator, relevant)
    assert fitted.sensitivity == pytest.approx([s for s, _ in people], abs=0.06)
    assert fitted.specificity == pytest.approx([c for _, c in people], abs=0.06)
    assert fitted.prevalence == pytest.approx(0.3, abs=0.05)
    majority = relevant.reshape(5, -1).sum(axis=0) > 2
    assert agrees(fitted, truth) > float((majority == truth).mean()) + 0.05


def test_known_answers_stay_and_expose_a_majority_that_is_wrong() -> None:
    people = [(0.95, 0.95), (0.5, 0.5), (0.5, 0.5)]
    pair, annotator, relevant, truth = votes(3, people)
    known = np.where(np.arange(400) < 60, truth, np.nan).astype(float)
    fitted = dawid_skene(pair, annotator, relevant, gold_answers=known)
    assert (fitted.relevant[:60] == truth[:60]).all()
    assert agrees(fitted, truth) > 0.9


def test_a_contrarian_carries_no_information_instead_of_turning_the_labels() -> None:
    pair, annotator, relevant, truth = votes(5, [(0.9, 0.9), (0.9, 0.9), (0.05, 0.05)])
    fitted = dawid_skene(pair, annotator, relevant)
    assert fitted.sensitivity[2] + fitted.specificity[2] == pytest.approx(1)
    assert agrees(fitted, truth) > 0.85


#: (pair, annotator, relevant): at most one verdict of a person on a pair, numbers without gaps.
said = st.lists(st.lists(st.none() | st.booleans(), min_size=3, max_size=3), min_size=2, max_size=7).map(
    lambda rows: [[True, True, False], *rows]
)


def as_arrays(rows: list[list[bool | None]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = [row for row in rows if any(one is not None for one in row)]
    found = [(at, who, one) for at, row in enumerate(rows) for who, one in enumerate(row) if one is not None]
    pair, annotator, relevant = (np.array(column) for column in zip(*found, strict=True))
    return pair, annotator, relevant


@settings(max_examples=15)
@given(rows=said)
def test_what_is_found_solves_the_equations_of_the_model(rows: list[list[bool | None]]) -> None:
    pair, annotator, relevant = as_arrays(rows)
    fitted = dawid_skene(pair, annotator, relevant)
    chance, verdicts = fitted.relevant, list(zip(pair, annotator, relevant, strict=True))
    # People, as the pairs are: who is right of what they met of each class, with 4 right and 1 wrong before.
    for who in range(3):
        met = [(chance[at], one) for at, person, one in verdicts if person == who]
        sensitivity = (4 + sum(c for c, one in met if one)) / (5 + sum(c for c, _ in met))
        specificity = (4 + sum(1 - c for c, one in met if not one)) / (5 + sum(1 - c for c, _ in met))
        short = max(1 - sensitivity - specificity, 0) / 2
        assert fitted.sensitivity[who] == pytest.approx(sensitivity + short, abs=1e-3)
        assert fitted.specificity[who] == pytest.approx(specificity + short, abs=1e-3)
    assert fitted.prevalence == pytest.approx((1 + sum(chance)) / (2 + len(chance)), abs=1e-3)
    # Pairs, as the people are: the odds of every verdict on them, times those of the class.
    for at in range(len(chance)):
        odds = fitted.prevalence / (1 - fitted.prevalence)
        for _, who, one in (verdict for verdict in verdicts if verdict[0] == at):
            s, c = fitted.sensitivity[who], fitted.specificity[who]
            odds *= s / (1 - c) if one else (1 - s) / c
        assert chance[at] == pytest.approx(odds / (1 + odds), abs=1e-3)


def test_somebody_with_three_verdicts_is_not_taken_for_perfect() -> None:
    # Ada and Ben agree on forty pairs, and Cleo joins them on three.
    truth = np.arange(40) % 2 == 0
    pair = np.concatenate([np.arange(40), np.arange(40), np.arange(3)])
    annotator = np.repeat([0, 1, 2], [40, 40, 3])
    fitted = dawid_skene(pair, annotator, np.concatenate([truth, truth, truth[:3]]))
    # Of the first three pairs two are relevant: 6 of 7 and 5 of 6.
    assert (fitted.sensitivity[2], fitted.specificity[2]) == pytest.approx((6 / 7, 5 / 6), abs=1e-2)
    assert fitted.sensitivity[0] > fitted.sensitivity[2]


def test_no_verdict_is_refused() -> None:
    with pytest.raises(ValueError, match="no verdict"):
        dawid_skene(np.array([], dtype=int), np.array([], dtype=int), np.array([], dtype=bool))


@pytest.mark.filterwarnings("ignore")
def test_without_priors_it_equals_crowd_kit() -> None:
    aggregation = pytest.importorskip(
        "crowdkit.aggregation", reason="Install crowd-kit to compare with its Dawid–Skene."
    )
    import pandas as pd

    pair, annotator, relevant, _ = votes(11, [(0.9, 0.8), (0.7, 0.9), (0.8, 0.6), (0.6, 0.95)])
    frame = pd.DataFrame({"task": pair, "worker": annotator, "label": relevant})
    theirs = aggregation.DawidSkene(n_iter=100, tol=1e-9).fit_predict_proba(frame)[True]
    ours = dawid_skene(pair, annotator, relevant, priors=NONE, constrained=False)
    assert ours.relevant == pytest.approx(theirs.sort_index().to_numpy(), abs=1e-3)
