"""Answers to each gold question of a collection, the number that missed it, and whether its own answer looks
wrong.

**A doubtful answer.** If the known answer is right, each trusted annotator misses the question independently,
with the chance at which they miss others: the posterior mean from their other gold questions with that
answer and the prior Beta(4, 1) of the rule. How many trusted annotators miss it is then a sum of unequal
Bernoulli trials (Poisson's binomial; see Wang, "On the Number of Successes in Independent Trials",
Statistica Sinica 3, 1993), whose tail is computed exactly. The answer is doubted where the chance that as
many or more miss it is at most 5 %, divided by the number of questions that were asked (Bonferroni). So, as
far as these chances hold, a collection whose answers are all right has a doubted one in at most one case of
twenty. Trusted are annotators for whom the rule says neither warn nor pause.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from labeling.gold.posterior import chance_below_floor
from labeling.gold.rule import Advice, Score, advice
from labeling.gold.scores import scored
from labeling.models import Judgment, Verdict
from pooling.models import Collection

RIGHT, WRONG = 4, 1
DOUBTED_AT = 0.05


class Given(NamedTuple):
    question: int
    annotator: int
    name: str
    verdict: str
    answer: str
    when: datetime

    @property
    def is_missed(self) -> bool:
        """It is the other answer; “can't judge” is neither right nor wrong."""
        return self.verdict not in (self.answer, Verdict.CANNOT_JUDGE)

    @property
    def verdict_in_words(self) -> str:
        return str(Verdict(self.verdict).label).lower()


@dataclass(frozen=True)
class Record:
    """Answers to a gold question; `chance` that as many trusted people or more miss a right answer."""

    given: Sequence[Given] = ()
    trusted: int = 0
    trusted_missed: int = 0
    chance: float = 1.0
    is_doubtful: bool = False

    @property
    def answered(self) -> int:
        """Number of people who answered it, without those who could not judge."""
        return sum(one.verdict != Verdict.CANNOT_JUDGE for one in self.given)

    @property
    def missed(self) -> int:
        return sum(one.is_missed for one in self.given)

    @property
    def missed_by(self) -> list[str]:
        return sorted(one.name for one in self.given if one.is_missed)


NOBODY = Record()


def records(collection: Collection) -> dict[int, Record]:
    """Answers to each gold question in use, by its key; in one statement. Admins only may see it."""
    given = answers_given(collection)
    by_question: defaultdict[int, list[Given]] = defaultdict(list)
    by_person: defaultdict[int, list[Given]] = defaultdict(list)
    for one in given:
        by_question[one.question].append(one)
        by_person[one.annotator].append(one)
    scores = {person: _score(rows) for person, rows in by_person.items()}
    trusted = {person for person, score in scores.items() if advice(score) == Advice.CONTINUE}
    level = DOUBTED_AT / max(1, len(by_question))
    return {
        question: _record(rows, {person: scores[person] for person in trusted}, level)
        for question, rows in by_question.items()
    }


def answers_given(collection: Collection) -> list[Given]:
    """The first answers to all hidden gold questions in use, in the order in which they were given."""
    rows = Judgment.objects.answers_to_hidden_gold().filter(collection=collection)
    columns = rows.order_by("event").values_list(
        "event__gold", "annotator", "annotator__username", "verdict", "event__gold__answer", "judged_at"
    )
    return [Given(*row) for row in columns.iterator()]


def careful_chances(collection: Collection) -> Mapping[int, float]:
    """The chance, by key, that an annotator's balanced accuracy is above the floor; the prior's without."""

    def chance(score: Score) -> float:
        right = score.relevant_right, score.not_relevant_right
        return 1 - chance_below_floor(right, (score.relevant_wrong, score.not_relevant_wrong))

    by_person: defaultdict[int, list[Given]] = defaultdict(list)
    for one in answers_given(collection):
        by_person[one.annotator].append(one)
    unknown = chance(Score())
    return defaultdict(lambda: unknown, {person: chance(_score(rows)) for person, rows in by_person.items()})


def chance_of_so_many(misses: int, chances: Sequence[float]) -> float:
    """The exact probability that at least `misses` of independent trials with these chances succeed.

    >>> round(chance_of_so_many(2, [0.5, 0.5]), 4)
    0.25
    >>> round(chance_of_so_many(1, [0.1, 0.2]), 4)
    0.28
    >>> chance_of_so_many(0, [])
    1.0
    """
    so_far = [1.0]
    for chance in chances:
        stays = [share * (1 - chance) for share in so_far] + [0.0]
        grows = [0.0] + [share * chance for share in so_far]
        so_far = [one + other for one, other in zip(stays, grows, strict=True)]
    return min(1.0, sum(so_far[misses:]))


def _score(rows: Iterable[Given]) -> Score:
    return scored((one.verdict, one.answer) for one in rows)


def _record(given: list[Given], trusted: Mapping[int, Score], level: float) -> Record:
    answers = [one for one in given if one.annotator in trusted and one.verdict != Verdict.CANNOT_JUDGE]
    misses = sum(one.is_missed for one in answers)
    chance = chance_of_so_many(misses, [_miss_chance(one, trusted[one.annotator]) for one in answers])
    return Record(given, len(answers), misses, chance, misses > 0 and chance <= level)


def _miss_chance(one: Given, score: Score) -> float:
    """The chance that somebody misses a question with this answer, from their answers to the others."""
    if one.answer == Verdict.RELEVANT:
        right, wrong = score.relevant_right, score.relevant_wrong
    else:
        right, wrong = score.not_relevant_right, score.not_relevant_wrong
    right, wrong = right - (not one.is_missed), wrong - one.is_missed
    return (wrong + WRONG) / (right + wrong + RIGHT + WRONG)
