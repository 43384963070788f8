"""Campaigns through the real queue code, on labels that are known: what live adaptive queues lose and keep.

    python -m benchmarks.bench_adaptive [--data dl19 covid-r3] [--seeds 1]

Ten annotators claim batches of ten and err on one pair in ten, on SQLite, in pools of judged pairs alone.
First with one judgment per pair: the share of the relevant documents found when a quarter of each query's
pool is judged, beside the same strategy one by one, which no queue can be; limit: 3.5 points. Then with two
judgments and a third on a tie, skips, "can't judge" and one annotator in quarantine: whether every sentence
of the protocol holds. Time is simulated; what the reordering costs is printed as processor time.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.judging_site import temporary_site
from evaluation.replay import LabelledPool, labelled_pool, noisy, replay, rounded_up
from pooling.formats import name_of, read_qrels, read_run
from pooling.strategies import STRATEGIES
from tests.testdata import DATA

SETS = {"dl19": {"depth": 100, "min_relevance": 2}, "covid-r3": {"depth": 50, "min_relevance": 1}}
PEOPLE, BATCH, NOISE, SHARE, MOST_LOST = 10, 10, 0.1, 0.25, 0.035
STRATEGY = "learned"
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def main() -> int:
    arguments = parse()
    fine = True
    for name in arguments.data:
        pool = labelled(name)
        print(
            f"{name}: {pool.labelled:,} judged pairs of {len(pool.candidates)} queries, {len(pool.runs)} runs"
        )
        for seed in range(arguments.seeds):
            fine &= measure(name, pool, seed, arguments)
    return 0 if fine else 1


def measure(name: str, pool: LabelledPool, seed: int, arguments: argparse.Namespace) -> bool:
    ideal = replay(pool, STRATEGIES[STRATEGY], seed=seed, noise=NOISE).found(SHARE)
    batches = replay(pool, STRATEGIES[STRATEGY], seed=seed, noise=NOISE, batch=BATCH).found(SHARE)
    with campaign_site(name, pool) as stored:
        live = Campaign(stored, pool, seed)
        live.run()
        found = live.found(SHARE)
        live.check()
        hard = Campaign(stored, pool, seed, hard=True)
        hard.run(most=arguments.most)
        hard.check()
    print(
        f"  seed {seed}: found at {SHARE:.0%} of the pool: one by one {ideal:.3f}, in batches of ten "
        f"{batches:.3f}, live queue {found:.3f}: {100 * (ideal - found):+.1f} points lost, "
        f"limit {100 * MOST_LOST:.1f}"
    )
    print(
        f"    {live.judged:,} judgments, {live.orders:,} times in order anew, "
        f"{1000 * live.ordering / max(1, live.orders):.1f} ms each, "
        f"{1000 * live.ordering / live.judged:.2f} ms a judgment"
    )
    print(
        f"    redundancy 2 to 3, skips, one quarantined: {hard.judged:,} judgments, {hard.said()}; "
        "every sentence holds"
    )
    return ideal - found <= MOST_LOST


def labelled(name: str) -> LabelledPool:
    """The judged pairs of a collection's runs."""
    folder = DATA / name
    runs = {name_of(path): read_run(path).frame for path in sorted((folder / "runs").iterdir())}
    options = SETS[name]
    return labelled_pool(read_qrels(folder / "qrels.txt").frame, runs, **options)


@contextmanager
def campaign_site(name: str, pool: LabelledPool) -> Iterator[Any]:
    """A database with the collection and a pool of its judged pairs."""
    with temporary_site(None) as site:
        from django.contrib.auth.models import User

        from pooling.membership import create_collection
        from pooling.models import Membership, Query
        from pooling.pools import build_pool
        from pooling.runs import import_run

        owner = User.objects.create_user("owner", password="a long enough password")
        collection = create_collection(owner, slug="bench", name="Bench")
        users = User.objects.bulk_create(User(username=f"annotator{n}", password="!") for n in range(PEOPLE))
        Membership.objects.bulk_create(
            Membership(collection=collection, user=user, role="annotator") for user in users
        )
        Query.objects.bulk_create(
            Query(collection=collection, external_id=q, text=q) for q in pool.candidates
        )
        runs = [import_run(collection, path) for path in sorted((DATA / name / "runs").iterdir())]
        built = build_pool(collection, name="pool", runs=runs, depth=SETS[name]["depth"], strategy=STRATEGY)
        keep_judged(built, pool)
        yield built
        site.stop()


def keep_judged(built: Any, pool: LabelledPool) -> None:
    """Take the pairs without a label out of the pool."""
    known = {(query, document) for query, one in pool.candidates.items() for document in one.documents}
    rows = built.entries.values_list("pk", "query__external_id", "document__external_id")
    gone = [pk for pk, *pair in rows if tuple(pair) not in known]
    for start in range(0, len(gone), 500):
        built.entries.filter(pk__in=gone[start : start + 500]).delete()


