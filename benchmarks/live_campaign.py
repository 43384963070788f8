"""Campaigns through the real code of live queues, in simulated time, with everything that people do.

Needs Django to be set up. `benchmarks/bench_adaptive.py` runs them on real collections, a test in small.
"""

from __future__ import annotations

import heapq
import itertools
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from benchmarks.live_protocol import Said, check_nothing_is_free, check_plan, check_query, check_queue
from labeling.adaptive import reordering
from labeling.gold.quarantine import impose
from labeling.judging.leases import claim, release
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import record_judgment, skip, undo
from labeling.models import Item, Lease, QueryPlan, Queue
from pooling.interface.problems import InputError

if TYPE_CHECKING:
    from django.contrib.auth.models import User

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
BATCH = 10


@dataclass(frozen=True)
class Habits:
    """What else people do, as chances at each judgment, and when one of them is put into quarantine (after
    so many judgments, 0: never)."""

    noise: float = 0.0
    skips: float = 0.0
    cannot_judge: float = 0.0
    revises: float = 0.0
    takes_back: float = 0.0
    goes_away: float = 0.0
    stops: float = 0.0
    quarantine_after: int = 0


#: Whoever judges the same way each time, and does nothing else.
STEADY = Habits()
RESTLESS = Habits(
    noise=0.1, skips=0.05, cannot_judge=0.03, revises=0.03, takes_back=0.03, goes_away=0.005, stops=0.005
)


