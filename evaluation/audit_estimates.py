"""What an audit says of runs: estimated recall, differences, relevant documents and what is missing.

Plain values for reports. Intervals and bounds are at `confidence`, a share. Each interval says under `covers`
which uncertainty it is about: `labels` (which documents the audit drew) or `queries and labels` (which
queries were asked as well). Where pairs ended as "can't judge", an interval spans the two extremes: all of
them relevant, and none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from evaluation.audit_sample import PAIR, AuditSample
from evaluation.estimates import Remainder, most_missing, most_missing_in_all
from evaluation.recall_intervals import (
    GAMMA,
    LabelInterval,
    interval_of_micro_recall,
    interval_of_micro_recall_difference,
    interval_of_total,
)
from evaluation.significance import BOOTSTRAP_SAMPLES, LEVEL, mean_intervals

LABELS = "labels"
QUERIES_AND_LABELS = "queries and labels"
# An audit that draws so much of the budget is what a report without one proposes.
PROPOSED_SHARE = 0.1
MOST_QUERIES = 50


@dataclass(frozen=True)
class Places:
    """Where the runs have the pairs: a frame query_id, document_id, rank_0 … in the order of `runs`."""

    frame: pl.DataFrame
    runs: tuple[str, ...]

    def top(self, run: str, k: int) -> pl.DataFrame:
        """The pairs (query_id, document_id) in the run's first k."""
        rank = f"rank_{self.runs.index(run)}"
        return self.frame.filter(pl.col(rank) <= k).select(PAIR)

    def only(self, pairs: pl.DataFrame) -> Places:
        """Of these pairs alone."""
        return Places(self.frame.join(pairs.select(PAIR), on=PAIR, how="semi"), self.runs)


def recall_estimates(
    audit: AuditSample,
    places: Places,
    cutoffs: Sequence[int],
    *,
    confidence: float = LEVEL,
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
) -> dict[str, dict[str, Any]]:
    """Run -> `recall@k` -> {"micro": …, "macro": …}, over the queries that the audit can estimate.

    micro: relevant found / relevant, both weighted by 1/π. macro: the mean of each query's own weighted
    recall, bootstrapped over queries; it errs high where a query's audit holds few relevant documents, since
    a query in which none was drawn looks complete.
    """
    known = within_pool(audit, places)
    keys = [(run, k) for run in places.runs for k in cutoffs]
    drawing = {"samples": samples, "seed": seed, "level": confidence}
    means, lows, highs, counted = _macro(audit, known, keys, drawing)
    result: dict[str, dict[str, Any]] = {run: {} for run in places.runs}
    for at, (run, k) in enumerate(keys):
        top = known.top(run, k)
        both = [interval_of_micro_recall(sample, top, confidence=confidence) for sample in _extremes(audit)]
        macro = {"value": _plain(means[at]), "low": _plain(lows[at]), "high": _plain(highs[at])}
        result[run][f"recall@{k}"] = {
            "micro": spanned(both),
            "macro": {**macro, "queries": counted, "covers": QUERIES_AND_LABELS},
        }
    return result


def within_pool(audit: AuditSample, places: Places) -> Places:
    """The places of the documents that the estimates are about: judged or not, but of estimated queries."""
    return places.only(pl.concat([audit.sample.select(PAIR), audit.unsampled]))


def difference_estimate(
    audit: AuditSample, known: Places, first: str, second: str, k: int, *, confidence: float = LEVEL
) -> dict[str, Any]:
    """The micro recall of one run minus that of another with its interval; `known` is of `within_pool`."""
    tops = known.top(first, k), known.top(second, k)
    samples = _extremes(audit)
    both = [interval_of_micro_recall_difference(one, *tops, confidence=confidence) for one in samples]
    return spanned(both)


def spanned(found: Sequence[LabelInterval]) -> dict[str, Any]:
    """One interval as plain values, or the span of the two extremes of what nobody could judge."""
    values = [one.value for one in found]
    limits = [(one.low, one.high) for one in found if one.low is not None and one.high is not None]
    whole = len(limits) == len(found)
    return {
        "value": values[0],
        "value_if_relevant": values[-1],
        "low": min(low for low, _ in limits) if whole else None,
        "high": max(high for _, high in limits) if whole else None,
        "method": found[0].method,
        "relevant_drawn": found[0].relevant_drawn,
        "covers": LABELS,
    }


