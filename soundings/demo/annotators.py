"""Simulated annotators for the demo: known labels, a little error, and the protocol of real annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

from labeling.judging.leases import claim, release
from labeling.judging.verdicts import Submission, record_judgment
from labeling.models import Lease, Queue, Reason, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Pair = tuple[str, str]


@dataclass
class SimulatedAnnotators:
    """People who know the labels and err now and then.

    relevant: the pairs (query id, document id) that are relevant. error: the share of verdicts that come out
    wrong. cannot: the share that end as can't judge. seed: the same seed gives the same verdicts.
    """

    users: Sequence[User]
    relevant: Mapping[Pair, bool]
    error: float
    cannot: float
    seed: int
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)  # noqa: S311  reproducible, not secret

    def judge(self, queue: Queue, *, at_most: int) -> int:
        """Take turns with batches until `at_most` judgments are made or nothing is left; return how many."""
        made = 0
        idle: set[int] = set()
        while made < at_most and len(idle) < len(self.users):
            for user in self.users:
                batch = self._batch(queue, user, at_most - made)
                made += len(batch)
                idle = idle - {user.pk} if batch else idle | {user.pk}
        return made

    def _batch(self, queue: Queue, user: User, wanted: int) -> list[Lease]:
        """Claim and judge one batch, and give back what is more than `wanted`."""
        leases = claim(queue, user, 10).leases
        for lease in leases[:wanted]:
            record_judgment(queue, user, self._verdict(lease))
        if leases[wanted:]:
            release(queue, user, [lease.token for lease in leases[wanted:]])
        return leases[:wanted]

    def _verdict(self, lease: Lease) -> Submission:
        item = lease.item
        relevant = self.relevant.get((item.query.external_id, item.document.external_id), False)
        if self.random.random() < self.error:
            relevant = not relevant
        cannot = self.random.random() < self.cannot
        known = Verdict.RELEVANT if relevant else Verdict.NOT_RELEVANT
        return Submission(
            item=item.pk,
            key=str(UUID(int=self.random.getrandbits(128), version=4)),
            verdict=Verdict.CANNOT_JUDGE if cannot else known,
            reason=Reason.QUERY if cannot else "",
            active_ms=self.random.randint(1500, 9000),
            shown="document",
            version=item.document.version,
            lease=lease.token,
        )