class Campaign:
    """People who judge a live queue, in simulated time."""

    def __init__(self, built: Any, pool: LabelledPool, seed: int, *, hard: bool = False) -> None:
        from django.contrib.auth.models import User

        from labeling.gold_options import GoldOptions
        from labeling.live_options import LiveOptions
        from labeling.models import Judgment, JudgmentEvent
        from labeling.queues import open_queue

        if hard:
            # The same pairs again, so what was said before goes.
            Judgment.objects.all().delete()
            JudgmentEvent.objects.all().delete()
        redundancy = {"judgments_per_item": 2, "most_judgments_per_item": 3} if hard else {}
        self.pool, self.hard = pool, hard
        self.queue = open_queue(
            built,
            name=f"queue {hard}",
            seed=seed,
            live=LiveOptions(),
            gold=GoldOptions(0, 0, 0),
            **redundancy,
        )
        self.users = list(User.objects.filter(username__startswith="annotator").order_by("pk"))
        self.told = {query: noisy(query, truth, NOISE, seed) for query, truth in pool.truth.items()}
        self.random, self.keys = random.Random(seed), itertools.count()
        self.events: list[str] = []
        self.sequence: dict[str, list[int]] = defaultdict(list)
        self.done = Counter[str]()
        self.orders, self.ordering = 0, 0.0
        self.judged = 0

    def said(self) -> str:
        """What else happened."""
        return ", ".join(f"{count:,} {what}" for what, count in sorted(self.done.items()))

    def run(self, *, most: int | None = None) -> None:
        """Until a quarter of every query is judged (or `most` judgments are made), or nothing is left."""
        self.watch()
        waiting = [(self.random.random(), place) for place in range(len(self.users))]
        hands: dict[int, list[Any]] = {place: [] for place in range(len(self.users))}
        idle = 0
        while waiting and (most is None or self.judged < most) and (self.hard or not self.is_enough()):
            clock, place = heapq.heappop(waiting)
            now = START + timedelta(seconds=clock)
            if not hands[place]:
                hands[place] = self.claim(place, now)
                if not hands[place]:
                    idle += 1
                    if idle > 3 * len(self.users):
                        break
                    heapq.heappush(waiting, (clock + 60, place))
                    continue
            idle = 0
            self.act(place, hands[place].pop(0), now)
            heapq.heappush(waiting, (clock + self.random.uniform(2, 8), place))
            if self.hard and self.judged == (most or 10**9) // 2:
                self.quarantine(now, hands)

    def watch(self) -> None:
        """Count what the reordering costs."""
        from labeling import adaptive

        inner = adaptive._follow

        def timed(*arguments: Any, **options: Any) -> Any:
            started = time.process_time()
            try:
                return inner(*arguments, **options)
            finally:
                self.ordering += time.process_time() - started
                self.orders += 1

        adaptive._follow = timed

    def claim(self, place: int, now: datetime) -> list[Any]:
        from labeling.queues import claim

        claimed = claim(self.queue, self.users[place], BATCH, now=now)
        return list(claimed.leases)

    def act(self, place: int, lease: Any, now: datetime) -> None:
        from labeling.queues import Submission, record_judgment, skip

        item, user, chance = lease.item, self.users[place], self.random.random()
        query, document = item.query.external_id, item.document.external_id
        if self.hard and chance < 0.05:
            skip(self.queue, user, item.pk, lease=lease.token, now=now)
            self.done["skips"] += 1
            return
        key, number = f"key {next(self.keys)} {self.hard}", self.pool.candidates[query].number[document]
        relevant = bool(self.told[query][number])
        if self.hard:
            relevant = bool(self.pool.truth[query][number]) ^ (self.random.random() < NOISE)
        verdict = "relevant" if relevant else "not_relevant"
        reason = ""
        if self.hard and chance < 0.08:
            verdict, reason = "cannot_judge", "expert"
            self.done["“can't judge”"] += 1
        given = Submission(item.pk, key, verdict, reason=reason, lease=lease.token)
        outcome = record_judgment(self.queue, user, given, now=now)
        assert outcome.status in ("stored", "extra"), outcome
        self.events.append(key)
        self.judged += 1
        self.sequence[query].append(number)

    def quarantine(self, now: datetime, hands: dict[int, list[Any]]) -> None:
        from labeling.quarantine import impose

        impose(self.queue, self.users[0], now=now)
        hands[0] = []
        self.done["quarantined"] += 1

    def is_enough(self) -> bool:
        return all(
            len(self.sequence[query]) >= rounded_up(SHARE, len(truth))
            for query, truth in self.pool.truth.items()
        )

    def found(self, share: float) -> float:
        """As `evaluation.replay`: the mean over queries of what the first judgments found."""
        shares = []
        for query, truth in self.pool.truth.items():
            first = self.sequence[query][: rounded_up(share, len(truth))]
            shares.append(truth[first].sum() / truth.sum())
        return sum(shares) / len(shares)

    def check(self) -> None:
        """The sentences of `labeling/queues.py`, as the state machine states them."""
        from labeling.models import Item, Judgment, JudgmentEvent, Lease

        events = JudgmentEvent.objects.filter(queue=self.queue, kind="verdict")
        assert Counter(events.values_list("key", flat=True)) == Counter(self.events)
        votes = Counter(
            Judgment.objects.counted().exclude(verdict="cannot_judge").values_list("query", "document")
        )
        leases = Counter(Lease.objects.filter(item__queue=self.queue).values_list("item", flat=True))
        for item in Item.objects.filter(queue=self.queue):
            assert item.done + item.leased <= item.needed
            assert item.leased == leases[item.pk]
            assert item.done == min(votes[item.query_id, item.document_id], item.needed - item.leased)
            assert item.order_key > 0 or not (item.done or item.leased)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--most", type=int, default=2000, help="judgments of the second campaign")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
