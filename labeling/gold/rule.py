"""The rule on answers to gold questions: intervals, and an advice: continue, warn or pause.

Always answering "no" is right nine times in ten where one document in ten is relevant. So the measure is the
balanced accuracy: the mean of sensitivity (the share of relevant pairs that were called relevant) and
specificity (the share of the others that were called not relevant). "Can't judge" is neither right nor wrong.

Without Django; `labeling/gold/posterior.py` has the mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from labeling.gold.posterior import PAUSE, WARN, chance_below_floor

# Below this many answers no share is worth reading; the rule takes that into account by itself.
ENOUGH_TO_READ = 16


class Advice(StrEnum):
    CONTINUE = "continue"
    WARN = "warn"
    PAUSE = "pause"


@dataclass(frozen=True)
class Score:
    relevant_right: int = 0
    relevant_wrong: int = 0
    not_relevant_right: int = 0
    not_relevant_wrong: int = 0

    @property
    def answers(self) -> int:
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


@lru_cache(maxsize=4096)
def advice(score: Score) -> Advice:
    """Continue, warn or pause, to be asked after every answer.

    Each share has a Beta posterior. Pause when their mean is below the floor with a probability of 98.5 %,
    warn at 80 %. The prior keeps the first slips from deciding; a right answer never makes it worse.

    >>> advice(Score(relevant_right=4, not_relevant_right=5))
    <Advice.CONTINUE: 'continue'>
    >>> advice(Score(relevant_wrong=7, not_relevant_right=6))
    <Advice.PAUSE: 'pause'>
    """
    right = score.relevant_right, score.not_relevant_right
    chance = chance_below_floor(right, (score.relevant_wrong, score.not_relevant_wrong))
    if chance >= PAUSE:
        return Advice.PAUSE
    return Advice.WARN if chance >= WARN else Advice.CONTINUE


def _share(right: int, wrong: int) -> float | None:
    return right / (right + wrong) if right + wrong else None