class Campaign:
    """People who judge an adaptive queue; `check_every` acts, all that must hold is looked at, and after each
    act what must hold of its query (0: never)."""

    def __init__(
        self,
        queue: Queue,
        users: Sequence[User],
        truth: Mapping[str, Mapping[str, bool]],
        *,
        seed: int = 0,
        habits: Habits = STEADY,
        check_every: int = 0,
    ) -> None:
        """truth: by query and document what people say, but for the noise of their habits."""
        self.queue, self.users, self.truth, self.habits = queue, users, truth, habits
        self.random, self.keys = random.Random(seed), itertools.count()
        self.check_every, self.checks = check_every, 0
        self.said = Said()
        #: Documents of each query in the order of their first judgments.
        self.sequence: dict[str, dict[str, bool]] = defaultdict(dict)
        self.hands: list[list[Lease]] = [[] for _ in users]
        self.own: list[list[tuple[str, Item]]] = [[] for _ in users]
        self.done = Counter[str]()
        self.judged, self.orders, self.ordering = 0, 0, 0.0

    def run(self, *, share: float | None = None) -> None:
        """Until nobody is given anything any more, or that share of every query is judged."""
        waiting = [(self.random.random(), place) for place in range(len(self.users))]
        idle: set[int] = set()
        with self._timed():
            while len(idle) < len(self.users) and not (share and self._is_judged(share)):
                clock, place = heapq.heappop(waiting)
                now = START + timedelta(seconds=clock)
                if not self.hands[place]:
                    self._claim(place, now)
                if self.hands[place]:
                    idle.clear()
                    away = self._act(place, now)
                    heapq.heappush(waiting, (clock + away + self.random.uniform(2, 8), place))
                else:
                    # What others held and left comes back when their time is over.
                    is_held = Lease.objects.filter(item__queue=self.queue).exists()
                    idle = set() if is_held else idle | {place}
                    heapq.heappush(waiting, (clock + 60, place))
        if self.check_every:
            self.check_end()

    def words(self) -> str:
        """What else happened."""
        return ", ".join(f"{count:,} {what}" for what, count in sorted(self.done.items()))

    def check_end(self) -> None:
        """Every query is finished, nothing that was handed out is open, and everything holds."""
        check_queue(self.queue, self.said)
        self.checks += 1
        unfinished = QueryPlan.objects.filter(selection=self.queue.pk, finished_by="")
        assert not unfinished.exists(), f"not finished: {list(unfinished)}"
        left = Item.objects.filter(queue=self.queue, order_key__gt=0, state="open")
        assert not left.exists(), f"starved: {list(left)}"
        for plan in QueryPlan.objects.filter(selection=self.queue.pk):
            handed = Item.objects.filter(queue=self.queue, query=plan.query_id, order_key__gt=0).count()
            assert handed == min(plan.budget, plan.size), f"{plan}: {handed} handed out of {plan.budget}"

    def _is_judged(self, share: float) -> bool:
        return all(
            len(self.sequence[query]) >= share * len(truth) - 1e-9 for query, truth in self.truth.items()
        )

    def _claim(self, place: int, now: datetime) -> None:
        user = self.users[place]
        claimed = claim(self.queue, user, BATCH, now=now)
        self.hands[place] = list(claimed.leases)
        if not self.check_every:
            return
        for query in {lease.item.query_id for lease in claimed.leases}:
            check_query(self.queue, query, self.said)
        if claimed.empty and claimed.empty.state == "open":
            check_nothing_is_free(self.queue, user.pk, now)
            self.done["empty answers"] += 1

    def _act(self, place: int, now: datetime) -> float:
        """Do one thing with the first item in somebody's hands, or with what they did before; returns the
        seconds for which they stay away then."""
        lease, user = self.hands[place].pop(0), self.users[place]
        query = lease.item.query_id
        happens = self._happens
        if happens(self.habits.goes_away):
            self.done["people gone away"] += 1
            if happens(0.5):
                self.hands[place] = []
            else:
                # Their leases are over when they come back, and their verdicts late.
                self.hands[place].insert(0, lease)
            return 2.0 * self.queue.lease_seconds
        if happens(self.habits.stops):
            tokens = [lease.token, *(held.token for held in self.hands[place])]
            release(self.queue, user, tokens, now=now)
            self.hands[place] = []
            self.done["batches handed back"] += 1
        elif happens(self.habits.skips):
            skip(self.queue, user, lease.item_id, lease=lease.token, now=now)
            self.done["skips"] += 1
        else:
            self._judge(place, lease.item, lease, now)
        self._checked(query)
        if self.own[place] and happens(self.habits.revises):
            _, item = self.random.choice(self.own[place])
            self._judge(place, item, None, now)
            self.done["revisions"] += 1
            self._checked(item.query_id)
        if self.own[place] and happens(self.habits.takes_back):
            self._checked(self._take_back(place, now))
        if 0 < self.habits.quarantine_after <= self.judged and not self.done["quarantined"]:
            impose(self.queue, self.users[0], now=now)
            self.hands[0], self.own[0] = [], []
            self.done["quarantined"] += 1
            if self.check_every:
                check_queue(self.queue, self.said)
        return 0.0

    def _judge(self, place: int, item: Item, lease: Lease | None, now: datetime) -> None:
        user, key = self.users[place], f"{self.queue.pk} {next(self.keys)}"
        query, document = item.query.external_id, item.document.external_id
        says = self.truth[query][document] ^ self._happens(self.habits.noise)
        verdict, reason = "relevant" if says else "not_relevant", ""
        if self._happens(self.habits.cannot_judge):
            verdict, reason = "cannot_judge", "expert"
            self.done["“can't judge”"] += 1
        given = Submission(item.pk, key, verdict, reason=reason, lease=lease.token if lease else None)
        outcome = record_judgment(self.queue, user, given, now=now)
        assert outcome.status in ("stored", "extra"), outcome
        self.done["extra judgments"] += outcome.status == "extra"
        self.judged += 1
        self.sequence[query].setdefault(document, says)
        self.said.add(user.pk, (item.query_id, item.document_id), key)
        self.own[place].append((key, item))

    def _take_back(self, place: int, now: datetime) -> int:
        user = self.users[place]
        key, item = self.own[place].pop(-self.random.randint(1, min(5, len(self.own[place]))))
        try:
            lease = undo(self.queue, user, key, now=now)
        except InputError:
            return item.query_id
        self.said.take_back(user.pk, (item.query_id, item.document_id), key)
        self.done["taken back"] += 1
        if lease is not None:
            self.hands[place].insert(0, lease)
        return item.query_id

    def _checked(self, query: int) -> None:
        if not self.check_every:
            return
        check_query(self.queue, query, self.said)
        self.checks += 1
        if self.checks % 10 == 0:
            check_plan(self.queue, query)
        if self.checks % self.check_every == 0:
            check_queue(self.queue, self.said)

    def _happens(self, chance: float) -> bool:
        return bool(chance) and self.random.random() < chance

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Count what the reordering costs."""
        inner = reordering._follow

        def timed(*arguments: Any, **options: Any) -> Any:
            started = time.process_time()
            try:
                return inner(*arguments, **options)
            finally:
                self.ordering += time.process_time() - started
                self.orders += 1

        reordering._follow = timed
        try:
            yield
        finally:
            reordering._follow = inner
