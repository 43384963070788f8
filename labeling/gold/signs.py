"""Five signs that somebody's last answers are not careful work, each with its chance. Pure.

The chance of a sign is a p-value: how often careful people would show one at least as strong.

- `speed`: answers faster than anybody can read (`labeling.items.reading`). The sign allows careful people
  to be so fast on three pairs in four: a binomial tail.
- `one_answer`: the longest run of one verdict. What to expect of a query comes from the verdicts of others,
  with a beta distribution for how queries differ (`SPREAD`) and one for the share of relevant in the queue;
  multiplied by the places where a run may begin. Without verdicts of others, even a long run says little.
- `alternation`: verdicts that change from pair to pair. Pairs come shuffled within a query, so any order of
  the verdicts given there is as likely as another: the exact distribution of runs (Wald & Wolfowitz, 1940),
  convolved over queries.
- `model`: agreement with the model's labels on pairs judged blind, against that of the others.
- `unopened`: long documents answered from the passage alone, against the others.

The last two differ a lot between careful people, and a model may be wrong: their chances have floors, so
that neither can lead to a proposal alone. Fisher's method (1932) combines all; at PROPOSED, the rule proposes
a look. It has no other effect. Error rates: `benchmarks/bench_implausible.py`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb, exp, lgamma, log

from pooling.formats.wording import counted

# The rule sees the last answers of somebody in a queue, and says nothing of fewer.
WINDOW, FEWEST = 100, 20
PROPOSED = 1e-4
# Of careful people's answers, so many may be faster than anybody can read.
FAST_SHARE = 0.75
# Queries differ as draws from a beta distribution of this concentration; the others' verdicts count as so
# many at most, because people differ in what they call relevant: in all, and on one query.
SPREAD, WORTH_IN_ALL, WORTH_OF_QUERY = 2.0, 40.0, 8.0
GRID = 40
MODEL_FLOOR, UNOPENED_FLOOR = 0.01, 0.05
MODEL_PAIRS, LONG_DOCUMENTS, OF_OTHERS = 10, 10, 20
WORTH_OF_MODEL, WORTH_OF_OPENING = 20.0, 2.0
# A sign with a larger chance is not worth a sentence.
MOST_CHANCE = 0.05


@dataclass(frozen=True)
class Answer:
    """One verdict: the key of its query, whether it was too fast (None: not timed), whether the model said
    relevant (None: no label, or it was seen), and whether a long document was opened (None: it was short)."""

    query: int
    relevant: bool
    is_fast: bool | None = None
    model: bool | None = None
    opened: bool | None = None


@dataclass(frozen=True)
class Others:
    """Of the others: relevant of all by query, agreements with the model of blind ones, and opened."""

    verdicts: Mapping[int, tuple[int, int]]
    model: tuple[int, int] = (0, 0)
    opened: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Sign:
    """name: `speed`, `one_answer`, `alternation`, `model` or `unopened`; how often careful people would show
    as strong a one; and the sentence for an admin."""

    name: str
    chance: float
    sentence: str


@dataclass(frozen=True)
class Finding:
    """Signs in somebody's last `answers`, the least likely first, and the chance of them all."""

    answers: int
    chance: float
    signs: tuple[Sign, ...]

    @property
    def is_implausible(self) -> bool:
        return self.chance < PROPOSED

    @property
    def sentences(self) -> list[str]:
        return [sign.sentence for sign in self.signs if sign.chance <= MOST_CHANCE]


def others_of(answers: Iterable[Answer]) -> Others:
    relevant, many = Counter[int](), Counter[int]()
    agreed = with_model = opened = long = 0
    for answer in answers:
        many[answer.query] += 1
        relevant[answer.query] += answer.relevant
        if answer.model is not None:
            with_model += 1
            agreed += answer.model == answer.relevant
        if answer.opened is not None:
            long += 1
            opened += answer.opened
    verdicts = {query: (relevant[query], count) for query, count in many.items()}
    return Others(verdicts, (agreed, with_model), (opened, long))


