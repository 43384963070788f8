"""Simulated annotators for the demo: known labels, a little error, and the protocol of real annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from types import TracebackType
from typing import Self

from django.contrib.auth.models import User
from django.utils import timezone

from labeling.judging.leases import claim, release
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import record_judgment
from labeling.models import Bookmark, Lease, Queue, Reason, Verdict

# The demo's calendar: what it stores has happened over the last days, although it is made in seconds.
#
# Only here does the site work with another time than the machine's, and only in the process of the demo,
# which serves nobody meanwhile.

_machine_time = timezone.now


class DemoClock:
    """Begins `before` now and moves when it is asked to. While it is entered, Django's time is its time."""

    def __init__(self, before: timedelta) -> None:
        self.end = _machine_time()
        self.time = self.end - before

    def __enter__(self) -> Self:
        timezone.now = self.now
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        timezone.now = _machine_time

    def now(self) -> datetime:
        """The time in the demo's calendar; each look takes a little, so that no two things are at once."""
        self.time = min(self.time + timedelta(milliseconds=1), self.end)
        return self.time

    def pass_time(self, time: timedelta) -> None:
        """Move the clock forward by `time`, at most to the present."""
        self.time = min(self.time + time, self.end)

    def pass_until(self, before: timedelta) -> None:
        """Go on to the moment that is `before` the time of the machine, unless that is past."""
        self.time = max(self.time, self.end - before)


Pair = tuple[str, str]

# Of verdicts that come out wrong: some of the relevant ones, more of them of whoever is strictest, and hardly
# any others, since most pages have nothing to do with a query.
ERROR, STRICT_ERROR, FALSE_ALARM, CANNOT = 0.02, 0.12, 0.002, 0.005
# Words per second of people who look for one thing in a text, and the seconds before the key.
SLOWEST, FASTEST, LEAST_SECONDS = 4.0, 8.0, 1.5


@dataclass
class SimulatedAnnotators:
    """People who know the labels and err now and then; the last of them is stricter.

    relevant: the pairs (query id, document id) that are relevant. seed: the same seed gives the same
    verdicts, in whatever order the pairs come. clock: moves on with each verdict, as they work at the same
    time.
    """

    users: Sequence[User]
    relevant: Mapping[Pair, bool]
    seed: int
    clock: DemoClock

    def judge(self, queue: Queue, *, at_most: int) -> int:
        """Take turns with batches until `at_most` judgments are made or nothing is left; return how many."""
        self._fix_places_of_gold(queue)
        made = 0
        idle: set[int] = set()
        while made < at_most and len(idle) < len(self.users):
            for user in self.users:
                batch = self._batch(queue, user, at_most - made)
                made += len(batch)
                idle = idle - {user.pk} if batch else idle | {user.pk}
        return made

    def _fix_places_of_gold(self, queue: Queue) -> None:
        """Have gold questions come at the same places in every demo: that depends on the row's key."""
        for place, user in enumerate(self.users):
            bookmark, _ = Bookmark.objects.get_or_create(queue=queue, annotator=user)
            Bookmark.objects.filter(pk=bookmark.pk).update(gold_seed=bookmark.pk ^ (self.seed + place))

    def _batch(self, queue: Queue, user: User, count: int) -> list[Lease]:
        """Claim and judge one batch, and give back what is more than `count`."""
        leases = claim(queue, user, 10).leases
        for lease in leases[:count]:
            verdict = self._verdict(lease, user)
            self.clock.pass_time(timedelta(milliseconds=verdict.active_ms or 0) / len(self.users))
            record_judgment(queue, user, verdict)
        if leases[count:]:
            release(queue, user, [lease.token for lease in leases[count:]])
        return leases[:count]

    def _verdict(self, lease: Lease, user: User) -> Submission:
        item = lease.item
        pair = (item.query.external_id, item.document.external_id)
        chance = self._chance(user, *pair)
        relevant = self.relevant.get(pair, False)
        of_relevant = STRICT_ERROR if user == self.users[-1] else ERROR
        if chance.random() < (of_relevant if relevant else FALSE_ALARM):
            relevant = not relevant
        cannot = chance.random() < CANNOT
        label = Verdict.RELEVANT if relevant else Verdict.NOT_RELEVANT
        words = len((item.document.text or "").split())
        seconds = LEAST_SECONDS + words / chance.uniform(SLOWEST, FASTEST)
        return Submission(
            item=item.pk,
            key=f"demo-{item.pk}",
            verdict=Verdict.CANNOT_JUDGE if cannot else label,
            reason=Reason.QUERY if cannot else "",
            active_ms=round(1000 * seconds),
            shown="document",
            version=item.document.version,
            lease=lease.token,
        )

    def _chance(self, user: User, *pair: str) -> Random:
        """Of this person and pair alone: which gold question comes in between differs from demo to demo."""
        place = self.users.index(user)
        return Random("\0".join([str(self.seed), str(place), *pair]))  # noqa: S311  reproducible, not secret
