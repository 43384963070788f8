"""The plain values of estimates, as JSON and reports hold them; None cannot be said. Loads nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from evaluation.scoring.figures import Figure, HeadlineEstimate, RunFigures, Span

#: What recall rests on: an audit's estimate with an interval over queries and labels; the span of what labels
#: that are awaited leave open; the labels found so far, which tell nothing of the rest; complete labels.
ESTIMATE, SPAN, LABELS, COMPLETE = "estimate", "span", "labels", "complete"


class EstimateFigure(Span):
    """A number with its interval over the draw of labels.

    value: with nothing that has no answer relevant; value_if_relevant: with all of it. covers: which
    uncertainty the interval is about. why: why there is no value, where precision has none.
    """

    value: float | None
    value_if_relevant: float | None
    method: str
    relevant_drawn: int
    covers: str
    why: NotRequired[str]


class NoEstimate(Span):
    """A number that is not estimated, and why, or one without a method to name."""

    value: float | None
    why: str
    value_if_relevant: NotRequired[float | None]
    method: NotRequired[str]


class DifferenceEstimate(EstimateFigure):
    """The micro recall of one run less that of another."""

    p_value: float | None


class RunDifference(EstimateFigure):
    """A difference between two runs at one K."""

    first: str
    second: str
    k: int


class TotalEstimate(EstimateFigure):
    """Number of relevant documents; seen: that people have judged so; at_most_unseen: an exact bound."""

    seen: int
    at_most_unseen: int | None
    confidence: float


class MacroEstimate(NoEstimate):
    """The mean over `queries` with a relevant label."""

    queries: int
    covers: str


class RecallEstimate(TypedDict):
    """Recall over all relevant documents at once, its mean over queries, and which of them is read first."""

    micro: EstimateFigure
    macro: MacroEstimate
    headline: NotRequired[HeadlineEstimate]


class FrameFigures(TypedDict):
    """The frame of an audit. reach: how far down the lists, as far as is known; runs: how many lists; text:
    whether a text ranking is among them; size: pairs in all; whole: true where it is every document of the
    collection, which a file does not tell; queries: of how many queries (first) of the pool (second) the
    audit is answered, where it is not of all."""

    reach: int | None
    runs: int
    text: bool
    size: int
    whole: NotRequired[bool]
    queries: NotRequired[Sequence[int]]


# Run -> `recall@k` -> its estimate.
RecallEstimates = Mapping[str, Mapping[str, RecallEstimate]]


class PoweredFigure(TypedDict):
    """An estimate by people, and the same with a model's pre-labels next to the labels.

    weight: λ; narrower: the share of the human width that is saved; why: why λ is 0, if it is.
    """

    human: EstimateFigure
    powered: EstimateFigure
    weight: float
    narrower: float
    why: str


class PoweredFigures(TypedDict):
    """Over all pairs at once, and as the mean over queries."""

    micro: PoweredFigure
    macro: PoweredFigure


class PoweredTotal(PoweredFigure):
    """Number of relevant documents, and the share of the uncertain pairs that have a prediction."""

    predicted: NotRequired[float]


class PrelabelerName(TypedDict):
    """The model behind an estimate."""

    id: int
    name: str
    model: str


class PoweredEstimates(TypedDict):
    """Estimates of the audit with a model next to it; runs: run -> `recall@k`, `precision@k` -> figures."""

    prelabeler: PrelabelerName
    predicted: float
    relevant: PoweredFigure
    runs: dict[str, dict[str, PoweredFigures]]


class QueryRemainder(TypedDict):
    """A query whose pool can still hold relevant documents that nobody has seen, with the exact bound."""

    query_id: str
    remainder: int
    sampled: int
    relevant: int
    awaited: int
    at_most_unseen: int


class AuditProposal(TypedDict):
    """Precision of an audit; each: what one relevant document of it would stand for."""

    audit_share: float
    documents: int
    remainder: int
    at_most: int | None
    each: float | None


class OtherPool(TypedDict):
    """A pool that estimates could rest on too."""

    name: str
    answered: float


class PoolOfEstimates(TypedDict):
    """The pool behind the labels; a file tells its name alone.

    asked: whether somebody named it. answered: of how many of the runs and queries measured its audit is
    answered. judged_before: of a version that extends another, run -> K -> judged@K without its labels.
    """

    name: str
    version: int | None
    strategy: str | None
    depth: int | None
    depths: dict[str, int] | None
    budget: int | None
    audit_share: float | None
    seed: int | None
    id: NotRequired[int]
    asked: NotRequired[bool]
    answered: NotRequired[float | None]
    others: NotRequired[list[OtherPool]]
    extends: NotRequired[str]
    judged_before: NotRequired[dict[str, dict[str, float | None]]]


class EstimatedQueries(TypedDict):
    """Numbers of queries of the pool, and the first of those that are not estimated."""

    pool: int
    estimated: int
    not_estimated: int
    not_estimated_ids: list[str]


class SampleCounts(TypedDict):
    """Pairs of the estimated queries; awaited: reached by the order and without a label; waiting: audit
    documents without a label in all queries."""

    pairs: int
    certain: int
    remainder: int
    sampled: int
    relevant: int
    unused: int
    cannot_judge: int
    awaited: int
    waiting: int


class FloorFigures(TypedDict):
    """Chao's floor for the relevant documents that exist at all: the fields of `Floor`, and its words."""

    seen: int
    once: int
    twice: int
    runs: int
    total: float | None
    low: float | None
    high: float | None
    confidence: float
    depth: int
    sentence: str


