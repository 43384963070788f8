"""Power of a pair's answer to separate careful from careless annotators.

The rule for gold questions is a sequential test of two hypotheses, careful or careless. Such a test ends
soonest with questions whose answers differ most between the two, by Kullback-Leibler information (Eggen,
"Item Selection in Adaptive Testing With the Sequential Probability Ratio Test", Applied Psychological
Measurement 23(3), 1999; after Chang and Ying, 1996). It is taken in both directions here: the log likelihood
ratio that one answer is expected to bring, from a careful person and from a careless one.

With c the chance that a careful person is right and k that of a careless one, it is
(c - k) · ln(c (1 - k) / (k (1 - c))), negative where c < k. Both are posterior means over the verdicts on the
pair, each counted by the chance that its author is careful. Careful people start from Beta(4, 1), as in the
rule. Of careless ones we assume that half guess and half go by the words of the query, so that a relevant
document without them separates well, and so does one that has them all and is not relevant. That start
weighs as much as two verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple, Protocol, TypeVar

CAREFUL_RIGHT, CAREFUL_WRONG = 4, 1
CARELESS_START = 2


class Vote(NamedTuple):
    """A verdict on a pair: whether it is the answer, and the chance that its author is careful."""

    is_right: bool
    careful: float


def separation(votes: Iterable[Vote], right_by_words: float = 0.5) -> float:
    """The expected log likelihood ratio of an answer, see above; `right_by_words` is the chance that someone
    who goes by the words of the query alone is right.

    >>> round(separation([]), 2)
    0.42
    >>> round(separation([], right_by_words=0.0), 2)
    1.37
    >>> separation([Vote(True, 1.0)]) > separation([]) > separation([Vote(False, 1.0)])
    True
    """
    careful = [float(CAREFUL_RIGHT), float(CAREFUL_WRONG)]
    start = (0.5 + right_by_words) / 2
    careless = [CARELESS_START * start, CARELESS_START * (1 - start)]
    for vote in votes:
        place = 0 if vote.is_right else 1
        careful[place] += vote.careful
        careless[place] += 1 - vote.careful
    c, k = careful[0] / sum(careful), careless[0] / sum(careless)
    ratio = (c - k) * log(c * (1 - k) / (k * (1 - c)))
    return ratio if c >= k else -ratio


class Candidate(Protocol):
    @property
    def answer(self) -> str:
        """Relevant or not."""

    @property
    def query(self) -> int:
        """The key of its query."""


Chosen = TypeVar("Chosen", bound=Candidate)


def balanced_set(ranked: Sequence[Chosen], size: int) -> list[Chosen]:
    """Up to `size` candidates, as even as they allow over answers, then queries; of equals, the first."""
    answers, queries = Counter[str](), Counter[int]()
    left = list(ranked)
    chosen: list[Chosen] = []
    while left and len(chosen) < size:
        best = min(left, key=lambda one: (answers[one.answer], queries[one.query]))
        left.remove(best)
        chosen.append(best)
        answers[best.answer] += 1
        queries[best.query] += 1
    return chosen
