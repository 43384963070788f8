"""Differences of two runs by the audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from evaluation.comparisons.verdict import Difference
from evaluation.estimates.from_audit import difference_estimate, more_labels, within_pool
from evaluation.estimates.of_pool import Basis, PoolDesign
from evaluation.scoring.results import Evaluation


def audited_differences(
    basis: Basis, names: Sequence[str], cutoffs: Sequence[int]
) -> Mapping[tuple[str, str, int | None], Difference]:
    """Differences by the audit; none where it cannot estimate every query that is scored.

    What it says of some of the queries would rank the runs by the work that happens to be finished. The
    intervals and p-values are each pair's own; the labels wanted are those that decide it among all pairs at
    a cutoff.
    """
    if basis.pool is None or not _covers_all(basis.pool, basis.evaluation):
        return {}

    audit, confidence = basis.pool.audit, basis.evaluation.confidence
    if basis.design_of is not None:
        audit = audit.weighed(basis.design_of)
    defined = audit.strata.filter("defined")
    sampled, left = int(defined["sampled"].sum()), audit.unlabelled
    pooled = within_pool(audit, basis.places)
    differences: dict[tuple[str, str, int | None], Difference] = {}
    pairs = list(combinations(names, 2))
    for one, other in pairs:
        for k in cutoffs:
            made = difference_estimate(audit, pooled, (one, other), k, confidence=confidence)
            low, high = made["low"], made["high"]
            span = None if low is None or high is None else (low, high)
            more = more_labels(made, sampled, left, pairs=len(pairs), confidence=confidence)
            differences[one, other, k] = Difference(made["value"], span, more, made["p_value"])
    return differences


def _covers_all(pool: PoolDesign, evaluation: Evaluation) -> bool:
    scored = set(evaluation.labels.query_ids.to_list())
    if evaluation.design is not None:
        scored = set(evaluation.labels.query_ids.filter(evaluation.design.importance > 0))
    return pool.estimates and not pool.audit.undefined and scored <= set(pool.audit.defined)