class LeftOutRun(TypedDict):
    """A run's recall had it not helped to find; see `evaluation.leave_one_out`."""

    run: str
    family: str
    unique: int
    recall: float | None
    without: float | None
    drop: float | None
    relative_drop: float | None
    queries: int
    lost: int
    judged: float | None


class LeftOutAt(TypedDict):
    """Every run at one K, alone and with its near-duplicates."""

    runs: list[LeftOutRun]
    families: list[LeftOutRun] | None
    sentence: str


class LeaveOneOut(TypedDict, total=False):
    """By K, counted to a depth; empty where nobody knows how far down the runs were judged."""

    depth: int
    families: list[list[str]]
    at: dict[str, LeftOutAt]


class Estimates(TypedDict):
    """The worth of recall: the audit of the pool, the floor of what is missing, and what a new retriever
    would lose.

    sentence: where `status` is not `estimated`, why. The last two are of a report that has them.
    """

    pool: PoolOfEstimates | None
    queries: EstimatedQueries | None
    sample: SampleCounts | None
    relevant: TotalEstimate | None
    would: AuditProposal | None
    missing: list[QueryRemainder]
    runs: RecallEstimates
    status: str
    sentence: str
    floor: FloorFigures | None
    leave_one_out: LeaveOneOut
    frame: NotRequired[FrameFigures | None]
    prediction_powered: NotRequired[PoweredEstimates | None]
    audit_by_scores: NotRequired[ScoreAuditEstimates | None]


class NamedPool(TypedDict):
    """The pool that an audit by scores was drawn from."""

    id: int
    name: str
    version: int
    extended_by: str | None


class NamedScoreAudit(TypedDict):
    """An audit by scores, and the model that scored."""

    id: int
    name: str
    prelabeler: int
    model: str
    drawn_at: str
    complete: bool


class ScoreAuditCounts(TypedDict):
    """Pairs of an audit by scores; see `evaluation.estimates.score_audit.ScoreAudit`."""

    pairs: int
    certain: int
    lost: int
    population: int
    drawn: int
    sampled: int
    relevant: int
    cannot_judge: int
    waiting: int
    unused: int


class ScoreStratum(TypedDict):
    """One stratum of scores: the rate that was supposed when it was drawn, and what was counted."""

    name: str
    supposed: float
    rests_on: str
    pairs: int
    drawn: int
    sampled: int
    relevant: int
    cannot_judge: int
    waiting: int


class MicroFigure(TypedDict):
    """An estimate over all pairs at once."""

    micro: EstimateFigure | NoEstimate


class ScoreAuditFigures(TypedDict):
    """Estimates of an audit by scores; runs: run -> `recall@k`, `precision@k` -> figure."""

    relevant: TotalEstimate | None
    runs: dict[str, dict[str, MicroFigure]]
    differences: list[RunDifference]
    status: str
    sentence: str


class ScoreAuditEstimates(ScoreAuditFigures):
    """With the audit and its pool, and sentences on what the estimates leave out."""

    pool: NamedPool
    audit: NamedScoreAudit
    counts: ScoreAuditCounts
    strata: list[ScoreStratum]
    notes: list[str]


def runs_with_estimates(runs: Mapping[str, RunFigures], estimates: Estimates) -> dict[str, dict[str, Figure]]:
    """The figures of runs, each `recall@k` with the `estimate` to read first; None without an audit."""
    by_run: dict[str, dict[str, Figure]] = {name: {**figures} for name, figures in runs.items()}
    if estimates["pool"] is None:
        return by_run
    for name, figures in runs.items():
        for key in filter(lambda key: key.startswith("recall@"), figures):
            by_run[name][key] = {**figures[key], "estimate": _headline_of(estimates, name, key)}
    return by_run


def _headline_of(estimates: Estimates, run: str, key: str) -> HeadlineEstimate | None:
    estimate = estimates["runs"].get(run, {}).get(key)
    headline, queries = None if estimate is None else estimate.get("headline"), estimates["queries"]
    if headline is None or headline["value"] is None:
        return None
    return headline if queries is None else {**headline, "queries": [queries["estimated"], queries["pool"]]}
