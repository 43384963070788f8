"""What a model's pre-labels are worth, as pages, the HTTP interface and commands get it."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from labeling.models import Prelabeler, Queue


class Interval(TypedDict):
    """A figure with its interval; null where there is too little, with `why`, or where it is infinite."""

    value: float | None
    low: float | None
    high: float | None
    why: str


class NamedFigure(Interval):
    """The same with its name, its title, and what it means."""

    name: str
    title: str
    meaning: str


class BestOfSeveral(TypedDict):
    """What choosing the best of `compared` models does to its figure."""

    compared: int
    saved: Interval
    sentence: str


class Asked(TypedDict):
    """Pairs with a pre-label, how many of them relevant, and what all answers have cost; null where some were
    had without a price.
    """

    pairs: int
    relevant: int
    spent: float | None


class WorthRow(Asked):
    """A model of a collection in the list of all."""

    prelabeler: Prelabeler
    labels: int
    missed: Interval
    saved: Interval
    verdict: str | None
    why: str
    best: BestOfSeveral | None


class ConfusionCounts(TypedDict):
    """Pairs by what the person and the model said of them, unweighted."""

    both: int
    model_only: int
    person_only: int
    neither: int


class ShareOfBin(Interval):
    """The share of relevant in a bin: `count` of its `labels`; see `labeling.consensus.shares.Share`."""

    count: int
    labels: int
    method: str


class CalibrationBin(TypedDict):
    """Pairs whose score lies in [low, high): the mean score, and how many of them people found relevant."""

    low: float
    high: float
    score: float
    relevant: ShareOfBin


class CalibrationFigures(TypedDict):
    """Whether scores are chances: see `labeling.verification.figures.Calibration`."""

    bins: list[CalibrationBin]
    error: float | None
    brier: float | None


class CostOfPair(TypedDict):
    """What a pair cost; null where that is not known."""

    per_pair: float | None
    currency: str


class TagWorth(TypedDict):
    """Some figures of the queries with one tag."""

    tag: str
    labels: int
    agreement: Interval
    kappa: Interval
    missed: Interval


class QueryWorth(TypedDict):
    """Blind labels of a query, and where the model says otherwise."""

    query_id: str
    text: str
    labels: int
    relevant: int
    missed: int
    wrongly_relevant: int
    tags: list[str]


class Worth(Asked):
    """All figures of one model; `weighed` and `audited` are as in `Evidence`, queries come worst first."""

    labels: int
    queries: int
    weighed: bool
    audited: int
    verdict: str | None
    why: str
    best: BestOfSeveral | None
    saved: Interval
    shares: list[NamedFigure]
    numbers: list[NamedFigure]
    confusion: ConfusionCounts
    calibration: CalibrationFigures
    cost: CostOfPair
    by_tag: list[TagWorth]
    by_query: list[QueryWorth]


class StratumOfSample(TypedDict):
    """Negatives or positives of a sample: drawn, labelled, failed (relevant among negatives, not relevant
    among positives), `most` (the failure rate that is not ruled out), and the interval of that rate.
    """

    population: int
    drawn: int
    labelled: int
    failed: int
    most: float | None
    low: float | None
    high: float | None
    sentence: str


class SampleRow(TypedDict):
    """A verification sample with its queue, if there still is one."""

    queue: Queue | None
    name: str
    opened_at: datetime
    negatives: StratumOfSample
    positives: StratumOfSample
