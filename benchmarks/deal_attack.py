"""An annotator who looks for hidden checks by what claims give and give again, before any verdict.

Mallory claims in changing sizes, returns what was claimed, lets it expire, skips, judges in any order and
takes back, while others work. Of every item it is noted where it stood each time: its place, what changed in
it and against its neighbours, whether it was missing, the queries around it, how long its query lasts and how
that compares with what was said to be left. From this a decision tree tries to tell hidden items from the
others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.secrets_attack import MISSING, Features, Setting, balanced_accuracy, prepared

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from labeling.models import Lease, Queue

#: The sizes of the claims that look at the same items.
SIZES = (1, 50, 3, 20, 7, 50)
DEAL_SETTINGS = (
    Setting(),
    Setting("half covered", covered=0.5),
    Setting("adaptive", adaptive=True),
    Setting("two judgments", judgments_per_item=2),
)
JUDGED, SKIPPED, UNDONE = 0.5, 0.12, 0.1
#: How many items Mallory deals with between two looks.
STEP = 12
OTHERS_WORK = 0.4


@dataclass
class Looks:
    """What was seen of each item, by its key, which are hidden, and of which query each is."""

    seen: dict[int, list[Features]] = field(default_factory=lambda: defaultdict(list))
    hidden: dict[int, bool] = field(default_factory=dict)
    queries: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """How well hidden items were told before their verdict: by the tree, and by who moved among the rest."""

    told: float
    moved_hidden: int
    moved_others: int
    hidden: int
    others: int

    @property
    def by_moving(self) -> float:
        """The balanced accuracy of naming whatever moved."""
        return (self.moved_hidden / max(self.hidden, 1) + 1 - self.moved_others / max(self.others, 1)) / 2


def attack(seed: int, items: int, setting: Setting) -> Found:
    """Let Mallory work through so many items of a new queue, and say how well hidden ones were told."""
    queue, mallory, others, _ = prepared(seed, setting)
    return _Mallory(seed, queue, mallory, others).found(items)


class _Mallory:
    def __init__(self, seed: int, queue: Queue, user: User, others: list[User]) -> None:
        from django.utils import timezone

        self._draw, self._queue, self._user, self._others = Random(seed), queue, user, others
        self._now: datetime = timezone.now()
        self._looks = Looks()
        self._keys = 0

    def found(self, items: int) -> Found:
        while len(self._looks.seen) < items and self._look():
            self._work()
            self._others_work()
        return self._judged_by_tree()

    def _look(self) -> bool:
        """Claim the same items again and again, and note where each of them stands."""
        sequences: list[list[Lease]] = [[] for _ in SIZES]
        for turn in self._draw.sample(range(len(SIZES)), len(SIZES)):
            sequences[turn] = self._claimed(SIZES[turn])
            self._give_back(sequences[turn])
        self._claimed(50)
        self._now += timedelta(seconds=self._queue.lease_seconds + 1)
        sequences.append(self._claimed(50))
        self._give_back(sequences[-1][::2])
        sequences.append(self._claimed(50))
        if sequences[-1]:
            self._note(sequences)
        return bool(sequences[-1])

    def _claimed(self, count: int) -> list[Lease]:
        from labeling.judging.leases import claim

        self._now += timedelta(seconds=1)
        return claim(self._queue, self._user, count, now=self._now).leases

    def _give_back(self, leases: list[Lease]) -> None:
        from labeling.judging.leases import release

        release(self._queue, self._user, [lease.token for lease in leases], now=self._now)

    def _note(self, sequences: list[list[Lease]]) -> None:
        from labeling.items.numbers import number_of

        orders = [[lease.item_id for lease in leases] for leases in sequences]
        items = {lease.item_id: lease.item for leases in sequences for lease in leases}
        moved = _out_of_order(orders[:-1])  # what was kept in hand comes first in the last
        left = self._left({item.query_id for item in items.values()})
        for key, item in items.items():
            places = [order.index(key) if key in order else None for order in orders]
            known = [place for place in places if place is not None]
            last = orders[-1].index(key) if key in orders[-1] else None
            features = {
                "moved": float(moved[key]),
                "seen": float(len(known)),
                "spread": float(max(known) - min(known)),
                "number": float(number_of(key) % 1000),
                **{f"place {turn}": MISSING if at is None else float(at) for turn, at in enumerate(places)},
                **_around([items[one].query_id for one in orders[-1]], last, left),
            }
            self._looks.seen[key].append(features)
            self._looks.hidden[key] = item.state in ("gold", "repeat")
            self._looks.queries[key] = item.query_id

    def _left(self, queries: set[int]) -> dict[int, int]:
        from labeling.items.statements import left_of_queries

        return left_of_queries(self._queue, self._user, queries)

    def _work(self) -> None:
        """Judge some of what is held, in any order; skip and take back others."""
        from labeling.judging.submissions import Submission
        from labeling.judging.verdicts import record_judgment, skip, undo

        leases = self._claimed(50)
        chosen = leases[:STEP]
        self._draw.shuffle(chosen)
        for lease in chosen:
            act = self._draw.random()
            if act < SKIPPED:
                skip(self._queue, self._user, lease.item_id, lease=lease.token, now=self._now)
            elif act < SKIPPED + UNDONE or act > 1 - JUDGED:
                self._keys += 1
                verdict = self._draw.choice(("relevant", "not_relevant"))
                key = f"{self._user.pk} {self._keys}"
                record_judgment(
                    self._queue, self._user, Submission(lease.item_id, key, verdict), now=self._now
                )
                if act < SKIPPED + UNDONE:
                    undo(self._queue, self._user, key, now=self._now)
        self._give_back(leases)

    def _others_work(self) -> None:
        from labeling.judging.leases import claim
        from labeling.judging.submissions import Submission
        from labeling.judging.verdicts import record_judgment

        for other in self._others:
            for lease in claim(self._queue, other, round(STEP * OTHERS_WORK), now=self._now).leases:
                verdict = self._draw.choice(("relevant", "not_relevant"))
                submission = Submission(lease.item_id, str(lease.token), verdict)
                record_judgment(self._queue, other, submission, now=self._now)

    def _judged_by_tree(self) -> Found:
        rows = [_summed(looks) for looks in self._looks.seen.values()]
        hidden = [self._looks.hidden[key] for key in self._looks.seen]
        queries = [self._looks.queries[key] for key in self._looks.seen]
        moved = [row["moved, most"] > 0 for row in rows]
        both = Counter(zip(moved, hidden, strict=True))
        return Found(
            told=balanced_accuracy(rows, hidden, groups=queries) if sum(hidden) >= 5 else 0.5,
            moved_hidden=both[True, True],
            moved_others=both[True, False],
            hidden=sum(hidden),
            others=len(hidden) - sum(hidden),
        )


def _out_of_order(orders: list[list[int]]) -> Counter[int]:
    """How often each item stood on another side of its fellows than in the longest of the claims: those
    outside the longest run of items that kept their order."""
    longest = max(orders, key=len)
    rank = {key: place for place, key in enumerate(longest)}
    moved: Counter[int] = Counter()
    for order in orders:
        common = [rank[key] for key in order if key in rank]
        stayed = _longest_rising(common)
        moved.update(longest[at] for at in common if at not in stayed)
    return moved


def _longest_rising(numbers: list[int]) -> set[int]:
    best: list[list[int]] = []
    for number in numbers:
        before = max((run for run in best if run[-1] < number), key=len, default=[])
        best.append([*before, number])
    return set(max(best, key=len, default=[]))


def _around(queries: list[int], place: int | None, left: dict[int, int]) -> Features:
    """How an item stands among the queries of a claim."""
    if place is None:
        return {"query before": MISSING, "query after": MISSING, "run": MISSING}
    query = queries[place]
    start = end = place
    while start and queries[start - 1] == query:
        start -= 1
    while end + 1 < len(queries) and queries[end + 1] == query:
        end += 1
    run = end - start + 1
    return {
        "alone": float(run == 1),
        "query before": float(start == place),
        "query after": float(end == place),
        "run": float(run),
        "whole run": float(run) if start > 0 and end + 1 < len(queries) else MISSING,
        "run and left": float(left.get(query, 0) - run),
        "in run": float(place - start),
        "to its end": float(end - place),
        "times": float(queries.count(query) - run),
    }


def _summed(looks: list[Features]) -> Features:
    found: dict[str, Any] = {f"first {name}": value for name, value in looks[0].items()}
    found |= {f"last {name}": value for name, value in looks[-1].items()}
    found["moved, most"] = max(look["moved"] for look in looks)
    found["looks"] = float(len(looks))
    return found
