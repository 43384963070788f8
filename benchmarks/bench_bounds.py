"""Stopping bounds under orders that learn: how often one is smaller than what is missing.

    python -m benchmarks.bench_bounds [--campaigns 2000] [--strategies learned maxmean] [--prior]

Simulated campaigns on pools made by chance, without a database: the planner of a live queue picks batches of
ten by the labels that have come so far (part of a batch is still out when the next is planned), the audit is
looked at where a queue would look, at m points fixed beforehand, by the functions that queues use. Runs are
good or worse than chance. With --prior, a model's scores, of a quality drawn for each campaign, are taken up
at a moment drawn among its judgments, as `labeling/adaptive/prior.py` does.

Limits: at most 5 % of the campaigns, and two standard errors of the simulation, have any look whose bound is
smaller than the relevant documents that are truly missing, for each query by itself (hypergeometric) and over
all queries of a campaign (binomial). And what was drawn is a fair sample of what the order has not reached:
the relevant ones among them are as many as their share says, within three standard errors. Exit code 1 when
one is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labeling.adaptive.next_documents import Course, Entry, History, Planner, Prior, summed
from pooling.ranking.bounds import Remainder
from pooling.ranking.selection import BATCH

if TYPE_CHECKING:
    from labeling.models import QueryPlan

STRATEGIES = ("learned", "maxmean")
LIMIT = 0.05
RUNS, DOCUMENTS, DEPTH, QUERIES, AUDIT_SHARE = 4, 100, 60, 3, 0.5
#: Campaigns take turns in how often they look.
LOOKS = (1, 4)
#: The greatest share of relevant documents in a pool; the smallest is next to none.
MOST_RELEVANT = 0.6
#: Share of a batch whose labels are there when the next one of its query is planned.
PROMPT = 0.8


@dataclass
class Query:
    """A query of a campaign: what is true of its documents, and how far it is."""

    planner: Planner
    truth: np.ndarray[tuple[int], np.dtype[np.bool_]]
    entries: list[Entry]
    plan: QueryPlan
    reached: list[int] = field(default_factory=list)
    drawn: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    labels: dict[int, bool] = field(default_factory=dict)
    lesson: bytes = b""
    remainder: Remainder = field(default_factory=lambda: Remainder(DOCUMENTS, 0, 0))
    left: int = 0
    #: The same with a model's scores.
    scored: Planner | None = None

    def take_up_scores(self) -> None:
        """From now on the order starts from them, and what was taught is forgotten."""
        assert self.scored is not None
        self.planner, self.lesson = self.scored, b""

    @property
    def known(self) -> History:
        """As a queue knows it: the labels are those that have come."""
        return History(self.reached, self.drawn, self.plan.spent, (), self.labels)

    def take_labels(self, chance: np.random.Generator) -> None:
        """Some of what was handed out is judged."""
        come = chance.random(len(self.waiting)) < PROMPT
        for number, is_there in zip(self.waiting, come, strict=True):
            if is_there:
                self.labels[number] = bool(self.truth[number])
        self.waiting = [number for number in self.waiting if number not in self.labels]

    def order(self, lessons: bytes) -> None:
        """Order what is left by the labels, and see what the audit shows and what is left truly."""
        if lessons:
            self.planner.strategy.heed(np.frombuffer(lessons, dtype=np.float64))
        self.planner.tell(self.known)
        self.lesson = self.planner.lesson()
        self.remainder = self.planner.remainder(self.known, ())
        self.plan.settled = len(self.labels)
        self.plan.found = sum(self.labels.values())
        rest = self.truth.copy()
        rest[self.reached] = False
        self.left = int(rest.sum())

    def hand_out(self) -> None:
        """The next batch goes out."""
        for one in self.planner.batches(self.known, min(self.plan.spent + BATCH, len(self.truth)), BATCH)[:1]:
            self.reached += one.reached
            self.drawn += one.joined
            self.waiting += one.handed
            self.plan.spent += len(one.handed)


class Look(NamedTuple):
    """What is missing at most (None where nothing was drawn), what is missing, and how many more relevant
    documents were drawn than the sampled share of those there are."""

    at_most: int | None
    missing: int
    surplus: float


@dataclass(frozen=True)
class Looks:
    """The looks of each query by itself, and those over all queries."""

    by_query: list[list[Look]]
    over_all: list[Look]


def looks_of_campaign(seed: int, strategy: str, *, has_prior: bool = False) -> Looks:
    """Judge three pools to their ends, looking as a queue would; nothing is stopped."""
    from labeling.adaptive.stopping import look_at_plans, look_at_query
    from labeling.models import QueryPlan, Selection

    chance = np.random.default_rng(seed)
    looks = LOOKS[seed % len(LOOKS)]
    alone, together = (
        Selection(stop_missing=0.1, stop_looks=looks, stop_over=over) for over in ("query", "queue")
    )
    quality = chance.normal(size=RUNS)
    queries = [
        Query(*_pool(chance, quality, strategy, seed, number), QueryPlan(size=DOCUMENTS, budget=DOCUMENTS))
        for number in range(QUERIES)
    ]
    taken_up = _scored(chance, queries) if has_prior else None
    by_query: list[list[Look]] = [[] for _ in queries]
    over_all: list[Look] = []
    while any(len(query.labels) < DOCUMENTS for query in queries):
        if taken_up is not None and sum(len(query.labels) for query in queries) >= taken_up:
            taken_up = None
            for query in queries:
                query.take_up_scores()
        for number in chance.permutation(QUERIES):
            query, made = queries[number], len(queries[number].plan.looks)
            query.take_labels(chance)
            query.order(_lessons(queries, less=query))
            look_at_query(alone, query.plan, query.remainder)
            by_query[number] += _seen(query.plan.looks[made:], [query])
            made = len(together.looks)
            look_at_plans(
                together,
                [(one.plan.settled, one.plan.found, one.plan.audit, DOCUMENTS) for one in queries],
            )
            over_all += _seen(together.looks[made:], queries)
            query.hand_out()
    return Looks(by_query, over_all)


def _pool(
    chance: np.random.Generator, quality: np.ndarray[Any, Any], strategy: str, seed: int, number: int
) -> tuple[Planner, np.ndarray[tuple[int], np.dtype[np.bool_]], list[Entry]]:
    """A pool that runs of this quality found, in which few or many documents are relevant."""
    truth = chance.random(DOCUMENTS) < chance.uniform(0.02, MOST_RELEVANT)
    scores = np.outer(quality, truth) + chance.normal(size=(RUNS, DOCUMENTS))
    ranks = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1
    entries = []
    for document in range(DOCUMENTS):
        found = [[run, int(rank)] for run, rank in enumerate(ranks[:, document]) if not run or rank <= DEPTH]
        rrf = sum(1 / (60 + rank) for _, rank in found)
        entries.append(Entry(document, f"d{document:02}", rrf, found))
    course = Course(f"q{number}", strategy, RUNS, DOCUMENTS, seed, seed, AUDIT_SHARE)
    return Planner(course, entries), truth, entries


def _scored(chance: np.random.Generator, queries: list[Query]) -> int:
    """Give every query scores of one quality to take up; after how many labels of the campaign that is."""
    quality = chance.normal(loc=1.0)
    for query in queries:
        scores = quality * query.truth + chance.normal(size=DOCUMENTS)
        prior = Prior(dict(enumerate(scores.tolist())), votes=RUNS // 2)
        query.scored = Planner(query.planner.course, query.entries, prior=prior)
    return int(chance.integers(0, QUERIES * DOCUMENTS // 2))


def _lessons(queries: list[Query], *, less: Query) -> bytes:
    lessons = b""
    for query in queries:
        if query is not less:
            lessons = summed(lessons, more=query.lesson)
    return lessons


def _seen(looks: list[Any], queries: list[Query]) -> list[Look]:
    missing = sum(one.left - one.remainder.relevant for one in queries)
    surplus = sum(
        one.remainder.relevant - one.left * one.remainder.sampled / max(1, one.remainder.size)
        for one in queries
    )
    return [Look(look["at_most_missing"], missing, surplus) for look in looks if look]


def is_wrong(looks: list[Look]) -> bool:
    """Whether any look of a campaign promised too little."""
    return any(look.at_most is not None and look.missing > look.at_most for look in looks)


@dataclass(frozen=True)
class Rates:
    """Campaigns with a wrong look, and all of them, for each query by itself and over all queries; and by how
    many standard errors more relevant documents were drawn than by chance."""

    by_query: tuple[int, int]
    over_all: tuple[int, int]
    surplus: float

    @property
    def hold(self) -> bool:
        """Whether both are within the limit and two standard errors, and the draw was fair."""
        held = (wrong / count <= most_wrong(count) for wrong, count in (self.by_query, self.over_all))
        return all(held) and abs(self.surplus) <= 3


def most_wrong(campaigns: int) -> float:
    """The share of wrong campaigns that a rate of 5 % does not exceed but by two standard errors."""
    return LIMIT + 2 * math.sqrt(LIMIT * (1 - LIMIT) / campaigns)


def rates(strategy: str, campaigns: int, first: int = 0, *, has_prior: bool = False) -> Rates:
    """Simulate campaigns with the seeds from `first` on."""
    seeds = range(first, first + campaigns)
    made = [looks_of_campaign(seed, strategy, has_prior=has_prior) for seed in seeds]
    alone = [is_wrong(looks) for one in made for looks in one.by_query]
    # The looks of one query share their audit, so that queries are what is counted.
    surplus = np.array([sum(look.surplus for look in looks) for one in made for looks in one.by_query])
    return Rates(
        (sum(alone), len(alone)),
        (sum(is_wrong(one.over_all) for one in made), campaigns),
        float(surplus.mean() / surplus.std(ddof=1) * math.sqrt(len(surplus))),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=2000)
    parser.add_argument("--strategies", nargs="*", default=list(STRATEGIES), choices=list(STRATEGIES))
    parser.add_argument("--prior", action="store_true", help="a model's scores are taken up on the way")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"SOUNDINGS_DATA": folder, "DJANGO_SETTINGS_MODULE": "soundings.settings"}
        import django

        django.setup()
        fine = True
        for strategy in arguments.strategies:
            started = time.perf_counter()
            found = rates(strategy, arguments.campaigns, has_prior=arguments.prior)
            fine &= found.hold
            said = [
                f"{wrong:,} of {count:,} ({wrong / count:.1%}, limit {most_wrong(count):.1%})"
                for wrong, count in (found.by_query, found.over_all)
            ]
            print(
                f"{strategy}: bounds too small at any look: by query {said[0]}, over queries {said[1]}; "
                f"relevant documents drawn beyond their share: {found.surplus:+.1f} standard errors; "
                f"{time.perf_counter() - started:.0f} s"
            )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
