"""Skill of each annotator, and the chance of each pair to be relevant, from their verdicts alone.

The model of Dawid and Skene (1979), for two classes: every annotator finds a relevant pair relevant with one
probability (sensitivity) and a pair that is not relevant not relevant with another (specificity). Fitted by
expectation maximisation with weak priors, so that somebody with three verdicts is not taken for perfect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pooling.heavy import Booleans, Floats, Integers, np

TOLERANCE = 1e-6
MOST_ROUNDS = 100
# Keeps logarithms finite when no prior does.
LEAST = 1e-10


class Priors(NamedTuple):
    """Numbers added to the counts.

    right, wrong: verdicts of each annotator in each class. prevalence: pairs of each class.
    """

    right: float = 4.0
    wrong: float = 1.0
    prevalence: float = 1.0


WEAK = Priors()


@dataclass(frozen=True)
class Fitted:
    """`relevant`: probability of each pair; `sensitivity` and `specificity` of each annotator."""

    relevant: Floats
    sensitivity: Floats
    specificity: Floats
    prevalence: float
    rounds: int


def dawid_skene(
    pair: Integers,
    annotator: Integers,
    relevant: Booleans,
    *,
    gold_answers: Floats | None = None,
    priors: Priors = WEAK,
    constrained: bool = True,
) -> Fitted:
    """Fit the model to verdicts given as three arrays of one length: number of the pair, number of the
    annotator (both from 0 without gaps), and whether the verdict was relevant.

    `gold_answers` holds 1 or 0 for pairs whose answer is given and NaN for the others. `constrained` keeps
    sensitivity + specificity at 1 or above: without it somebody who mostly contradicts the others would
    count the other way round, and enough of such would turn all labels.
    `ValueError` without verdicts.
    """
    if not len(pair):
        raise ValueError("There is no verdict to fit.")
    verdicts = _Verdicts(pair, annotator, relevant.astype(np.float64), priors, constrained)
    chance = verdicts.share_of_votes()
    fixed = np.zeros(len(chance), dtype=bool) if gold_answers is None else ~np.isnan(gold_answers)
    if gold_answers is not None:
        chance = np.where(fixed, gold_answers, chance)
    rounds = 0
    for rounds in range(1, MOST_ROUNDS + 1):  # noqa: B007 (how many it took is told)
        sensitivity, specificity, prevalence = verdicts.abilities(chance)
        before, chance = chance, verdicts.chance(sensitivity, specificity, prevalence)
        chance = np.where(fixed, before, chance)
        if np.abs(chance - before).max() < TOLERANCE:
            break
    return Fitted(chance, sensitivity, specificity, prevalence, rounds)


@dataclass(frozen=True)
class _Verdicts:
    pair: Integers
    annotator: Integers
    relevant: Floats
    priors: Priors
    constrained: bool

    def share_of_votes(self) -> Floats:
        return np.bincount(self.pair, weights=self.relevant) / np.bincount(self.pair)

    def abilities(self, chance: Floats) -> tuple[Floats, Floats, float]:
        yes, no = chance[self.pair], 1 - chance[self.pair]
        sensitivity = self._share_right(yes * self.relevant, yes)
        specificity = self._share_right(no * (1 - self.relevant), no)
        if self.constrained:
            # A contrarian's verdicts then carry no information, instead of carrying it inverted.
            short = np.maximum(1 - sensitivity - specificity, 0) / 2
            sensitivity, specificity = sensitivity + short, specificity + short
        added = self.priors.prevalence
        prevalence = (float(chance.sum()) + added) / (len(chance) + 2 * added)
        return sensitivity, specificity, prevalence

    def chance(self, sensitivity: Floats, specificity: Floats, prevalence: float) -> Floats:
        """The expectation step, as log odds."""
        yes = _log(sensitivity) - _log(1 - specificity)
        no = _log(1 - sensitivity) - _log(specificity)
        weight = np.where(self.relevant == 1, yes[self.annotator], no[self.annotator])
        odds = np.bincount(self.pair, weights=weight) + _log(prevalence) - _log(1 - prevalence)
        return np.asarray(1 / (1 + np.exp(-np.clip(odds, -700, 700))))

    def _share_right(self, right: Floats, of: Floats) -> Floats:
        """By annotator; a half for who met no pair of the class when no prior says otherwise."""
        counted = np.bincount(self.annotator, weights=right) + self.priors.right
        total = np.bincount(self.annotator, weights=of) + self.priors.right + self.priors.wrong
        half: Floats = np.full_like(counted, 0.5)
        return np.asarray(np.divide(counted, total, out=half, where=total > 0))


def _log(value: Floats | float) -> Floats:
    return np.asarray(np.log(np.maximum(value, LEAST)))
