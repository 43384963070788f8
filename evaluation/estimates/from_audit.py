"""Estimates from an audit: recall, differences, relevant documents and what is missing.

Plain values for reports. Intervals and bounds are at `confidence`, a share. Each interval says under `covers`
which uncertainty it is about: `labels` (which documents the audit drew) or `queries and labels` (which
queries were asked as well). Where pairs have no answer, because they ended as "can't judge" or because the
order reached them and nobody has labelled them yet, an interval spans the extremes: all of them relevant,
none, and for a recall those alone that a run has, or has not. While something is awaited there is no value.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

from evaluation.estimates.intervals import (
    GAMMA,
    SPAN,
    DesignOf,
    LabelInterval,
    alone,
    interval_of_micro_recall,
    interval_of_micro_recall_difference,
    interval_of_total,
    with_queries,
)
from evaluation.estimates.macro_recall import MacroRecall, macro_recalls
from evaluation.estimates.sample import PAIR, AuditSample
from evaluation.estimates.totals import Remainder, most_missing, most_missing_in_all
from evaluation.measures.intervals import LEVEL
from evaluation.scoring.estimate_figures import (
    AuditProposal,
    DifferenceEstimate,
    EstimateFigure,
    MacroEstimate,
    QueryRemainder,
    RecallEstimate,
    TotalEstimate,
)
from evaluation.scoring.figures import HeadlineEstimate
from pooling.heavy import pl
from pooling.ranking.sample import audit_size

LABELS = "labels"
QUERIES_AND_LABELS = "queries and labels"
# An audit that draws so much of the budget is what a report without one proposes.
PROPOSED_SHARE = 0.1
MOST_QUERIES = 50
# So many of a query's documents, drawn from deep in the lists, and ten judged at the top tell recall to about
# ± .13: `benchmarks/bench_headline.py`.
REST_PER_QUERY = 10


@dataclass(frozen=True)
class Places:
    """Places of the pairs in the runs: a frame query_id, document_id, rank_0 … in the order of `runs`.

    skipped: run -> the queries that its means leave out, since it does not answer them. zero_relevant:
    whether queries without a relevant label count 0.
    """

    frame: pl.DataFrame
    runs: tuple[str, ...]
    skipped: Mapping[str, Collection[str]] = field(default_factory=dict)
    zero_relevant: bool = False

    def top(self, run: str, k: int) -> pl.DataFrame:
        """The pairs (query_id, document_id) in the run's first k."""
        rank = f"rank_{self.runs.index(run)}"
        return self.frame.filter(pl.col(rank) <= k).select(PAIR)

    def only(self, pairs: pl.DataFrame) -> Places:
        return replace(self, frame=self.frame.join(pairs.select(PAIR), on=PAIR, how="semi"))


def recall_estimates(
    audit: AuditSample,
    places: Places,
    cutoffs: Sequence[int],
    *,
    confidence: float = LEVEL,
    design_of: DesignOf | None = None,
) -> dict[str, dict[str, RecallEstimate]]:
    """Run -> `recall@k` -> {"micro": …, "macro": …, "headline": …}, over the queries that the audit can
    estimate.

    micro: relevant found / relevant, both weighted by 1/π. macro: the mean over those of the queries that
    have a relevant label, as in `evaluation.estimates.macro_recall`; `why` says why there is none. All three
    leave out the queries that the places skip.
    design_of: how the queries were drawn from a log, where all three are to be of the log.
    """
    if design_of is not None:
        audit = audit.weighed(design_of)
    alike: dict[frozenset[str], list[int]] = {}
    for number, run in enumerate(places.runs):
        alike.setdefault(frozenset(places.skipped.get(run, ())), []).append(number)
    result: dict[str, dict[str, RecallEstimate]] = {run: {} for run in places.runs}
    for skipped, numbers in alike.items():
        keys = [(number, k) for number in numbers for k in cutoffs]
        some = _estimates(audit.without(skipped), places, keys, confidence=confidence, design_of=design_of)
        for run, figures in some.items():
            result[run] |= figures
    return result


