"""Progress of a queue for pages, commands and the HTTP interface: the true figures, which
`labeling/progress/counts.py` counts, or an annotator's own under the same keys."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Annotated, NotRequired, TypedDict

from labeling.adaptive.facts import OrderSummary

#: A pace is of a day at least: nobody goes on all day as in the first hour.
LEAST_PACE = timedelta(days=1)


class Items(TypedDict):
    """Items by state."""

    total: int
    open: int
    done: int
    adjudication: int | None


class OpenItems(TypedDict):
    """The open items: free, held by somebody, or judged and waiting for another opinion."""

    free: int
    leased: int
    second_opinion: int | None


class JudgmentCounts(TypedDict):
    """Judgments that the items need and have, and how many more ties are expected to ask for."""

    needed: int
    done: int
    left: int
    expected_for_ties: Annotated[float | None, "Where a tie asks for one more."]


class Holder(TypedDict):
    """Items that an annotator holds."""

    username: str
    items: int
    oldest_seconds: float


class Leases(TypedDict):
    """Items that are held now, and since when the longest; annotators are not told by whom."""

    held: int
    oldest_seconds: float | None
    by: list[Holder]


class Pace(TypedDict):
    """Verdicts a day, over the last seven days, without gold questions; and active time on a pair. To an
    annotator, of all their own answers."""

    per_day: float
    annotators: Annotated[int, "Who gave them."]
    per_annotator: Annotated[float, "A day."]
    median_seconds: float | None
    p90_seconds: float | None


class JudgmentCosts(TypedDict):
    price_per_judgment: float | None
    currency: str
    overhead: float | None
    paid_judgments: Annotated[int, "All that stand, gold, practice and repeats included."]
    paid_gold: int | None
    paid_repeats: Annotated[int | None, "Of pairs that somebody had judged before."]
    judgments_to_pay: Annotated[int | None, "Still to come, gold and repeats included."]
    spent: Annotated[float | None, "Null without a price."]
    to_finish: float | None


class Cost(JudgmentCosts):
    """Working time, as the judging page measured it, and money; annotators see no money."""

    active_seconds: float
    seconds_per_judgment: float | None
    seconds_left: float | None


class TeamEnd(TypedDict):
    """When a queue ends if this many people work at the pace of now."""

    annotators: int
    end_date: Annotated[str | None, date]


class AnnotatorProgress(TypedDict):
    """One annotator's work in a queue."""

    username: str
    judged: Annotated[int, "Without practice and settled pairs."]
    relevant: int
    not_relevant: int
    cannot_judge: int
    gold: Annotated[int, "Of the judged: answers to hidden gold questions."]
    practice: Annotated[int, "Answers in the practice round, which are paid."]
    adjudicated: Annotated[int, "Verdicts that settled a pair."]
    imported: Annotated[int, "Judgments from files."]
    spent_ms: Annotated[int | None, "Their active time."]
    timed: Annotated[int, "Judgments whose active time is known."]
    last_at: datetime
    skipped: int
    active_seconds: float


class OwnFigures(TypedDict):
    """Your own numbers."""

    done: int
    done_today: int
    relevant: int
    not_relevant: int
    cannot_judge: int
    skipped: int
    active_seconds: float
    left: Annotated[
        int, "Open pairs that you had not judged when it was last counted, less what you judged since."
    ]
    left_in_query: Annotated[int | None, "Those of the query that you hold pairs of."]


class QueueProgress(TypedDict):
    """Progress of a queue. To an annotator all of it is of their own work: items and judgments are what they
    answered and what is left for them, and what they may not know is null."""

    queue: int
    name: str
    state: str
    items: Items
    open_items: OpenItems
    judgments: JudgmentCounts
    judged: Annotated[
        float, "Share of the needed judgments, those expected for ties among them, that are there."
    ]
    leases: Leases
    pace: Pace
    cost: Cost
    end_date: Annotated[str | None, date]
    order: Annotated[OrderSummary | None, "Null: a fixed order, or you are an annotator."]
    by_annotators: list[TeamEnd]
    annotators: list[AnnotatorProgress]
    own: NotRequired[Annotated[OwnFigures, {"required": True}]]
