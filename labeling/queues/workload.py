"""Work, cost and days of a queue before it is opened, by the rules that it then follows. No Django."""

from __future__ import annotations

import math
from dataclasses import dataclass

from labeling.gold.places import FIRST_ITEMS

DAYS_A_WEEK = 7


@dataclass(frozen=True)
class Terms:
    """Terms of judging and paying.

    tie_share: of pairs with an even number of judgments, how many are tied. overhead: share that is added to
    the price. seconds: active time for one judgment. hours_per_week: what one annotator works.
    gold_questions: the most that one person can be asked; None for enough.
    """

    judgments_per_item: int = 1
    most_judgments_per_item: int | None = None
    tie_share: float = 0.1
    gold_first_share: float = 0.0
    gold_share: float = 0.0
    gold_questions: int | None = None
    practice_questions: int = 0
    repeat_share: float = 0.0
    price: float = 0.0
    overhead: float = 0.0
    seconds: float = 20.0
    hours_per_week: float = 20.0

    @property
    def judgments_a_pair(self) -> float:
        """Expected judgments of one pair. Only an even number can tie, and the one more then decides.

        >>> Terms(2, 3, tie_share=0.1).judgments_a_pair, Terms(3, 5).judgments_a_pair
        (2.1, 3.0)
        """
        at_least, at_most = self.judgments_per_item, self.most_judgments_per_item or 0
        can_tie = at_least % 2 == 0 and at_most > at_least
        return at_least + (self.tie_share if can_tie else 0.0)


@dataclass(frozen=True)
class TeamWork:
    """Work and cost of a team; None for too few people. days: calendar days; gold: hidden questions alone."""

    annotators: int
    judgments: float | None
    gold: float | None
    cost: float | None
    hours_each: float | None
    days: float | None


def judgments_needed(pairs: float, terms: Terms, *, done: float = 0.0) -> float:
    """The judgments that bring labels, for `pairs` of which `done` judgments done already."""
    return max(0.0, pairs * terms.judgments_a_pair - done)


def team_work(needed: float, terms: Terms, annotators: int) -> TeamWork:
    """Share `needed` judgments equally among annotators; each also answers gold, practice and repeats.

    Of a person's first 25 items `gold_first_share` are gold questions; of later ones `gold_share` are, and
    `repeat_share` are repeats. Nobody is asked more gold questions than there are; as if nobody skipped.

    >>> team_work(975, Terms(gold_share=0.05, seconds=36, hours_per_week=7), 1).days
    10.25
    """
    if annotators < max(terms.judgments_per_item, terms.most_judgments_per_item or 0) and needed:
        return TeamWork(annotators, None, None, None, None, None)
    each = needed / annotators
    first = FIRST_ITEMS * (1 - terms.gold_first_share)
    early = min(each, first) / (1 - terms.gold_first_share)
    later = max(0.0, each - first) / (1 - terms.gold_share - terms.repeat_share)
    practice = terms.practice_questions if needed else 0
    wanted = early * terms.gold_first_share + later * terms.gold_share
    gold = wanted if terms.gold_questions is None else min(wanted, terms.gold_questions)
    items = early + later + practice - (wanted - gold) / (1 - terms.repeat_share)
    hours = items * terms.seconds / 3600
    return TeamWork(
        annotators,
        judgments=items * annotators,
        gold=gold * annotators,
        cost=items * annotators * terms.price * (1 + terms.overhead) if terms.price else None,
        hours_each=hours,
        days=DAYS_A_WEEK * hours / terms.hours_per_week,
    )


def whole_days(days: float) -> int:
    """Days as a calendar counts them: the last is begun."""
    return math.ceil(round(days, 6))
