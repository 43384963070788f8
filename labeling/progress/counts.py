"""Progress of a queue in true figures; annotators see those of `labeling/judging/blind_counts.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.utils import timezone

from labeling.adaptive.state import order_summary, to_give
from labeling.gold.gaps import gold_to_come
from labeling.gold.repeats import answers_to_repeats
from labeling.items.counts import items_by_state
from labeling.items.slots import GOLD_STATES
from labeling.judging.blind_counts import count_in, own_queues
from labeling.judging.own_work import seconds_at
from labeling.judging.progress_figures import (
    LEAST_PACE,
    AnnotatorProgress,
    Holder,
    Leases,
    OpenItems,
    Pace,
    QueueProgress,
)
from labeling.models import FactItem, Item, ItemCount, Judgment, JudgmentEvent, Lease, Queue, Verdict
from labeling.queues.costs import cost_of
from pooling.models import Collection

PACE_DAYS = 7
TEAMS = (1, 2, 5, 10)
# Verdicts whose times the pace is read from.
TIMED = 5_000
COUNTS = ("judged", *Verdict.values, "gold", "practice", "adjudicated", "imported", "timed", "skipped")
# Practice counts in no number of verdicts, and who settles a pair judges what others said.
OWN = Q(is_adjudication=False, event__is_practice=False)
# What was imported is nobody's time here, and nobody is paid for it.
HERE = Q(event__brought_by=None)
UNDONE = Exists(JudgmentEvent.objects.filter(undoes=OuterRef("pk")))
NOTHING = {**dict.fromkeys(COUNTS, 0), "spent_ms": None}
BY_CONDITION = ("tied", "agreed", "may_tie", "untouched")
# What is supposed of ties before there are any: one in ten pairs.
TIES_BEFORE = (1, 10)
COUNTED_STATES = (Item.State.OPEN.value, Item.State.DONE.value, Item.State.ADJUDICATION.value)


def queue_progress(queue: Queue, *, now: datetime | None = None) -> QueueProgress:
    """Counts by state, judgments done and left, pace, cost and end date of a queue, with a row per annotator.

    `judged` is the share of the needed judgments that are there (0 to 1). The pace is the verdicts of the
    last seven days per day, counted from the first verdict, without answers to gold questions; `end_date`
    supposes that it stays so, and is null where it is unknown, as of a closed queue with something left.
    `by_annotators` supposes that this many people work, each as much a day as people did in those days.
    `order` says what moves an adaptive one.
    """
    now = now or timezone.now()
    counts = item_counts(queue)
    annotators = annotator_rows(queue)
    needed, done = counts["needed"], counts["done_judgments"]
    for_ties = expected_for_ties(counts["tied"], counts["agreed"], counts["may_tie"])
    left = needed - done + for_ties
    pace = _pace(queue, now)
    is_going_on = queue.state != Queue.State.CLOSED
    paid = sum(row["judged"] + row["practice"] - row["imported"] for row in annotators)
    seconds = sum(row["active_seconds"] for row in annotators)
    timed = sum(row["timed"] for row in annotators)
    costs = cost_of(
        queue,
        left,
        gold_to_come(queue),
        paid=paid,
        paid_gold=sum(row["gold"] + row["practice"] for row in annotators),
        paid_repeats=answers_to_repeats(queue).filter(brought_by=None).count(),
    )
    return {
        "queue": queue.pk,
        "name": queue.name,
        "state": queue.state,
        "items": {
            "total": counts["total"],
            "open": counts["open"],
            "done": counts["done"],
            "adjudication": counts["adjudication"],
        },
        "open_items": _open_items(queue, counts, now),
        "judgments": {"needed": needed, "done": done, "left": needed - done, "expected_for_ties": for_ties},
        "judged": done / (done + left) if done + left else 1.0,
        "leases": _leases(queue, now),
        "pace": pace,
        "cost": {
            "active_seconds": seconds,
            "seconds_per_judgment": seconds / timed if timed else None,
            "seconds_left": (costs["judgments_to_pay"] or 0) * seconds / timed if timed else None,
            **costs,
        },
        "end_date": _end_date(left, pace["per_day"] * is_going_on, now),
        "order": order_summary(queue),
        "by_annotators": [
            {"annotators": people, "end_date": _end_date(left, people * pace["per_annotator"], now)}
            for people in TEAMS
        ],
        "annotators": annotators,
    }


def item_counts(queue: Queue) -> dict[str, int]:
    """Items by state and in all, and the judgments they need and have (adjudication needs no more).

    Where a tie asks for one more: items that `tied`, that were settled because people `agreed`, and open ones
    that `may_tie` yet. `untouched` are open items without a judgment, among them those that a budget has
    yet to give. A gold question of the pool is done;
    one from elsewhere is no item of the pool and not counted.
    """
    return counts_by_queue([queue.pk])[queue.pk]


def counts_by_queue(queues: Sequence[int]) -> dict[int, dict[str, int]]:
    names = ("total", *COUNTED_STATES, "needed", "done_judgments", *BY_CONDITION)
    by_queue = {queue: dict.fromkeys(names, 0) for queue in queues}
    alike = ItemCount.objects.filter(queue__in=list(by_queue), is_placed=True).order_by()
    alike = alike.exclude(state=Item.State.WITHDRAWN)
    is_adaptive = Q(needed_at_most__gt=F("needed_at_least"))
    not_raised = is_adaptive & Q(needed=F("needed_at_least"))
    conditions = {
        # Where a pre-label lets expect something, one more may be needed for that.
        "tied": is_adaptive & Q(is_expecting=False, needed__gt=F("needed_at_least")),
        "agreed": not_raised & Q(state=Item.State.DONE),
        "may_tie": not_raised & Q(state=Item.State.OPEN, done__lt=F("needed")),
        "untouched": Q(state=Item.State.OPEN, done=0),
    }
    sums = {name: Sum("many", filter=condition, default=0) for name, condition in conditions.items()}
    rows = alike.values("queue", "state").annotate(
        items=Sum("many"), slots=Sum(F("needed") * F("many")), judgments=Sum(F("done") * F("many")), **sums
    )
    for one in rows:
        row: dict[str, Any] = dict(one)
        counts = by_queue[row["queue"]]
        is_open = row["state"] == Item.State.OPEN
        counts[Item.State.DONE if row["state"] in GOLD_STATES else row["state"]] += row["items"]
        counts["total"] += row["items"]
        counts["needed"] += row["slots"] if is_open else row["judgments"]
        counts["done_judgments"] += row["judgments"]
        for name in BY_CONDITION:
            counts[name] += row[name]
    more = to_give(by_queue)
    for queue in Queue.objects.filter(pk__in=more) if more else ():
        for name in ("total", Item.State.OPEN.value, "untouched"):
            by_queue[queue.pk][name] += more[queue.pk]
        by_queue[queue.pk]["needed"] += more[queue.pk] * queue.judgments_per_item
    return by_queue


def expected_for_ties(tied: int, agreed: int, may_tie: int) -> float:
    """Number of further judgments that the open items of `item_counts` are expected to need because of ties.

    At the share of items that tied so far, as if one of ten had before any did.

    >>> expected_for_ties(tied=19, agreed=71, may_tie=50)
    10.0
    """
    tied_before, all_before = TIES_BEFORE
    return may_tie * (tied + tied_before) / (tied + agreed + all_before)


def _open_items(queue: Queue, counts: Mapping[str, int], now: datetime) -> OpenItems:
    """Open items: held, waiting for another opinion, and free of both; only the few held are looked at."""
    open_items = Item.objects.filter(queue=queue, order_key__gt=0, state=Item.State.OPEN)
    leases = open_items.filter(leases__expires_at__gt=now).aggregate(
        all=Count("pk", distinct=True), untouched=Count("pk", distinct=True, filter=Q(done=0))
    )
    judged = counts["open"] - counts["untouched"]
    return {
        "leased": leases["all"],
        "second_opinion": judged - (leases["all"] - leases["untouched"]),
        "free": counts["untouched"] - leases["untouched"],
    }


def _leases(queue: Queue, now: datetime) -> Leases:
    leases = Lease.objects.filter(item__queue=queue, expires_at__gt=now).order_by()
    by_person = leases.values(username=F("annotator__username"))
    rows = by_person.annotate(items=Count("pk"), since=Min("leased_at"))
    holders = sorted(rows, key=lambda row: (row["since"], row["username"]))
    by: list[Holder] = [
        {
            "username": row["username"],
            "items": row["items"],
            "oldest_seconds": (now - row["since"]).total_seconds(),
        }
        for row in holders
    ]
    return {
        "held": sum(row["items"] for row in by),
        "oldest_seconds": by[0]["oldest_seconds"] if by else None,
        "by": by,
    }


def annotator_rows(queue: Queue) -> list[AnnotatorProgress]:
    judged = Judgment.objects.filter(event__queue=queue).order_by().values(name=F("annotator__username"))
    verdicts = judged.annotate(
        judged=Count("pk", filter=OWN),
        **{verdict: Count("pk", filter=OWN & Q(verdict=verdict)) for verdict in Verdict.values},
        gold=Count("pk", filter=OWN & Q(is_gold=True)),
        practice=Count("pk", filter=Q(event__is_practice=True)),
        adjudicated=Count("pk", filter=Q(is_adjudication=True)),
        imported=Count("pk", filter=Q(event__brought_by__isnull=False, is_adjudication=False)),
        spent_ms=Sum("event__active_ms", filter=HERE & OWN),
        timed=Count("event__active_ms", filter=HERE & OWN),
        last_at=Max("judged_at"),
    )
    skips = queue.events.filter(kind=JudgmentEvent.Kind.SKIP).order_by()
    skipped = skips.values(name=F("annotator__username")).annotate(
        many=Count("pk"), last_at=Max("created_at")
    )
    rows: dict[str, dict[str, Any]] = {row["name"]: {**row, "skipped": 0} for row in verdicts}
    for row in skipped:
        of_person = rows.setdefault(row["name"], {**NOTHING, "last_at": row["last_at"]})
        of_person |= {"skipped": row["many"], "last_at": max(of_person["last_at"], row["last_at"])}
    lines: list[Any] = []
    for name, counts in sorted(rows.items(), key=lambda entry: (-entry[1]["judged"], entry[0])):
        counts |= {"username": name, "active_seconds": (counts["spent_ms"] or 0) / 1000}
        lines.append({key: counts[key] for key in AnnotatorProgress.__annotations__})
    return lines


def listed_queues(collection: Collection, user: User) -> QuerySet[Queue]:
    """A collection's queues with `total` and `settled` items (documents, of facts) and `own`, of `user`."""
    # Pairs are counted by a statement of its own: within the list, PostgreSQL adds up the counts of all
    # queues for each.
    queues = list(collection.queues.listed().order_by().values_list("pk", flat=True))
    total, settled = Counter[int](), Counter[int]()
    for (key, state), many in items_by_state(queues).items():
        if state != Item.State.WITHDRAWN:
            total[key] += many
            settled[key] += many if state != Item.State.OPEN else 0
    total.update(to_give(queues))
    documents = FactItem.objects.filter(queue=OuterRef("pk"))
    return (
        own_queues(collection, user)
        .select_related("pool")
        .annotate(
            total=_column(total) + count_in(documents, "queue"),
            settled=_column(settled) + count_in(documents.filter(is_open=False), "queue"),
        )
        .order_by("-opened_at", "-pk")
    )


