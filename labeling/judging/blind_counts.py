"""An annotator's view of a queue: built from their own answers, blind to what an item really is.

A gold question, a pair shown again and a pair that a model doubts count as any other, because nothing here
asks what they are: `own_answers` takes every answer alike, and what is left is a number of a while ago less
the answers since. The state of the queue is shown to admins and viewers (`labeling/progress/counts.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import Coalesce
from django.utils import timezone

from labeling.adaptive.state import to_give
from labeling.facts.items import open_items
from labeling.items.answers import own_answers
from labeling.items.statements import left_of_queries
from labeling.judging.own_work import own_work
from labeling.judging.progress_figures import LEAST_PACE, OwnFigures, Pace, QueueProgress
from labeling.models import (
    Item,
    Judgment,
    JudgmentEvent,
    Lease,
    LeftTold,
    Quarantine,
    Queue,
    Support,
    Verdict,
)
from labeling.models.words import SAME_PAIR
from pooling.models import Collection

# What is left is counted afresh after an hour, and not before as many answers as undo reaches: so the new
# number tells nothing of any single one. Somebody who gave none learns nothing of theirs; after a day
# everybody sees the new number.
STANDS_FOR, ANSWERS_BETWEEN, AT_MOST = timedelta(hours=1), 20, timedelta(days=1)


def count_of_answers(user: User, **of: Any) -> Coalesce:
    """Number of answers of `user` that stand, to annotate with; `of` is what they are counted by."""
    (key,) = of
    return count_in(own_answers(user).filter(**of), key)


def count_in(rows: QuerySet[Any], key: str) -> Coalesce:
    """Number of `rows` that belong to a row, to annotate with; `key` is what they are counted by."""
    counted = rows.order_by().values(key).annotate(many=Count("pk")).values("many")
    return Coalesce(Subquery(counted), 0)


def own_queues(collection: Collection, user: User) -> QuerySet[Queue]:
    """A collection's queues with `own`, what `user` answered (pairs or facts), and `is_paused_for_them`."""
    facts = Support.objects.filter(annotator=user, is_adjudication=False, event__queue=OuterRef("pk"))
    own = count_of_answers(user, queue=OuterRef("pk")) + count_in(facts, "event__queue")
    paused = Quarantine.objects.filter(queue=OuterRef("pk"), annotator=user, lifted_at=None)
    return collection.queues.listed().annotate(own=own, is_paused_for_them=Exists(paused))


def queues_to_judge(collection: Collection, user: User, *, now: datetime | None = None) -> QuerySet[Queue]:
    """`own_queues` with `has_left`: whether an open queue tells `user` that something is left for them."""
    queues = own_queues(collection, user)
    is_open = {"state": Queue.State.OPEN, "kind": Queue.Kind.PAIRS}
    left = queues_with_left(queues.filter(**is_open), user, now=now)
    documents = Exists(open_items(user).filter(queue=OuterRef("pk")))
    has_left = Q(pk__in=left) | documents
    return queues.annotate(has_left=ExpressionWrapper(has_left, output_field=BooleanField()))


def queues_with_left(queues: QuerySet[Queue], user: User, *, now: datetime | None = None) -> set[int]:
    """The queues of pairs in which something is left for `user`; the same statements for any number."""
    own = queues.annotate(own=count_of_answers(user, queue=OuterRef("pk")))
    left = left_in(dict(own.values_list("pk", "own")), user, now=now or timezone.now())
    return {key for key, many in left.items() if many}


def own_figures(queue: Queue, user: User, *, now: datetime | None = None) -> OwnFigures:
    """Verdicts in all, today and by kind, skips, active time, and what is left for this person."""
    now = now or timezone.now()
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    counts: dict[str, Any] = (
        own_answers(user)
        .filter(queue=queue)
        .aggregate(
            done=Count("pk"),
            done_today=Count("pk", filter=Q(created_at__gte=midnight)),
            **{verdict: Count("pk", filter=Q(verdict=verdict)) for verdict in Verdict.values},
            spent_ms=Sum("active_ms"),
        )
    )
    skipped = queue.events.filter(annotator=user, kind=JudgmentEvent.Kind.SKIP).count()
    query = _leases(queue, user, now).order_by("pk").values_list("item__query", flat=True).first()
    return {
        "done": counts["done"],
        "done_today": counts["done_today"],
        "relevant": counts["relevant"],
        "not_relevant": counts["not_relevant"],
        "cannot_judge": counts["cannot_judge"],
        "skipped": skipped,
        "active_seconds": (counts["spent_ms"] or 0) / 1000,
        "left": left_for(queue, user, counts["done"], now=now),
        "left_in_query": left_of_queries(queue, user, {query})[query] if query else None,
    }


def left_for(queue: Queue, user: User, done: int, *, now: datetime) -> int:
    """Number left for somebody with `done` answers in the queue."""
    return left_in({queue.pk: done}, user, now=now)[queue.pk]


