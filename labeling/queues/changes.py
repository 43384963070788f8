"""Changes of a running queue by an admin, in one call: its state, redundancy and prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from labeling.judging.leases import release
from labeling.models import Highlight, Lease, Queue
from labeling.queues.costs import PRICES, change_prices
from labeling.queues.opening import change_state
from labeling.queues.options import LATER, checked_public_name
from labeling.queues.redundancy import change_or_start, has_unfinished_change
from pooling.interface.problems import InputError
from pooling.models import Job
from pooling.people.activity_log import record_action


def hand_back(queue: Queue, annotator: User, *, by: User | None = None) -> int:
    """Return what somebody holds in a queue; how many items. Verdicts on their way are taken as late ones."""
    with transaction.atomic():
        leases = Lease.objects.filter(annotator=annotator, item__queue=queue)
        returned = release(queue, annotator, list(leases.values_list("token", flat=True)))
        if returned:
            facts = {"queue": queue.name, "pairs": returned}
            record_action(queue.collection, by, "work handed back", annotator, **facts)
    return returned


def change_queue(queue: Queue, changes: Mapping[str, Any], *, by: User | None = None) -> Job | None:
    """Make the changes that are there: `state`, `public_name`, `highlight`, LATER, the fields of
    `labeling/queues/costs.py`, `judgments_per_item` and `most_judgments_per_item`; what is not named stays.

    Returns the job that changes the redundancy of a large queue, otherwise None. `InputError` says what
    cannot be; what comes before it in this order is changed then.
    """
    if prices := {name: changes[name] for name in PRICES if name in changes}:
        change_prices(queue, prices, by=by)
    if "state" in changes:
        change_state(queue, changes["state"], by=by)
    if (public := changes.get("public_name") or queue.public_name) != queue.public_name:
        public = checked_public_name(public)
        _set(queue, "public_name", public, "queue named for annotators", key="public", by=by)
    if (highlight := changes.get("highlight") or queue.highlight) != queue.highlight:
        if highlight not in Highlight.values:
            problem = f"Unknown highlight “{highlight}”; known are {', '.join(Highlight.values)}."
            raise InputError(problem, field="highlight")
        _set(queue, "highlight", highlight, "queue highlighting changed", by=by)
    for name in LATER:
        if name in changes and changes[name] != getattr(queue, name):
            _set(queue, name, changes[name], "queue setting changed", by=by)
    needed = changes.get("judgments_per_item", queue.judgments_per_item)
    most = changes.get("most_judgments_per_item", queue.most_judgments_per_item)
    has_bounds = "judgments_per_item" in changes or "most_judgments_per_item" in changes
    is_same = (needed, most) == (queue.judgments_per_item, queue.most_judgments_per_item)
    if not has_bounds or (is_same and not has_unfinished_change(queue)):
        return None
    if queue.kind == Queue.Kind.FACTS:
        problem = "A queue of facts keeps its number of judgments. Open another one for what is left."
        raise InputError(problem, field="judgments_per_item")
    started = change_or_start(queue, needed, most, by=by)
    return None if isinstance(started, int) else started


def _set(queue: Queue, name: str, value: Any, action: str, *, key: str = "", by: User | None) -> None:
    """key: what the record of the action calls the value, if not by the name of the field."""
    setattr(queue, name, value)
    with transaction.atomic():
        queue.save(update_fields=[name])
        record_action(queue.collection, by, action, queue.name, **{key or name: value})
