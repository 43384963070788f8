"""The plain values of an evaluation of facts, as JSON and tables hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from evaluation.significance import IntervalSettings


class FactFigure(TypedDict):
    """A run's mean of one measure over queries. micro and bounds: of fact recall. judged_pairs: the share of
    the pairs of a fact and a document in the first K that somebody judged."""

    mean: float | None
    low: float | None
    high: float | None
    queries: int
    micro: NotRequired[float | None]
    bound_low: NotRequired[float | None]
    bound_high: NotRequired[float | None]
    judged_pairs: NotRequired[float | None]
    line: NotRequired[str]


class FactRow(TypedDict):
    """A figure as a row of CSV; k is None over the whole run."""

    run: str
    measure: str
    k: int | None
    mean: float | None
    low: float | None
    high: float | None
    micro: float | None
    bound_low: float | None
    bound_high: float | None
    judged_pairs: float | None
    queries: int
    line: str


class FactCounts(TypedDict):
    """queries: with facts; without_facts: those of them whose denominator is 0; facts: those that count."""

    queries: int
    without_facts: int
    facts: int


class FactsMeasuredHow(TypedDict):
    """All that the numbers depend on apart from facts, supports and runs."""

    importance: str
    denominator: str
    partial: bool
    zero_relevant: str
    missing: str
    ties: str
    scores: str
    interval: IntervalSettings


class FactResult(TypedDict):
    """What `evaluate --facts --format json` prints under `facts`, next to the figures of each run."""

    conventions: FactsMeasuredHow
    counts: FactCounts