def _column(counts: Mapping[int, int]) -> Case:
    """The counts of queues, by their keys, to annotate with; 0 for others."""
    cases = (When(pk=key, then=Value(count)) for key, count in counts.items() if count)
    return Case(*cases, default=Value(0), output_field=IntegerField())


def _pace(queue: Queue, now: datetime) -> Pace:
    """Verdicts per day over the last seven days, or since the first if that is less; at least a day.

    What was taken back is no verdict. `annotators` gave them, `per_annotator` each on average a day. Seconds
    are active time: the middle one and the 90th percentile of the last 5,000 verdicts that were timed.
    """
    verdicts = queue.events.filter(
        kind=JudgmentEvent.Kind.VERDICT, gold=None, repeats=None, is_adjudication=False, brought_by=None
    )
    # With the collection, its index of events by time leads to them.
    recent = verdicts.filter(
        collection=queue.collection_id, created_at__gt=now - timedelta(days=PACE_DAYS), created_at__lte=now
    ).exclude(UNDONE)
    verdicts_in, first, people = in_all(recent)
    days = max(now - (first or now), LEAST_PACE) / timedelta(days=1)
    per_day = verdicts_in / days
    newest = verdicts.filter(active_ms__isnull=False).order_by("-pk").values_list("active_ms", flat=True)
    spent = sorted(time for time in newest[:TIMED] if time is not None)
    return {
        "per_day": per_day,
        "annotators": people,
        "per_annotator": per_day / people if people else 0.0,
        "median_seconds": seconds_at(spent, 0.5),
        "p90_seconds": seconds_at(spent, 0.9),
    }


def in_all(events: QuerySet[JudgmentEvent]) -> tuple[int, datetime | None, int]:
    """Events, time of the first, and people, counted person by person, as PostgreSQL does in parallel."""
    by_person = events.order_by().values_list("annotator")
    each = list(by_person.annotate(many=Count("pk"), first=Min("created_at")))
    return sum(many for _, many, _ in each), min((first for _, _, first in each), default=None), len(each)


def _end_date(left: float, per_day: float, now: datetime) -> str | None:
    if left and not per_day:
        return None
    days = left / per_day if left else 0.0
    return (now + timedelta(days=days)).date().isoformat() if days < 36_500 else None
