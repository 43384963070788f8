"""Progress of many queues at once: the same few database queries for any number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef

from labeling.adaptive.state import to_give
from labeling.items.counts import items_by_state
from labeling.models import Item, QueryPlan, Queue

COUNTED = [state for state in Item.State.values if state != Item.State.WITHDRAWN]


@dataclass(frozen=True)
class QueueState:
    """A queue with its pairs, as far as a budget goes, and those that are settled.

    is_finished: nobody is handed anything any more, though pairs may be left where a budget or a bound ended
    the queue. undecided: settled pairs that wait for a decision of an admin.
    """

    pk: int
    name: str
    state: str
    opened_at: datetime
    pairs: int
    settled: int
    is_finished: bool
    undecided: int = 0

    @property
    def is_open(self) -> bool:
        """It hands out pairs that are left."""
        return self.state == Queue.State.OPEN and not self.is_finished

    @property
    def left(self) -> int:
        """Pairs without a settled label that are still to come."""
        return 0 if self.is_finished else max(self.pairs - self.settled, 0)

    @property
    def percent(self) -> int:
        """Settled pairs in per cent, rounded down, so that 100 means all."""
        if self.is_finished:
            return 100
        return min(100 * self.settled // self.pairs, 100) if self.pairs else 0


def queue_states(collections: Iterable[int]) -> dict[int, list[QueueState]]:
    """The queues of pairs of collections, by the keys of these, newest first, in a few database queries."""
    plans = QueryPlan.objects.filter(selection=OuterRef("pk"))
    queues = list(
        Queue.objects.listed()
        .filter(collection__in=list(collections), kind=Queue.Kind.PAIRS)
        .annotate(
            is_planned=Exists(plans),
            is_going_on=Exists(plans.filter(finished_by="")),
        )
        .order_by("-opened_at", "-pk")
    )
    counts = items_by_state(queue.pk for queue in queues)
    more = to_give([queue.pk for queue in queues if queue.is_adaptive])
    states: dict[int, list[QueueState]] = {}
    for queue in queues:
        by_state = {state: counts.get((queue.pk, state), 0) for state in COUNTED}
        states.setdefault(queue.collection_id, []).append(_state(queue, by_state, more.get(queue.pk, 0)))
    return states


def _state(queue: Any, by_state: Mapping[str, int], more: int) -> QueueState:
    pairs = sum(by_state.values()) + more
    settled = pairs - more - by_state[Item.State.OPEN]
    ended = queue.is_planned and not queue.is_going_on
    return QueueState(
        pk=queue.pk,
        name=queue.name,
        state=queue.state,
        opened_at=queue.opened_at,
        pairs=pairs,
        settled=settled,
        is_finished=bool(ended or (pairs and settled >= pairs)),
        undecided=by_state[Item.State.ADJUDICATION],
    )
