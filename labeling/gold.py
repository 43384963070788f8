"""What answers to gold questions say of an annotator: intervals, and a rule: continue, warn or pause.

Always answering "no" is right nine times in ten where one document in ten is relevant. So the measure is the
balanced accuracy: the mean of sensitivity (the share of relevant pairs that were called relevant) and
specificity (the share of the others that were called not relevant). "Can't judge" is neither right nor wrong.

Without Django; how often the rule errs is computed exactly by `pause_shares`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

# Both shares start from Beta(4, 1): people are careful until they show otherwise. The same prior as in the
# Dawid-Skene rule.
PRIOR_RIGHT, PRIOR_WRONG = 4.0, 1.0
# Whoever is surely below this balanced accuracy costs more in second opinions than they bring.
FLOOR = 0.80
# One-sided bounds of the normal distribution: 95 % to pause, 80 % to warn.
PAUSE_Z, WARN_Z = 1.6449, 0.8416
# Below so many answers no share is worth reading; the rule takes that into account by itself.
ENOUGH_TO_READ = 16
TWO_SIDED_95 = 1.959964


class Advice(StrEnum):
    """What to do about an annotator."""

    CONTINUE = "continue"
    WARN = "warn"
    PAUSE = "pause"


@dataclass(frozen=True)
class Score:
    """Right and wrong answers to gold questions, by what the right answer was."""

    relevant_right: int = 0
    relevant_wrong: int = 0
    not_relevant_right: int = 0
    not_relevant_wrong: int = 0

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return self.relevant_right + self.relevant_wrong + self.not_relevant_right + self.not_relevant_wrong

    @property
    def sensitivity(self) -> float | None:
        """The share of relevant gold questions answered so; None without any."""
        return _share(self.relevant_right, self.relevant_wrong)

    @property
    def specificity(self) -> float | None:
        """The share of not relevant gold questions answered so; None without any."""
        return _share(self.not_relevant_right, self.not_relevant_wrong)

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean of both; None until each has an answer."""
        if self.sensitivity is None or self.specificity is None:
            return None
        return (self.sensitivity + self.specificity) / 2


def wilson(right: float, answers: float, z: float = TWO_SIDED_95) -> tuple[float, float]:
    """The Wilson interval of a share (E. B. Wilson, 1927), 95 % unless `z` says otherwise.

    >>> [round(bound, 2) for bound in wilson(9, 10)]
    [0.6, 0.98]
    """
    if not answers:
        return 0.0, 1.0
    share, part = right / answers, z * z / answers
    centre = (share + part / 2) / (1 + part)
    half = z * sqrt(share * (1 - share) / answers + part / (4 * answers)) / (1 + part)
    return max(0.0, centre - half), min(1.0, centre + half)


def advice(score: Score) -> Advice:
    """Continue, warn or pause, to be asked after every answer.

    Each share has a Beta posterior; their mean is taken to be normal with its mean and variance. Pause when
    the upper 95 % bound is below `FLOOR`, warn when the upper 80 % bound is. The prior keeps the first slips
    from deciding.

    >>> advice(Score(relevant_right=4, not_relevant_right=5))
    <Advice.CONTINUE: 'continue'>
    >>> advice(Score(relevant_wrong=5, not_relevant_right=4))
    <Advice.PAUSE: 'pause'>
    """
    relevant = _posterior(score.relevant_right, score.relevant_wrong)
    not_relevant = _posterior(score.not_relevant_right, score.not_relevant_wrong)
    mean = (relevant[0] + not_relevant[0]) / 2
    deviation = sqrt(relevant[1] + not_relevant[1]) / 2
    if mean + PAUSE_Z * deviation < FLOOR:
        return Advice.PAUSE
    return Advice.WARN if mean + WARN_Z * deviation < FLOOR else Advice.CONTINUE


def pause_shares(sensitivity: float, specificity: float, answers: int) -> list[float]:
    """The probability to be paused by the 1st, 2nd, … answer, for an annotator with these two shares.

    Exact, by dynamic programming over what can have happened, for gold questions that are relevant and not
    relevant in turn.
    """
    going_on = {Score(): 1.0}
    paused, shares = 0.0, []
    for answer in range(answers):
        after: defaultdict[Score, float] = defaultdict(float)
        for score, weight in going_on.items():
            for outcome, share in _outcomes(score, answer % 2 == 0, sensitivity, specificity):
                after[outcome] += weight * share
        going_on = {score: weight for score, weight in after.items() if advice(score) != Advice.PAUSE}
        paused += sum(weight for score, weight in after.items() if score not in going_on)
        shares.append(paused)
    return shares


def mean_answers_to_pause(shares: list[float]) -> float | None:
    """The mean number of answers after which those are paused who are, of `pause_shares`; None for nobody."""
    steps = [later - earlier for earlier, later in zip([0.0, *shares], shares, strict=False)]
    if not shares or not shares[-1]:
        return None
    return sum(place * step for place, step in enumerate(steps, start=1)) / shares[-1]


def _share(right: int, wrong: int) -> float | None:
    return right / (right + wrong) if right + wrong else None


def _posterior(right: int, wrong: int) -> tuple[float, float]:
    """Mean and variance of the Beta posterior."""
    above, below = PRIOR_RIGHT + right, PRIOR_WRONG + wrong
    total = above + below
    return above / total, above * below / (total * total * (total + 1))


def _outcomes(
    score: Score, is_relevant: bool, sensitivity: float, specificity: float
) -> list[tuple[Score, float]]:
    a, b, c, d = (
        score.relevant_right,
        score.relevant_wrong,
        score.not_relevant_right,
        score.not_relevant_wrong,
    )
    if is_relevant:
        return [(Score(a + 1, b, c, d), sensitivity), (Score(a, b + 1, c, d), 1 - sensitivity)]
    return [(Score(a, b, c + 1, d), specificity), (Score(a, b, c, d + 1), 1 - specificity)]
