"""A queue's use of pre-labels, seen or not, and for second opinions; the one writer of both."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from labeling.adaptive.reordering import order_anew
from labeling.items.slots import recount
from labeling.items.statements import outdated_expectations
from labeling.models import Item, Prelabeler, PrelabelMode, Queue
from pooling.interface.problems import InputError, refuse_all
from pooling.models import Collection, Pool
from pooling.people.activity_log import record_action

BATCH = 500
LEAST_BLIND, MOST_BLIND = 0.02, 0.9
USUAL_BLIND = 0.1
FIELDS = ("prelabel_mode", "prelabeler", "blind_share", "second_opinion_from")
# What anyone who lets annotators see pre-labels before the verdict has to have read.
WHAT_ASSISTING_DOES = (
    "People who see a model's proposal first drift towards it: in studies, agreement with the model "
    "rose from 56 % to 72 %, and no one became faster."
)


@dataclass(frozen=True)
class PrelabelUse:
    """mode: when annotators see pre-labels; prelabeler: whose. blind_share: of pairs, the control arm, which
    stays blind in every mode. second_opinion_from: how sure a pre-label must be (its score, or 1 minus it)
    for a verdict against it to ask for one judgment more; None: none does."""

    mode: str = PrelabelMode.BLIND
    prelabeler: Prelabeler | None = None
    blind_share: float = USUAL_BLIND
    second_opinion_from: float | None = None


class UseFacts(TypedDict):
    """A `PrelabelUse` as the record of actions keeps it."""

    mode: str
    prelabeler: str | None
    blind_share: float
    second_opinion_from: float | None


def use_of(queue: Queue) -> PrelabelUse:
    return PrelabelUse(queue.prelabel_mode, queue.prelabeler, queue.blind_share, queue.second_opinion_from)


def change_use(
    queue: Queue,
    use: PrelabelUse,
    *,
    by: User | None = None,
    understood: bool = False,
    now: datetime | None = None,
) -> int:
    """Let a queue use pre-labels so; returns how many judged items expect something else of now.

    To show them before the verdict has to be `understood`. `InputError` says what will not do. Items are gone
    through in small transactions, their rows locked in key order; what was interrupted, the same change again
    completes.
    """
    checked_use(queue.collection, use)
    _check_sample(queue, use)
    is_new = queue.prelabel_mode != PrelabelMode.ASSIST
    if use.mode == PrelabelMode.ASSIST and is_new and not understood:
        problem = f"{WHAT_ASSISTING_DOES} Confirm that you have understood this, or keep the queue blind."
        raise InputError(problem, field="understood")
    before = use_of(queue)
    with transaction.atomic():
        queue.prelabel_mode, queue.prelabeler = use.mode, use.prelabeler
        queue.blind_share, queue.second_opinion_from = use.blind_share, use.second_opinion_from
        queue.save(update_fields=FIELDS)
        if use != before:
            facts = {"before": before.mode, **use_facts(use)}
            record_action(queue.collection, by, "use of pre-labels changed", queue.name, **facts)
    return follow_prelabels(queue, now=now)


def use_facts(use: PrelabelUse) -> UseFacts:
    return {
        "mode": str(use.mode),
        "prelabeler": str(use.prelabeler) if use.prelabeler else None,
        "blind_share": use.blind_share,
        "second_opinion_from": use.second_opinion_from,
    }


def follow_prelabeler(prelabeler: Prelabeler) -> int:
    """`follow_prelabels` in all queues with second opinions by this prelabeler; how many items changed."""
    asking = Queue.objects.filter(prelabeler=prelabeler, second_opinion_from__isnull=False)
    return sum(follow_prelabels(queue) for queue in asking.order_by("pk"))


def follow_prelabels(queue: Queue, *, now: datetime | None = None) -> int:
    """Let judged items expect what the queue's pre-labels say now; what nobody has judged waits for it."""
    now = now or timezone.now()
    changed, last = 0, 0
    while expected := outdated_expectations(queue, last, BATCH):
        last = max(expected)
        with transaction.atomic():
            rows = Item.objects.filter(pk__in=expected).order_by("pk")
            items = list(rows.select_for_update(no_key=True))
            expect({item: expected[item.pk] for item in items})
            recount(items, now)
        changed += len(items)
    if changed:
        order_anew(queue, now=now)
    return changed


def expect(expected: dict[Item, str]) -> None:
    """Write what locked items expect, where that is something else than before."""
    changed = {item: verdict for item, verdict in expected.items() if item.expected != verdict}
    for verdict in set(changed.values()):
        keys = [item.pk for item, value in changed.items() if value == verdict]
        Item.objects.filter(pk__in=keys).update(expected=verdict)
    for item, verdict in changed.items():
        item.expected = verdict


def _check_sample(queue: Queue, use: PrelabelUse) -> None:
    """Refuse a model's help for what was drawn to check it, or to estimate next to it."""
    if use.mode != PrelabelMode.BLIND and queue.pool.strategy in Pool.SAMPLES:
        problem = f"“{queue.name}” is a sample to be judged blind. Show pre-labels in another queue."
        raise InputError(problem, field="mode", conflict=True)


def checked_use(collection: Collection, use: PrelabelUse) -> PrelabelUse:
    """Return `use`; `InputError` for what will not do in a queue of the collection."""
    problems = {
        "mode": ""
        if use.mode in PrelabelMode.values
        else f"Pre-labels are {', '.join(PrelabelMode.values)}, not “{use.mode}”.",
        "prelabeler": _prelabeler_problem(collection, use),
        "blind_share": ""
        if LEAST_BLIND <= use.blind_share <= MOST_BLIND
        else f"The share that stays blind is {LEAST_BLIND} to {MOST_BLIND}: without one, nobody can tell "
        "what seeing pre-labels does.",
        "second_opinion_from": ""
        if use.second_opinion_from is None or 0.5 < use.second_opinion_from <= 1
        else "The confidence of a pre-label must be above 0.5 and at most 1.",
    }
    refuse_all(problems)
    return use


def _prelabeler_problem(collection: Collection, use: PrelabelUse) -> str:
    if use.prelabeler is None:
        if use.mode == PrelabelMode.BLIND and use.second_opinion_from is None:
            return ""
        return "Name a model and prompt that has pre-labels."
    if use.prelabeler.collection_id != collection.pk:
        return "These pre-labels belong to another collection."
    return ""
