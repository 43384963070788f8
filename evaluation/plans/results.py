"""What a plan says, in plain values: the keys of the page, the HTTP interface and the command.

`evaluation.plans.serializers` has what each of them means. None is what is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from pooling.interface.results import Result

if TYPE_CHECKING:
    from datetime import date

    from pooling.diagnosis.stored import Sizes

# Every setting of a plan by its name, with the value it has.
SettingsInUse = Mapping[str, Any]


class Bases(TypedDict):
    """What each supposed value rests on; a basis is given, measured, labels or assumed."""

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
    """A value that is supposed, on what basis, and both in words."""

    name: str
    value: float | None
    basis: str
    sentence: str


class PlannedPool(TypedDict):
    """Pairs of the pool: chosen by budget and audit, and of these to judge."""

    pairs: int
    chosen: int
    audit: int
    labelled: int
    to_judge: int
    queries: int
    size_by_depth: list[int]


class PlannedRun(TypedDict):
    """Pairs that a run finds, and alone."""

    run: str
    pairs: int
    alone: int
    relevant_alone: int | None


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
    """How many pairs queries have."""

    sizes: Sizes
    thin: ThinQueries


class TeamRow(TypedDict):
    """The work by this many annotators; day: the end for the page."""

    annotators: int
    judgments: float | None
    gold: float | None
    cost: float | None
    hours_each: float | None
    days: float | None
    end_date: str | None
    day: NotRequired[date | None]


class PlannedWork(TypedDict):
    """Judgments that bring labels, and what they take by number of annotators."""

    judgments_needed: float
    for_ties: float
    gold_there: int
    currency: str
    by_annotators: list[TeamRow]


class RunInterval(TypedDict):
    """The interval that is expected for a run, or the widths it may have."""

    run: str
    value: float | None
    low: float | None
    high: float | None
    width: float | None
    width_low: float | None
    width_high: float | None


class ExpectedInterval(TypedDict):
    """How wide the intervals of micro recall will be."""

    k: int
    confidence: float
    mean_width: float | None
    width_low: float | None
    width_high: float | None
    by_run: list[RunInterval]
    method: str | None
    relevant: float | None
    relevant_drawn: float | None
    sentence: str


class PilotSettings(TypedDict):
    """What a plan of the pilot has otherwise."""

    strategy: str
    budget: int
    audit_share: float
    judgments_per_item: int


class Pilot(TypedDict):
    """A few drawn pairs that would tell how much of the pool is relevant."""

    pairs: int
    minutes: float
    cost: float | None
    currency: str
    settings: PilotSettings
    sentence: str


class Power(TypedDict):
    """Queries that find a difference; two numbers while the spread is not known."""

    difference: float
    power: float
    k: int
    deviation: float | None
    labelled_queries: int
    queries_needed: list[int]
    queries: int
    sentence: str


class PlannedLook(TypedDict):
    """What the last look at an audit can rule out at best."""

    remainder: int
    sampled: int
    at_most_missing: int | None
    found: float
    missing_share: float | None
    relevant_share: float
    may_stop: bool


class PlannedOrder(TypedDict):
    """What can be told of an adaptive order before there are labels."""

    least: int
    most: int
    open: int
    best_look: PlannedLook | None
    sentences: list[str]


class PlanResult(TypedDict):
    """What a campaign will be, take and tell."""

    settings: SettingsInUse
    supposed: list[Supposition]
    pool: PlannedPool
    runs: list[PlannedRun]
    overlap: list[list[float]]
    sizes: Sizes
    thin: ThinQueries
    order: PlannedOrder | None
    work: PlannedWork
    recall_interval: ExpectedInterval
    pilot: Pilot | None
    power: Power


class PoolReady(Result):
    """What is stored of a campaign when its pool is, and its queue is not open yet."""

    pool: int


class Campaign(Result):
    """The pool and the queue of a campaign."""

    pool: int
    queue: int
    name: str
    pairs: int
    chosen: int
