"""What an admin changes about a running queue, in one call: its state, redundancy and prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labeling.models import Queue
from labeling.queues.costs import PRICES, change_prices
from labeling.queues.opening import change_state
from labeling.queues.redundancy import change_or_start, has_unfinished_change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import User

    from pooling.models import Job


def change_queue(queue: Queue, changes: Mapping[str, Any], *, by: User | None = None) -> Job | None:
    """Make the changes that are there: `state`, the fields of `labeling/queues/costs.py`,
    `judgments_per_item` and
    `most_judgments_per_item`; what is not named stays.
    Returns the job that changes the redundancy of a large queue, otherwise None. `InputError` says what
    cannot be; what comes before it in this order is changed then.
    """
    if prices := {name: changes[name] for name in PRICES if name in changes}:
        change_prices(queue, prices, by=by)
    if "state" in changes:
        change_state(queue, changes["state"], by=by)
    needed = changes.get("judgments_per_item", queue.judgments_per_item)
    most = changes.get("most_judgments_per_item", queue.most_judgments_per_item)
    is_asked = "judgments_per_item" in changes or "most_judgments_per_item" in changes
    is_same = (needed, most) == (queue.judgments_per_item, queue.most_judgments_per_item)
    if not is_asked or (is_same and not has_unfinished_change(queue)):
        return None
    started = change_or_start(queue, needed, most, by=by)
    return None if isinstance(started, int) else started
