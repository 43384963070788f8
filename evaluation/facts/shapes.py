from __future__ import annotations

from typing import NotRequired, TypedDict

from evaluation.measures.intervals import IntervalSettings


class FactFigure(TypedDict):
    """A run's mean of one measure over queries. micro and bounds: of fact recall. judged_pairs: the share of
    the pairs of a fact and a document in the first K that somebody judged; decided_pairs: with those whose
    document is not relevant."""

    mean: float | None
    low: float | None
    high: float | None
    queries: int
    micro: NotRequired[float | None]
    bound_low: NotRequired[float | None]
    bound_high: NotRequired[float | None]
    judged_pairs: NotRequired[float | None]
    decided_pairs: NotRequired[float | None]
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


class RuledPairs(TypedDict):
    """Pairs of a fact and a document that is not relevant. ruled_pairs: count as no support, unseen;
    checked_pairs: somebody judged; checked_supports: and found a support."""

    ruled_pairs: NotRequired[int]
    checked_pairs: NotRequired[int]
    checked_supports: NotRequired[int]


class FactCounts(RuledPairs):
    """queries: with facts; without_facts: those of them whose denominator is 0; facts: those that count;
    without_judged: queries with facts of which nobody judged a pair, which are in no mean."""

    queries: int
    without_facts: int
    facts: int
    without_judged: NotRequired[int]


class FactsMeasuredHow(TypedDict):
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


class FactFigures(FactResult):
    """The same with the figures: run -> measure at K."""

    runs: dict[str, dict[str, FactFigure]]


class ContextFigure(TypedDict):
    """What the first K give a reader. characters: mean length of their texts; facts: held for each 1,000 of
    these, with its interval over queries; nothing_new: of the first K, the share that supports a fact and
    none that is not above already. None where no text is known."""

    characters: float | None
    facts: float | None
    low: float | None
    high: float | None
    nothing_new: float | None


class ReportFacts(FactFigures):
    """What a report holds of facts. vital: fact recall of vital facts alone; context: run -> K. covered_by:
    see `labeling.facts.releasing.FrozenFacts`."""

    vital: dict[str, dict[str, FactFigure]]
    context: dict[str, dict[str, ContextFigure]]
    covered_by: int | None