def left_in(done: Mapping[int, int], user: User, *, now: datetime) -> dict[int, int]:
    """By queue, the number left for somebody who answered `done` there: the number last shown less their
    answers since, and at least one while they hold any; none where they are in quarantine. The same
    statements for any number of queues."""
    last = {one.queue_id: one for one in LeftTold.objects.filter(queue__in=done, annotator=user)}
    if stale := [key for key, many in done.items() if _is_stale(last.get(key), many, now)]:
        left = _open_for(stale, user)
        rows = [
            LeftTold(queue_id=key, annotator=user, left=left[key], answers=done[key], told_at=now)
            for key in stale
        ]
        LeftTold.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["queue", "annotator"],
            update_fields=["left", "answers", "told_at"],
        )
        last |= {row.queue_id: row for row in rows}
    leases = Lease.objects.filter(annotator=user, item__queue__in=done, expires_at__gt=now)
    held = set(leases.values_list("item__queue", flat=True))
    quarantines = Quarantine.objects.filter(queue__in=done, annotator=user, lifted_at=None)
    paused = set(quarantines.values_list("queue", flat=True))
    return {
        key: 0 if key in paused else max(int(key in held), last[key].left - (many - last[key].answers))
        for key, many in done.items()
    }


def tell_left(queue: Queue, user: User, left: int, now: datetime) -> None:
    done = own_answers(user).filter(queue=queue).count()
    rows = LeftTold.objects.filter(queue=queue, annotator=user)
    rows.update(left=left, answers=done, told_at=now)


def blind_progress(queue: Queue, user: User) -> QueueProgress:
    """`queue_progress` with the same keys from an annotator's own work; null is not told."""
    now = timezone.now()
    own = own_figures(queue, user, now=now)
    done, left, seconds = own["done"], own["left"], own["active_seconds"]
    leases = _leases(queue, user, now).aggregate(many=Count("pk"), since=Min("leased_at"))
    pace = _own_pace(queue, user, now)
    each = seconds / done if done and seconds else None
    days = left / pace["per_day"] if pace["per_day"] else None
    end = now + timedelta(days=days) if days is not None and days < 36_500 else None
    return {
        "queue": queue.pk,
        "name": queue.public_name,
        "state": queue.state,
        "items": {"total": done + left, "open": left, "done": done, "adjudication": None},
        "open_items": {"free": left - leases["many"], "leased": leases["many"], "second_opinion": None},
        "judgments": {"needed": done + left, "done": done, "left": left, "expected_for_ties": None},
        "judged": done / (done + left) if done + left else 1.0,
        "leases": {
            "held": leases["many"],
            "oldest_seconds": (now - leases["since"]).total_seconds() if leases["since"] else None,
            "by": [],
        },
        "pace": pace,
        "cost": {
            "active_seconds": seconds,
            "seconds_per_judgment": each,
            "seconds_left": left * each if each is not None else None,
            "price_per_judgment": None,
            "currency": "",
            "overhead": None,
            "paid_judgments": done,
            "paid_gold": None,
            "paid_repeats": None,
            "judgments_to_pay": None,
            "spent": None,
            "to_finish": None,
        },
        "end_date": end.date().isoformat() if end else None,
        "order": None,
        "by_annotators": [],
        "annotators": [],
        "own": own,
    }


def _is_stale(last: LeftTold | None, done: int, now: datetime) -> bool:
    if last is None:
        return True
    age, since = now - last.told_at, abs(done - last.answers)
    return age >= AT_MOST or (age >= STANDS_FOR and (since == 0 or since >= ANSWERS_BETWEEN))


def _open_for(queues: Sequence[int], user: User) -> Counter[int]:
    """By queue, open items within the budget that `user` has not judged, with what it has yet to give."""
    judged = Judgment.objects.filter(annotator=user, **SAME_PAIR)
    items = Item.objects.filter(queue__in=queues, state=Item.State.OPEN, order_key__gt=0)
    rows = items.exclude(Exists(judged)).order_by().values_list("queue")
    return Counter(dict(rows.annotate(many=Count("pk")))) + Counter(to_give(queues))


def _leases(queue: Queue, user: User, now: datetime) -> QuerySet[Lease]:
    return Lease.objects.filter(annotator=user, item__queue=queue, expires_at__gt=now)


def _own_pace(queue: Queue, user: User, now: datetime) -> Pace:
    """Answers a day over the last seven days, or since the first if that is less; at least a day."""
    recent = own_answers(user).filter(queue=queue, created_at__gt=now - timedelta(days=7))
    counted = recent.aggregate(many=Count("pk"), first=Min("created_at"))
    days = max(now - (counted["first"] or now), LEAST_PACE) / timedelta(days=1)
    work = own_work(queue, user, now=now)
    per_day = counted["many"] / days
    return {
        "per_day": per_day,
        "annotators": int(counted["many"] > 0),
        "per_annotator": per_day,
        "median_seconds": work.median_seconds,
        "p90_seconds": work.slow_seconds,
    }