def _estimates(
    audit: AuditSample,
    places: Places,
    keys: Sequence[tuple[int, int]],
    *,
    confidence: float,
    design_of: DesignOf | None,
) -> dict[str, dict[str, RecallEstimate]]:
    """`recall_estimates` of (number of a run, K) over all queries of the audit."""
    pooled = within_pool(audit, places)
    plain = replace(audit, sample=audit.sample.drop("weight", strict=False))
    macros = macro_recalls(
        plain,
        pooled.frame,
        keys,
        confidence=confidence,
        design_of=design_of,
        zero_relevant=places.zero_relevant,
    )
    result: dict[str, dict[str, RecallEstimate]] = {}
    for (number, k), macro in zip(keys, macros, strict=True):
        run = places.runs[number]
        top = pooled.top(run, k)
        samples = audit.extremes(top)
        both = [interval_of_micro_recall(sample, top, confidence=confidence) for sample in samples]
        micro = spanned(both, awaited=audit.awaited)
        wide = [
            with_queries(sample, top, interval, confidence=confidence, design_of=design_of)
            for sample, interval in zip(samples, both, strict=True)
        ]
        result.setdefault(run, {})[f"recall@{k}"] = {
            "micro": micro,
            "macro": _plain_macro(macro),
            "headline": _headline(micro["value"], wide, macro),
        }
    return result


def _headline(
    micro: float | None, wide: Sequence[tuple[float | None, float | None]], macro: MacroRecall
) -> HeadlineEstimate:
    if macro.low is not None and macro.high is not None:
        value, low, high, average = macro.value, macro.low, macro.high, "macro"
        return {"value": value, "low": low, "high": high, "average": average, "covers": QUERIES_AND_LABELS}
    ends = [(low, high) for low, high in wide if low is not None and high is not None]
    whole = len(ends) == len(wide)
    return {
        "value": micro,
        "low": min(low for low, _ in ends) if whole else None,
        "high": max(high for _, high in ends) if whole else None,
        "average": "micro",
        "covers": QUERIES_AND_LABELS,
    }


def _plain_macro(macro: MacroRecall) -> MacroEstimate:
    return {
        "value": macro.value,
        "low": macro.low,
        "high": macro.high,
        "queries": macro.queries,
        "why": macro.why,
        "covers": QUERIES_AND_LABELS,
    }


def within_pool(audit: AuditSample, places: Places) -> Places:
    """The places of the documents that the estimates are about: judged or not, but of estimated queries.

    Of a frame deeper than the pool nobody knows all documents, so any place of a run may be one of them.
    """
    if not audit.hidden.is_empty():
        queries = audit.sample["query_id"].unique().implode()
        return replace(places, frame=places.frame.filter(pl.col("query_id").is_in(queries)))
    return places.only(pl.concat([audit.sample.select(PAIR), audit.unsampled]))


def difference_estimate(
    audit: AuditSample, pooled: Places, pair: tuple[str, str], k: int, *, confidence: float = LEVEL
) -> DifferenceEstimate:
    """The micro recall of the first run of a pair minus that of the second with its interval and p-value;
    `pooled` is of `within_pool`.

    p_value: the level at which the interval just reaches 0, the largest of all extremes, and 1 where they
    point in different directions.
    """
    first, second = pair
    audit = audit.without({query for run in pair for query in pooled.skipped.get(run, ())})
    tops = pooled.top(first, k), pooled.top(second, k)
    samples = distinct(audit.extremes(*alone(*tops)))
    both = [interval_of_micro_recall_difference(one, *tops, confidence=confidence) for one in samples]
    span, p_values = spanned(both, awaited=audit.awaited), [one.p_value for one in both]
    values = [one.value for one in both if one.value is not None]
    defined = [p_value for p_value in p_values if p_value is not None]
    opposed = bool(values) and min(values) < 0 < max(values)
    return {**span, "p_value": 1.0 if opposed else max(defined, default=None)}


