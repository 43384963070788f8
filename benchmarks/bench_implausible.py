"""How often careful people are proposed for a look, and how soon those who do not read are.

    python -m benchmarks.bench_implausible [--sessions 1000] [--seed 1]

A session has 200 answers; the rule of `labeling.gold.signs` looks after every fifth. Careful people
differ in speed, strictness, errors and in how often they open a long document; queries differ in how much is
relevant (from next to nothing to nearly all); some queues show likely relevant documents first, some have one
annotator, some a model whose labels are right 65 to 90 % of the time. Paces:

- those of the demo's annotators: 4 to 8 words a second and 1.5 s, on the demo's documents;
- documents, Smucker & Clarke (SIGIR 2012): 7.8 s and 0.018 s for each word, on average;
- summaries in result lists, the same: 4.4 s on average;
- documents by crowd workers: half of the first, as Smucker & Jethani (CIR 2011) found that they judged nearly
  twice as fast as people in the laboratory;
- titles and abstracts, Haddaway & Westgate (Conservation Biology 2018): 854 and 192 a day of eight hours.

These papers give means. How times vary is our assumption, and a wide one: log-normal with a standard
deviation of the logarithm of 0.6 within a person and 0.4 between people, and one pair in five is seen to be
(not) relevant at a glance, in 40 % of the time. Without `--sessions`, takes about ten minutes on two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from math import exp
from random import Random
from typing import NamedTuple

from labeling.gold.signs import FEWEST, Answer, Others, examined, others_of
from labeling.items.passages import WHOLE_TEXT
from labeling.items.reading import CHARACTERS_PER_WORD, least_ms

LONG, STEP = 200, 5
# As in soundings/demo/annotators.py, which needs a database.
SLOWEST, FASTEST, LEAST_SECONDS = 4.0, 8.0, 1.5
WITHIN, BETWEEN = 0.6, 0.4
GLANCED, GLANCE = 0.2, 0.4
DAY = 8 * 3600
# At most one careful session of so many may be proposed.
ALLOWED = 200


class Pace(NamedTuple):
    """Words of the texts (median, and standard deviation of the logarithm), and the mean seconds for one."""

    words: tuple[float, float]
    seconds: Callable[[float], float]


DOCUMENTS, ABSTRACTS = (350.0, 0.6), (230.0, 0.3)
PACES = {
    "demo": Pace((70.0, 0.5), lambda words: LEAST_SECONDS + words / (0.5 * (SLOWEST + FASTEST))),
    "documents": Pace(DOCUMENTS, lambda words: 7.8 + 0.018 * words),
    "documents, crowd": Pace(DOCUMENTS, lambda words: (7.8 + 0.018 * words) / 2),
    "summaries": Pace((25.0, 0.2), lambda words: 4.4),
    "titles": Pace((12.0, 0.3), lambda words: DAY / 854),
    "abstracts": Pace(ABSTRACTS, lambda words: DAY / 192),
}


@dataclass(frozen=True)
class Pair:
    """A pair as a queue shows it."""

    query: int
    relevant: bool
    words: float
    model: bool


@dataclass(frozen=True)
class Person:
    """How somebody judges: times the mean pace, the errors on relevant pairs and on others, and how often a
    long document is opened."""

    speed: float
    misses: float
    false_alarms: float
    opens: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with ProcessPoolExecutor(2) as workers:
        print(f"{'pace':18} {'people':12} proposed within 50, 100 and 200 answers")
        for pace in PACES:
            for people in ("careful", *CARELESS):
                seeds = [f"{asked.seed} {pace}|{people}|{at}" for at in range(asked.sessions)]
                found = list(workers.map(_first_proposal, seeds, chunksize=25))
                shares = [sum(at <= most for at in found) for most in (50, 100, LONG)]
                told = "  ".join(f"{100 * share / len(found):5.1f} %" for share in shares)
                over = people == "careful" and shares[-1] * ALLOWED > len(found)
                print(f"{pace:18} {people:12} {told}{'  OVER THE LIMIT' if over else ''}", flush=True)


def _first_proposal(seed: str) -> int:
    """After how many answers of one session the rule proposes a look; more than LONG: never."""
    random = Random(seed)
    _, rest = seed.split(" ", 1)
    name, people, _ = rest.split("|")
    pace = PACES[name]
    pairs = _queue(random, pace)
    has_model = random.random() < 0.5
    others = _others(random, pairs, pace, has_model)
    if people == "careful":
        answers = _careful(random, pairs, _person(random), pace)
    else:
        answers = CARELESS[people](random, pairs)
    if not has_model:
        answers = [replace(answer, model=None) for answer in answers]
    for many in range(FEWEST, LONG + 1, STEP):
        found = examined(answers[:many], others)
        if found and found.is_implausible:
            return many
    return LONG + 1


def _queue(random: Random, pace: Pace) -> list[Pair]:
    """Pairs query by query, shuffled within a query or, in a third of queues, likely relevant ones first."""
    mean, concentration = random.choice((0.05, 0.15, 0.3, 0.5)), random.choice((1.0, 2.0, 5.0))
    right = random.uniform(0.65, 0.9)
    is_ordered = random.random() < 1 / 3
    size = random.choice((5, 10, 20, 40))
    pairs: list[Pair] = []
    for query in range(-(-LONG // size)):
        share = random.betavariate(concentration * mean, concentration * (1 - mean))
        known = [random.random() < share for _ in range(size)]
        if is_ordered:
            known.sort(key=lambda relevant: random.gauss(1.0 if relevant else 0.0, 0.7), reverse=True)
        for relevant in known:
            words = pace.words[0] * exp(random.gauss(0, pace.words[1]))
            pairs.append(Pair(query, relevant, words, relevant == (random.random() < right)))
    return pairs[:LONG]


def _person(random: Random) -> Person:
    strict = random.uniform(-1, 1)
    return Person(
        exp(random.gauss(0, BETWEEN)),
        0.03 + 0.3 * max(0.0, strict),
        0.02 + 0.15 * max(0.0, -strict),
        random.betavariate(0.7, 0.7),
    )


def _careful(random: Random, pairs: list[Pair], person: Person, pace: Pace) -> list[Answer]:
    answers = []
    for pair in pairs:
        error = person.misses if pair.relevant else person.false_alarms
        said = pair.relevant != (random.random() < error)
        spread = random.gauss(-(WITHIN**2) / 2, WITHIN)
        seconds = pace.seconds(pair.words) * person.speed * exp(spread)
        if random.random() < GLANCED:
            seconds *= GLANCE
        answers.append(_answer(pair, said, seconds, opened=random.random() < person.opens))
    return answers


def _answer(pair: Pair, said: bool, seconds: float, *, opened: bool) -> Answer:
    characters = round(pair.words * CHARACTERS_PER_WORD)
    is_long = characters > WHOLE_TEXT
    is_fast = 1000 * seconds < least_ms(characters)
    return Answer(pair.query, said, is_fast, pair.model, opened if is_long else None)


def _others(random: Random, pairs: list[Pair], pace: Pace, has_model: bool) -> Others:
    """What up to three others said of some of the queries, and of as many others of the queue."""
    answers: list[Answer] = []
    for _ in range(random.randrange(4)):
        judged = {query for query in {pair.query for pair in pairs} if random.random() < 0.6}
        known = [pair for pair in pairs if pair.query in judged and random.random() < 0.8]
        answers += _careful(random, known, _person(random), pace)
    if not has_model:
        answers = [replace(answer, model=None) for answer in answers]
    return others_of(answers)


def _clicker(random: Random, pairs: list[Pair]) -> list[Answer]:
    return [_answer(pair, random.random() < 0.5, random.uniform(1, 2), opened=False) for pair in pairs]


def _one_answer(random: Random, pairs: list[Pair]) -> list[Answer]:
    said = random.random() < 0.5
    return [_answer(pair, said, random.uniform(1, 10), opened=False) for pair in pairs]


def _alternator(random: Random, pairs: list[Pair]) -> list[Answer]:
    return [_answer(pair, at % 2 == 0, random.uniform(1, 10), opened=False) for at, pair in enumerate(pairs)]


CARELESS = {"clicker": _clicker, "one answer": _one_answer, "alternator": _alternator}

if __name__ == "__main__":
    main()
