"""Progress of a collection: pairs, people, money and the expected end; and its experience, for plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, QuerySet
from django.utils import timezone

from labeling.adaptive.state import to_give
from labeling.items.counts import items_by_state
from labeling.judging.progress_figures import LEAST_PACE
from labeling.models import GoldQuestion, Item, Judgment, JudgmentEvent, QueryPlan, Queue
from labeling.progress.counts import (
    PACE_DAYS,
    TIES_BEFORE,
    UNDONE,
    counts_by_queue,
    expected_for_ties,
    in_all,
)
from labeling.queues.costs import prices_of
from pooling.models import Collection

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
        .annotate(is_planned=Exists(plans), is_going_on=Exists(plans.filter(finished_by="")))
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


MOST_DAYS = 36_500


@dataclass(frozen=True)
class Judging:
    """Pairs of the queues that are not closed: in all, and those to come; people who judged in the last seven
    days; what was spent in all queues, by currency; when the rest is done at the pace of those days, None
    where that is unknown or nothing is left."""

    pairs: int
    left: int
    people: int
    spent: list[tuple[float, str]]
    end_date: date | None

    @property
    def percent(self) -> int:
        """Per cent done, rounded down, so that 100 means all."""
        return 100 * (self.pairs - self.left) // self.pairs if self.pairs else 0


def judging_of(collection: Collection, states: Sequence[QueueState]) -> Judging:
    """The judging of a collection, of which `states` are all queues, by a constant number of statements."""
    now = timezone.now()
    going = [one for one in states if one.state != Queue.State.CLOSED]
    recent = collection.judgment_events.filter(
        kind=JudgmentEvent.Kind.VERDICT,
        gold=None,
        repeats=None,
        is_adjudication=False,
        brought_by=None,
        created_at__gt=now - timedelta(days=PACE_DAYS),
        created_at__lte=now,
    ).exclude(UNDONE)
    verdicts, first, people = in_all(recent)
    left = _judgments_left([one for one in going if one.left]) if verdicts else 0.0
    days = max(now - (first or now), LEAST_PACE) / timedelta(days=1)
    takes = left * days / verdicts if left else None
    return Judging(
        pairs=sum(one.pairs for one in going),
        left=sum(one.left for one in going),
        people=people,
        spent=_spent(collection),
        end_date=None if takes is None or takes > MOST_DAYS else (now + timedelta(days=takes)).date(),
    )


def _judgments_left(states: Iterable[QueueState]) -> float:
    """The judgments that the pairs to come need, with those that ties are expected to ask for."""
    left, by_key = 0.0, {one.pk: one for one in states}
    for key, counts in counts_by_queue(list(by_key)).items():
        expected = expected_for_ties(counts["tied"], counts["agreed"], counts["may_tie"])
        needed = counts["needed"] - counts["done_judgments"] + expected
        # A budget ends some queues before their pool does.
        left += needed * min(by_key[key].left / max(counts["open"], 1), 1.0)
    return left


def _spent(collection: Collection) -> list[tuple[float, str]]:
    """As on the pages of the queues: each verdict that was given in a queue with a price."""
    prices = {queue.pk: price for queue in collection.queues.all() if (price := prices_of(queue)).price}
    if not prices:
        return []
    judged = Judgment.objects.filter(
        collection=collection, event__queue__in=list(prices), is_adjudication=False, event__brought_by=None
    )
    repeated = JudgmentEvent.objects.filter(
        queue__in=list(prices), repeats__isnull=False, kind=JudgmentEvent.Kind.VERDICT, brought_by=None
    ).exclude(UNDONE)
    paid = [*_by_queue(judged, "event__queue"), *_by_queue(repeated, "queue")]
    sums: dict[str, float] = {}
    for queue, count in paid:
        price = prices[queue]
        sums[price.currency] = sums.get(price.currency, 0.0) + count * price.price * (1 + price.overhead)
    return [(amount, currency) for currency, amount in sorted(sums.items())]


def _by_queue(rows: QuerySet[Judgment] | QuerySet[JudgmentEvent], key: str) -> list[tuple[int, int]]:
    return list(rows.order_by().values_list(key).annotate(many=Count("pk")))


# Verdicts whose times the mean is taken of.
TIMED = 5_000


def seconds_taken(collection: Collection) -> float | None:
    """Mean active time of the newest 5,000 timed verdicts, in seconds; None without any."""
    timed = collection.judgment_events.filter(
        kind=JudgmentEvent.Kind.VERDICT,
        active_ms__isnull=False,
        is_practice=False,
        is_adjudication=False,
        brought_by=None,
    )
    newest = timed.order_by("-pk").values_list("active_ms", flat=True)[:TIMED]
    spent = [time for time in newest if time is not None]
    return sum(spent) / len(spent) / 1000 if spent else None


def share_of_ties(collection: Collection) -> tuple[float, int]:
    """(share, pairs): how many settled pairs of queues that ask for one more on a tie were tied.

    As if one of ten had tied before any did, as everywhere; `pairs` is what there was beyond these.
    """
    items = Item.objects.filter(
        queue__collection=collection,
        order_key__gt=0,
        needed_at_most__gt=F("needed_at_least"),
        # A pre-label that is contradicted asks for one more too.
        expected="",
    )
    tied = items.filter(needed__gt=F("needed_at_least")).count()
    agreed = items.filter(needed=F("needed_at_least"), state=Item.State.DONE).count()
    tied_before, all_before = TIES_BEFORE
    return (tied + tied_before) / (tied + agreed + all_before), tied + agreed


def gold_questions(collection: Collection, *, practice: bool = False) -> int:
    """Number of those in use that are hidden among pairs, or that belong to the practice round."""
    return GoldQuestion.objects.filter(collection=collection, active=True, practice=practice).count()
