"""Taking an annotator's open work back, so that others can judge it: somebody is ill, or has left."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from labeling.judging.leases import release
from labeling.models import Lease, Queue
from pooling.people.activity_log import record_action


def hand_back(queue: Queue, annotator: User, *, by: User | None = None, now: datetime | None = None) -> int:
    """Return all that somebody holds in a queue, and say how many items that were.

    Verdicts that are still on their way from them are taken as late ones always are.
    """
    with transaction.atomic():
        leases = Lease.objects.filter(annotator=annotator, item__queue=queue)
        returned = release(queue, annotator, list(leases.values_list("token", flat=True)), now=now)
        if returned:
            facts = {"queue": queue.name, "pairs": returned}
            record_action(queue.collection, by, "work handed back", annotator, **facts)
    return returned
