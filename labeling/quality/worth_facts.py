from __future__ import annotations

from datetime import datetime
from typing import Annotated, TypedDict

from labeling.models import Prelabeler, Queue
from labeling.quality.worth_figures import Calibration, Confusion
from pooling.interface.results import PAGE_ONLY

MOST_QUERIES = 200
SAVED = "Share of an audit's labels, for an interval of equal width."
BEST = "Null unless this is the best of several models."
UNPRICED = "Null if some answers had no price."


class Interval(TypedDict):
    """A figure with its 95 % interval; null where `why` says so, or where there is nothing to divide by."""

    value: float | None
    low: float | None
    high: float | None
    why: Annotated[str, {"allow_blank": True}]


class NamedFigure(Interval):
    """A figure that says what it is."""

    name: str
    title: str
    meaning: str


class BestOfSeveral(TypedDict):
    """The best of several models; `saved` allows for the choice: its interval holds for whichever is best."""

    compared: Annotated[int, "Models with a verdict on these labels."]
    saved: Interval
    sentence: str


class AnswerCounts(TypedDict):
    pairs: int
    relevant: Annotated[int, "Called relevant."]
    spent: Annotated[float | None, UNPRICED]


class WorthRow(AnswerCounts):
    """A model and prompt, and in a sentence whether it pays; null below 50 blind labels of eight queries, and
    `why`."""

    prelabeler: Prelabeler
    relevant: Annotated[int, PAGE_ONLY]
    labels: Annotated[int, "Given blind."]
    missed: Interval
    saved: Annotated[Interval, SAVED]
    verdict: str | None
    why: Annotated[str, {"allow_blank": True}]
    best: Annotated[BestOfSeveral | None, BEST]


class CostOfPair(TypedDict):
    """Cost of a pre-label; null where nothing is known or priced."""

    per_pair: float | None
    currency: Annotated[str, {"allow_blank": True}]


class TagWorth(TypedDict):
    """Worth for the queries of a tag."""

    tag: str
    labels: int
    agreement: Interval
    kappa: Interval
    missed: Interval


class QueryWorth(TypedDict):
    """Labels of a query, and where the model differs."""

    query_id: str
    text: Annotated[str, PAGE_ONLY]
    labels: int
    relevant: int
    missed: int
    wrongly_relevant: int
    tags: Annotated[list[str], PAGE_ONLY]


class Worth(AnswerCounts):
    labels: Annotated[int, "Given blind."]
    queries: Annotated[int, "Number of queries; with fewer than eight no figure is given."]
    weighed: Annotated[bool, "Whether negatives and positives are weighted by their number."]
    audited: Annotated[int, "Labels drawn by an audit, each weighted by its inclusion probability."]
    verdict: str | None
    why: Annotated[str, {"allow_blank": True}]
    best: Annotated[BestOfSeveral | None, BEST]
    saved: Annotated[Interval, SAVED]
    shares: list[NamedFigure]
    numbers: list[NamedFigure]
    confusion: Confusion
    calibration: Calibration
    cost: CostOfPair
    by_tag: list[TagWorth]
    by_query: Annotated[list[QueryWorth], f"Worst first, at most {MOST_QUERIES}."]


class StratumOfSample(TypedDict):
    """Result of a sample of a model's negatives, or positives; `most` is the failure rate not ruled out."""

    population: int
    drawn: int
    labelled: int
    failed: int
    most: float | None
    low: float | None
    high: float | None
    sentence: str


class SampleRow(TypedDict):
    """A verification sample and its queue."""

    queue: Annotated[Queue | None, int, {"source": "queue.pk", "default": None}]
    name: str
    opened_at: datetime
    negatives: StratumOfSample
    positives: StratumOfSample
