"""How far a queue has come, as pages, commands and the HTTP interface get it: the true figures, which
`labeling/progress/counts.py` counts, or an annotator's own under the same keys.
"""

from __future__ import annotations

from datetime import datetime
from typing import NotRequired, TypedDict

from labeling.adaptive.facts import OrderSummary


class Items(TypedDict):
    """Items by state; null is not told."""

    total: int
    open: int
    done: int
    adjudication: int | None


class OpenItems(TypedDict):
    """Open items: free, held, and waiting for another opinion; null is not told."""

    free: int
    leased: int
    second_opinion: int | None


class JudgmentCounts(TypedDict):
    """Judgments that are needed, done and left, and how many more ties are expected to ask for."""

    needed: int
    done: int
    left: int
    expected_for_ties: float | None


class Holder(TypedDict):
    """How many items somebody holds, and since when the oldest, in seconds."""

    username: str
    items: int
    oldest_seconds: float


class Leases(TypedDict):
    """How many items are held now, by whom, and for how long the oldest lease has been."""

    held: int
    oldest_seconds: float | None
    by: list[Holder]


class Pace(TypedDict):
    """Verdicts a day, by how many people, by each on average; and seconds of active time for one."""

    per_day: float
    annotators: int
    per_annotator: float
    median_seconds: float | None
    p90_seconds: float | None


class JudgmentCosts(TypedDict):
    """What judgments cost, so far and to finish; amounts are null without a price."""

    price_per_judgment: float | None
    currency: str
    overhead: float | None
    paid_judgments: int
    paid_gold: int | None
    paid_repeats: int | None
    judgments_to_pay: int | None
    spent: float | None
    to_finish: float | None


class Cost(JudgmentCosts):
    """The same with active time, in seconds: of all, of one, and what is expected to be left."""

    active_seconds: float
    seconds_per_judgment: float | None
    seconds_left: float | None


class TeamEnd(TypedDict):
    """The end date (ISO) if this many annotators work."""

    annotators: int
    end_date: str | None


class AnnotatorProgress(TypedDict):
    """What an annotator did in a queue: standing verdicts by kind, skips, active time."""

    username: str
    judged: int
    relevant: int
    not_relevant: int
    cannot_judge: int
    gold: int
    adjudicated: int
    imported: int
    timed: int
    skipped: int
    spent_ms: int | None
    last_at: datetime
    active_seconds: float


class OwnFigures(TypedDict):
    """Somebody's own numbers in a queue; `left_in_query` is null when they hold nothing."""

    done: int
    done_today: int
    relevant: int
    not_relevant: int
    cannot_judge: int
    skipped: int
    active_seconds: float
    left: int
    left_in_query: int | None


class QueueProgress(TypedDict):
    """How far a queue has come.

    `judged` is the share of the needed judgments that are there (0 to 1); `end_date` (ISO) is null where it
    is unknown; `order` says what moves an adaptive queue.
    """

    queue: int
    name: str
    state: str
    items: Items
    open_items: OpenItems
    judgments: JudgmentCounts
    judged: float
    leases: Leases
    pace: Pace
    cost: Cost
    end_date: str | None
    order: OrderSummary | None
    by_annotators: list[TeamEnd]
    annotators: list[AnnotatorProgress]
    own: NotRequired[OwnFigures]
