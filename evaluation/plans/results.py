"""A plan in plain values: the keys of page, HTTP interface and command. None is not known."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, NotRequired, TypedDict

from pooling.interface.results import PAGE_ONLY, Result
from pooling.merging.stored_diagnosis import Sizes

# Every setting of a plan by its name, with the value it has.
SettingsInUse = Mapping[str, Any]


class Bases(TypedDict):
    """Source of each supposed value; a basis is given, measured, labels or assumed."""

    relevant_share: float | None
    relevant_basis: str
    relevant_range: tuple[float, float]
    labelled: int
    fewest_labels: int
    seconds_basis: str
    ties_basis: str
    can_tie: bool
    gold_there: int


class Supposition(TypedDict):
    """An assumption; `basis` is given, measured, labels or assumed."""

    name: str
    value: Annotated[float | None, "Null: not known."]
    basis: str
    sentence: str


class PlannedPool(TypedDict):
    """`pairs`: down to the depth; `chosen`: by budget and audit; `audit`: about how many of these are drawn,
    from the reach as well; `to_judge`: of these without a label."""

    pairs: int
    chosen: int
    audit: int
    labelled: int
    to_judge: int
    queries: int
    size_by_depth: Annotated[list[int], "From depth 1 on; runs with their own depth always use it."]


class PlannedRun(TypedDict):
    """`alone`: pairs that no other chosen run finds."""

    run: str
    pairs: int
    alone: int
    relevant_alone: Annotated[int | None, "Null while nothing has a label."]


class PlannedRuns(TypedDict):
    """The runs, and the share of each one's top that each other has too."""

    runs: list[PlannedRun]
    overlap: list[list[float]]


class ThinQueries(TypedDict):
    """As `Thin`, with the queries that have no pair at all."""

    below: float
    count: int
    queries: list[list[str | int]]
    without: int


class PlannedQueries(TypedDict):
    sizes: Sizes
    thin: ThinQueries


class TeamRow(TypedDict):
    """The work by this many annotators; null where a pair needs more people, or no price is set."""

    annotators: int
    judgments: Annotated[float | None, "All that are paid: gold, practice, repeats."]
    gold: float | None
    cost: float | None
    hours_each: float | None
    days: float | None
    end_date: Annotated[str | None, date]
    day: NotRequired[Annotated[date | None, PAGE_ONLY]]


class PlannedWork(TypedDict):
    """Judgments that bring labels, and what they take by number of annotators."""

    judgments_needed: float
    for_ties: float
    gold_there: Annotated[int, "Gold questions of the collection."]
    currency: str
    by_annotators: list[TeamRow]


class RunInterval(TypedDict):
    """The expected interval of a run's micro recall; only a range of widths if it is not known how much is
    relevant."""

    run: str
    value: float | None
    low: float | None
    high: float | None
    width: float | None
    width_low: float | None
    width_high: float | None


class ExpectedInterval(TypedDict):
    """Width of the interval of micro recall; null, and a sentence why, where there will be none."""

    k: int
    confidence: float
    mean_width: Annotated[float | None, "Null if it is not known how much of the pool is relevant."]
    width_low: Annotated[float | None, "Over 5 to 40 % relevant, or what the labels leave open."]
    width_high: float | None
    by_run: list[RunInterval]
    method: str | None
    relevant: Annotated[float | None, "Relevant pairs of the pool, as assumed."]
    relevant_drawn: Annotated[float | None, "Of these, in the audit outside the greedy part."]
    sentence: str


class HeadlineWidth(TypedDict):
    """The likely width of the headline's interval, and its ends over what is not known; null without an
    audit."""

    width: Annotated[float | None, "Null if nobody knows how much is relevant."]
    width_low: float | None
    width_high: Annotated[float | None, "To plan with: of queries that differ much."]
    is_macro: Annotated[
        bool, "A mean over queries. False: it may be recall over all queries together, and wider."
    ]
    words: NotRequired[Annotated[str, PAGE_ONLY]]


class ReachCost(TypedDict):
    """Pairs that an audit to this reach draws from; null is the pool."""

    reach: int | None
    documents: Annotated[float, "In the frame of a query, the median."]
    pairs: Annotated[int, "In all frames."]
    is_whole: Annotated[bool, "Whether it is the collection."]


class BudgetRow(TypedDict):
    """Widths for a budget, in the order of `reaches`."""

    budget: Annotated[int, "Pairs in all, audit included."]
    per_query: float
    is_planned: bool
    widths: list[HeadlineWidth]


class ExpectedHeadline(HeadlineWidth):
    """The interval of the report's first number: mean recall over queries, queries and labels together."""

    k: int
    confidence: float
    has_audit: Annotated[bool, "False: the headline is of what was found, without one."]
    reaches: list[ReachCost]
    budgets: list[BudgetRow]
    sentences: list[str]


class PilotSettings(TypedDict):
    strategy: str
    budget: int
    audit_share: float
    judgments_per_item: int


class Pilot(TypedDict):
    """A few drawn pairs that would tell how much of the pool is relevant, judged once each."""

    pairs: int
    minutes: Annotated[float, "Of one annotator."]
    cost: float | None
    currency: str
    settings: Annotated[
        PilotSettings, Mapping[str, Any], "Settings of the pilot's plan that differ from this one."
    ]
    sentence: str


class Power(TypedDict):
    """Queries that find a difference; two numbers, least and most, while the spread is not known."""

    difference: float
    power: float
    k: int
    deviation: float | None
    labelled_queries: int
    queries_needed: list[int]
    queries: int
    sentence: str


class PlannedLook(TypedDict):
    """Best outcome of the last look at an audit: nothing that was drawn is relevant."""

    remainder: Annotated[int, "Documents that the order has not reached by then."]
    sampled: Annotated[int, "Of these, drawn and judged."]
    at_most_missing: Annotated[int | None, "Null: nothing would be drawn."]
    found: Annotated[float, "Relevant documents known by then, as assumed."]
    missing_share: float | None
    relevant_share: Annotated[float, "Of the pool, as assumed; 0.4 if not known."]
    may_stop: bool


class PlannedOrder(TypedDict):
    """Properties of an adaptive order before there are labels."""

    least: Annotated[int, "Pairs of the query that gets fewest."]
    most: int
    open: Annotated[int, "Pairs that go where relevant documents turn up."]
    best_look: PlannedLook | None
    sentences: list[str]


class PlanResult(TypedDict):
    """A campaign's size, cost and precision."""

    settings: Annotated[SettingsInUse, "Every setting with the value it has."]
    supposed: list[Supposition]
    pool: PlannedPool
    runs: list[PlannedRun]
    overlap: Annotated[list[list[float]], "`[i][j]`: share of run i's top that run j has too."]
    sizes: Annotated[
        Sizes, Mapping[str, Any], "Pairs per query down to the depth: least, median, mean, most, bins."
    ]
    thin: Annotated[
        ThinQueries, Mapping[str, Any], "Queries with fewer than `below` pairs; `without`: with none."
    ]
    order: Annotated[PlannedOrder | None, "Null: the order is fixed."]
    work: PlannedWork
    headline: ExpectedHeadline
    recall_interval: ExpectedInterval
    pilot: Annotated[Pilot | None, "Null where the width is known, or nothing is drawn."]
    power: Power


class PoolReady(Result):
    """A campaign whose pool is stored and whose queue is not open yet."""

    pool: int


class Campaign(Result):
    """A pool just built with the queue just opened over it."""

    pool: int
    queue: int
    name: str
    pairs: int
    chosen: int