def examined(answers: Sequence[Answer], others: Others) -> Finding | None:
    """The signs in somebody's last answers, which are in the order given; None of too few.

    >>> clicks = [Answer(at // 10, at % 3 == 0, is_fast=True) for at in range(40)]
    >>> found = examined(clicks, Others({}))
    >>> found.is_implausible, found.sentences[0]
    (True, '40 of 40 answers came faster than anybody can read.')
    """
    last = answers[-WINDOW:]
    if len(last) < FEWEST:
        return None
    candidates = (
        _speed(last),
        _one_answer(last, others),
        _alternation(last),
        _model(last, others),
        _unopened(last, others),
    )
    signs = sorted((sign for sign in candidates if sign), key=lambda sign: sign.chance)
    return Finding(len(last), combined([sign.chance for sign in signs]), tuple(signs))


def combined(chances: Sequence[float]) -> float:
    """The chance that independent signs are together as strong as these: Fisher's method.

    >>> round(combined([0.05, 0.05]), 4), combined([])
    (0.0175, 1.0)
    """
    strength = -sum(log(max(chance, 1e-300)) for chance in chances)
    term = total = 1.0
    for step in range(1, len(chances)):
        term *= strength / step
        total += term
    return min(1.0, exp(-strength) * total)


def _speed(answers: Sequence[Answer]) -> Sign | None:
    timed = [answer.is_fast for answer in answers if answer.is_fast is not None]
    if len(timed) < FEWEST:
        return None
    fast = sum(timed)
    chance = sum(
        comb(len(timed), many) * FAST_SHARE**many * (1 - FAST_SHARE) ** (len(timed) - many)
        for many in range(fast, len(timed) + 1)
    )
    sentence = f"{fast} of {counted(len(timed), 'answer')} came faster than anybody can read."
    return Sign("speed", min(1.0, chance), sentence)


def _one_answer(answers: Sequence[Answer], others: Others) -> Sign:
    begin, end = _longest_run([answer.relevant for answer in answers])
    is_relevant = answers[begin].relevant
    run = Counter(answer.query for answer in answers[begin:end])
    # Of either verdict, from any place.
    chance = min(1.0, 2 * (len(answers) - (end - begin) + 1) * _chance_of_run(run, is_relevant, others))
    word = "relevant" if is_relevant else "not relevant"
    return Sign("one_answer", chance, f"{counted(end - begin, 'answer')} in a row were “{word}”.")


def _longest_run(verdicts: Sequence[bool]) -> tuple[int, int]:
    best = (0, 0)
    begin = 0
    for at in range(1, len(verdicts) + 1):
        if at == len(verdicts) or verdicts[at] != verdicts[begin]:
            best = max(best, (begin, at), key=lambda run: run[1] - run[0])
            begin = at
    return best


def _chance_of_run(run: Mapping[int, int], is_relevant: bool, others: Others) -> float:
    """Chance that all these pairs are said to be so, over all shares that the others leave open."""
    totals = [sum(column) for column in zip(*others.verdicts.values(), strict=True)] or [0, 0]
    alike, other = _worth(totals[0], totals[1], is_relevant, WORTH_IN_ALL)
    shares = {
        query: _worth(*others.verdicts.get(query, (0, 0)), is_relevant, WORTH_OF_QUERY) for query in run
    }
    weights, chances = [], []
    for step in range(GRID):
        share = (step + 0.5) / GRID
        weights.append(exp(alike * log(share) + other * log(1 - share)))
        of_queries = 0.0
        for query, long in run.items():
            yes, rest = shares[query]
            of_queries += _all_alike(long, SPREAD * share + yes, SPREAD * (1 - share) + rest)
        chances.append(exp(of_queries))
    return sum(a * b for a, b in zip(weights, chances, strict=True)) / sum(weights)


def _worth(relevant: int, many: int, is_relevant: bool, most: float) -> tuple[float, float]:
    """Weights of the others' verdicts of one kind and of the other; together `most` at most."""
    each = min(many, most) / many if many else 0.0
    yes, rest = (relevant, many - relevant) if is_relevant else (many - relevant, relevant)
    return each * yes, each * rest