def relevant_estimate(audit: AuditSample, *, confidence: float = LEVEL) -> dict[str, Any]:
    """How many relevant documents the pools of the estimated queries hold, and at most how many of them the
    judged part lacks (exact, over all queries together; None where documents were not drawn alike)."""
    both = [interval_of_total(sample, confidence=confidence) for sample in _extremes(audit)]
    remainders = audit.remainders(relevant=True)
    bound = most_missing_in_all(remainders, confidence) if audit.simple else None
    found, seen = spanned(both), [int(sample["relevant"].sum()) for sample in _extremes(audit)]
    if found["high"] is not None:
        found["high"] = min(found["high"], float(seen[-1] + audit.unsampled.height))
    return {
        **found,
        "seen": seen[0],
        "at_most_unseen": None if bound is None else bound - sum(one.relevant for one in remainders),
        "confidence": confidence,
    }


def missing_by_query(audit: AuditSample, *, confidence: float = LEVEL) -> list[dict[str, Any]]:
    """The estimated queries whose remainders can still hold most, with each one's exact bound; 50 at most.

    Where a query was drawn from several times, its bound is the sum of those of its draws, each of which may
    err in its part of 1 - confidence (Bonferroni).
    """
    if not audit.simple:
        return []
    rows = audit.strata.filter(pl.col("defined") & (pl.col("remainder") > 0))["query_id"].to_list()
    draws = Counter(rows)
    by_query: dict[str, dict[str, Any]] = {}
    for query_id, remainder in zip(rows, audit.remainders(relevant=True), strict=True):
        bound = most_missing(remainder, 1 - (1 - confidence) / draws[query_id])
        held = by_query.setdefault(
            query_id, {"query_id": query_id, "remainder": 0, "sampled": 0, "relevant": 0, "at_most_unseen": 0}
        )
        held["remainder"] += remainder.size
        held["sampled"] += remainder.sampled
        held["relevant"] += remainder.relevant
        held["at_most_unseen"] += (bound or 0) - remainder.relevant
    ordered = sorted(by_query.values(), key=lambda held: (-held["at_most_unseen"], held["query_id"]))
    return ordered[:MOST_QUERIES]


def proposal(
    budgets: Sequence[tuple[int, int]], share: float = PROPOSED_SHARE, *, confidence: float = LEVEL
) -> dict[str, Any]:
    """What an audit of `share` would show, from each query's (documents judged, documents in the pool).

    Assumes that the greedy part and the audit do not meet. `at_most` is the exact bound if none of the drawn
    were relevant; `each` is what one relevant of the drawn would add to the estimate.
    """
    from pooling.audit import audit_size

    drawn = [(audit_size(share, judged), judged, size) for judged, size in budgets if judged]
    remainders = [Remainder(max(size - judged + n, n), n, 0) for n, judged, size in drawn if size > judged]
    sampled, left = sum(one.sampled for one in remainders), sum(one.size for one in remainders)
    return {
        "audit_share": share,
        "documents": sampled,
        "remainder": left,
        "at_most": most_missing_in_all(remainders, confidence) if remainders else 0,
        "each": left / sampled if sampled else None,
    }


def more_labels(estimate: dict[str, Any], sampled: int, left: int) -> int | None:
    """About how many audit labels more would let the interval of a difference exclude 0, if it stays.

    The interval narrows with the root of the sample: n · (reach / |difference|)² are needed. None where the
    difference is 0, or its interval comes from the exact bound.
    """
    value, low, high = (estimate[name] for name in ("value", "low", "high"))
    if not value or low is None or estimate["method"] != GAMMA:
        return None
    needed: int = math.ceil(sampled * ((high - low) / 2 / abs(value)) ** 2)
    return min(max(needed - sampled, 1), left)


def _extremes(audit: AuditSample) -> list[pl.DataFrame]:
    """The sample with nothing that nobody could judge relevant and, where there is any, with all of it."""
    least = audit.as_if(relevant=False)
    return [least, audit.as_if(relevant=True)] if audit.unanswered else [least]


def _macro(
    audit: AuditSample, known: Places, keys: Sequence[tuple[str, int]], drawing: Mapping[str, Any]
) -> tuple[Any, Any, Any, int]:
    """Mean, low and high of each key, and the number of queries with a relevant document."""
    weight = pl.col("relevant").cast(pl.Float64) / pl.col("inclusion_probability")
    rows = audit.as_if(relevant=False).join(known.frame, on=PAIR, how="left")
    found = [
        (weight * (pl.col(f"rank_{known.runs.index(run)}") <= k).fill_null(False)).sum().alias(f"{at}")
        for at, (run, k) in enumerate(keys)
    ]
    sums = rows.group_by("query_id").agg(weight.sum().alias("total"), *found).sort("query_id")
    sums = sums.filter(pl.col("total") > 0)
    total = sums["total"].to_numpy()
    values = sums.select([f"{at}" for at in range(len(keys))]).to_numpy() / total[:, None]
    if not len(values):
        nothing = np.full(len(keys), np.nan)
        return nothing, nothing, nothing, 0
    low, high = mean_intervals(np.asarray(values, dtype=np.float64), **drawing)
    return values.mean(axis=0), low, high, len(values)


def _plain(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