def distinct(samples: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """The samples without what repeats an earlier one: where few pairs have no answer, most extremes do."""
    kept: list[pl.DataFrame] = []
    for sample in samples:
        if not any(sample.equals(other) for other in kept):
            kept.append(sample)
    return kept


def spanned(intervals: Sequence[LabelInterval], *, awaited: int = 0) -> EstimateFigure:
    """One interval as plain values, or the span of several: with nothing that has no answer relevant, with
    all of it, and other extremes. Without a value while this many labels are awaited."""
    values = [None if awaited else one.value for one in intervals]
    limits = [(one.low, one.high) for one in intervals if one.low is not None and one.high is not None]
    whole = len(limits) == len(intervals)
    return {
        "value": values[0],
        "value_if_relevant": values[min(1, len(values) - 1)],
        "low": min(low for low, _ in limits) if whole else None,
        "high": max(high for _, high in limits) if whole else None,
        "method": SPAN if awaited and whole else intervals[0].method,
        "relevant_drawn": intervals[0].relevant_drawn,
        "covers": LABELS,
    }


def relevant_estimate(audit: AuditSample, *, confidence: float = LEVEL) -> TotalEstimate:
    """Number of relevant documents in the pools of the estimated queries, and at most how many of them nobody
    has seen to be relevant: what has no answer counts whole (exact, over all queries together; None where
    documents were not drawn alike)."""
    samples = audit.extremes()
    both = [interval_of_total(sample, confidence=confidence) for sample in samples]
    remainders = audit.remainders(relevant=True)
    bound = most_missing_in_all(remainders, confidence) if audit.simple else None
    span, seen = spanned(both, awaited=audit.awaited), [int(one["relevant"].sum()) for one in samples]
    if span["high"] is not None:
        span["high"] = min(span["high"], float(seen[-1] + audit.unlabelled))
    unseen = None if bound is None else bound - sum(one.relevant for one in remainders)
    return {
        **span,
        "seen": seen[0],
        "at_most_unseen": None if unseen is None else unseen + seen[-1] - seen[0],
        "confidence": confidence,
    }


def missing_by_query(audit: AuditSample, *, confidence: float = LEVEL) -> list[QueryRemainder]:
    """The estimated queries that can still hold most, with each one's exact bound; 50 at most.

    Where a query was drawn from several times, its bound is the sum of those of its draws, each of which may
    err in its part of 1 - confidence (Bonferroni). What has no answer may be relevant, all of it.
    """
    if not audit.simple:
        return []
    no_answer = pl.col("awaited") + pl.col("unjudgeable") + pl.col("cannot_judge")
    rows = audit.strata.filter("defined").with_columns(no_answer=no_answer)
    draws = Counter(rows.filter(pl.col("remainder") > 0)["query_id"].to_list())
    by_query: dict[str, QueryRemainder] = {}
    for row in rows.filter((pl.col("remainder") > 0) | (pl.col("no_answer") > 0)).iter_rows(named=True):
        query_id, relevant = row["query_id"], row["relevant"] + row["cannot_judge"]
        unseen = row["no_answer"]
        if row["remainder"]:
            remainder = Remainder(row["remainder"], row["sampled"], relevant)
            unseen += (most_missing(remainder, 1 - (1 - confidence) / draws[query_id]) or 0) - relevant
        before = by_query.get(query_id, _no_remainder(query_id))
        by_query[query_id] = {
            "query_id": query_id,
            "remainder": before["remainder"] + row["remainder"],
            "sampled": before["sampled"] + row["sampled"],
            "relevant": before["relevant"] + row["relevant"],
            "awaited": before["awaited"] + row["awaited"],
            "at_most_unseen": before["at_most_unseen"] + unseen,
        }
    ordered = sorted(by_query.values(), key=lambda query: (-query["at_most_unseen"], query["query_id"]))
    return ordered[:MOST_QUERIES]


def _no_remainder(query_id: str) -> QueryRemainder:
    return {
        "query_id": query_id,
        "remainder": 0,
        "sampled": 0,
        "relevant": 0,
        "awaited": 0,
        "at_most_unseen": 0,
    }


def proposal(
    budgets: Sequence[tuple[int, int]], share: float = PROPOSED_SHARE, *, confidence: float = LEVEL
) -> AuditProposal:
    """Precision of an audit of `share`, from each query's (documents judged, documents in the pool).

    Assumes that the greedy part and the audit do not meet. `at_most` is the exact bound if none of the drawn
    were relevant; `each` is what one relevant of the drawn would add to the estimate.
    """
    sizes = [(audit_size(share, judged), judged, size) for judged, size in budgets if judged]
    remainders = [Remainder(max(size - judged + n, n), n, 0) for n, judged, size in sizes if size > judged]
    sampled, left = sum(one.sampled for one in remainders), sum(one.size for one in remainders)
    return {
        "audit_share": share,
        "documents": sampled,
        "remainder": left,
        "at_most": most_missing_in_all(remainders, confidence) if remainders else 0,
        "each": left / sampled if sampled else None,
    }


def more_labels(
    estimate: EstimateFigure, sampled: int, left: int, *, pairs: int = 1, confidence: float = LEVEL
) -> int | None:
    """About how many audit labels more would let the interval of a difference exclude 0, if it stays.

    The interval narrows with the root of the sample: n · (reach / |difference|)² are needed. For one of many
    pairs the reach is that of the level divided among them, with which a correction begins. None where the
    difference is 0, or its interval comes from the exact bound.
    """
    value, low, high = estimate["value"], estimate["low"], estimate["high"]
    if not value or low is None or high is None or estimate["method"] != GAMMA:
        return None
    normal, error = NormalDist(), (1 - confidence) / 2
    reach = (high - low) / 2 * normal.inv_cdf(1 - error / pairs) / normal.inv_cdf(1 - error)
    needed: int = math.ceil(sampled * (reach / abs(value)) ** 2)
    return min(max(needed - sampled, 1), left)