def _all_alike(long: int, first: float, second: float) -> float:
    """The logarithm of the chance that `long` draws are all of the first kind, its share from a beta."""
    both = first + second
    return lgamma(first + long) - lgamma(first) + lgamma(both) - lgamma(both + long)


def _alternation(answers: Sequence[Answer]) -> Sign:
    of_queries: dict[int, list[bool]] = defaultdict(list)
    for answer in answers:
        of_queries[answer.query].append(answer.relevant)
    changes = steps = 0
    distribution = [1.0]
    for verdicts in of_queries.values():
        changes += sum(one != next_ for one, next_ in pairwise(verdicts))
        steps += len(verdicts) - 1
        distribution = _convolved(
            distribution, _changes_by_chance(sum(verdicts), len(verdicts) - sum(verdicts))
        )
    sentence = f"The verdict changed from pair to pair {changes} of {steps} times."
    return Sign("alternation", min(1.0, sum(distribution[changes:])), sentence)


def _changes_by_chance(first: int, second: int) -> list[float]:
    """The probability of each number of changes in a random order of two kinds.

    >>> [round(chance, 3) for chance in _changes_by_chance(2, 2)]
    [0.0, 0.333, 0.333, 0.333, 0.0]
    """
    if not first or not second:
        return [1.0]
    orders = comb(first + second, first)
    chances = [0.0]
    for runs in range(2, 2 * min(first, second) + 2):
        half, odd = divmod(runs, 2)
        if odd:
            ways = comb(first - 1, half) * comb(second - 1, half - 1)
            ways += comb(first - 1, half - 1) * comb(second - 1, half)
        else:
            ways = 2 * comb(first - 1, half - 1) * comb(second - 1, half - 1)
        chances.append(ways / orders)
    return chances


def _convolved(one: Sequence[float], other: Sequence[float]) -> list[float]:
    product = [0.0] * (len(one) + len(other) - 1)
    for at, chance in enumerate(one):
        for step, more in enumerate(other):
            product[at + step] += chance * more
    return product


def _model(answers: Sequence[Answer], others: Others) -> Sign | None:
    agreements = [answer.model == answer.relevant for answer in answers if answer.model is not None]
    agreed, many = others.model
    if len(agreements) < MODEL_PAIRS or many < OF_OTHERS:
        return None
    chance = _at_most(sum(agreements), len(agreements), agreed / many, WORTH_OF_MODEL)
    sentence = (
        f"{sum(agreements)} of {counted(len(agreements), 'answer')} agree with the model's labels, "
        f"which were hidden; of the others' answers {100 * agreed / many:.0f} % do."
    )
    return Sign("model", max(chance, MODEL_FLOOR), sentence)


def _unopened(answers: Sequence[Answer], others: Others) -> Sign | None:
    long = [answer.opened for answer in answers if answer.opened is not None]
    opened, many = others.opened
    if len(long) < LONG_DOCUMENTS or many < OF_OTHERS:
        return None
    chance = _at_most(sum(long), len(long), opened / many, WORTH_OF_OPENING)
    of = counted(len(long), "long document")
    sentence = f"{sum(long)} of {of} were opened; the others open {100 * opened / many:.0f} %."
    return Sign("unopened", max(chance, UNOPENED_FLOOR), sentence)


def _at_most(count: int, many: int, share: float, worth: float) -> float:
    """The chance of at most `count` of `many` for somebody from a beta distribution around a share."""
    first, second = 1 + worth * share, 1 + worth * (1 - share)
    whole = lgamma(first + second) - lgamma(first) - lgamma(second)
    total = 0.0
    for hits in range(count + 1):
        ways = lgamma(many + 1) - lgamma(hits + 1) - lgamma(many - hits + 1)
        rest = lgamma(first + hits) + lgamma(second + many - hits) - lgamma(first + second + many)
        total += exp(whole + ways + rest)
    return min(1.0, total)
