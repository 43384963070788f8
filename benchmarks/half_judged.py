"""Estimates of a pool of which only part is judged, by simulation; a part of `benchmarks.bench_honesty`.

Of each query's pool a quarter is chosen, a fifth of that by the audit and the rest in the order of reciprocal
rank fusion. Of the chosen pairs 50, 80 or 95 % are labelled: at random, or in the order of a queue, query by
query and shuffled within. The order has then reached documents that nobody has labelled.

Limits: where a query is told a number of relevant documents, so that it awaits nothing, the number is within
three standard errors of the truth in the mean; the interval of the number of relevant documents of the
estimated queries, and that of their micro recall of each run, hold in 92 % of the campaigns less two standard
errors of the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks.bench_prediction_powered import COVERAGE, at_least
from evaluation.estimates.from_audit import relevant_estimate, spanned
from evaluation.estimates.intervals import interval_of_micro_recall
from evaluation.estimates.sample import AuditSample, audit_ranks, audit_sample
from pooling.ranking.ranking import query_starts
from pooling.ranking.sample import choose

if TYPE_CHECKING:
    from benchmarks.bench_honesty import Ground

BUDGET, AUDIT_SHARE = 0.25, 0.2
CELLS = [(way, part) for way in ("at random", "in queue order") for part in (0.5, 0.8, 0.95)]
#: Fewer queries with a number in all campaigns together say nothing of its mean.
FEWEST = 200


@dataclass(frozen=True)
class Half:
    """What one campaign said: by how much the number of each query that was told one was off, whether the
    intervals held, how wide that of the number was against the truth, and how many queries it was about."""

    off: list[float]
    total_held: bool
    recall_held: list[bool]
    width: float
    queries: int
    awaited: int


def half_judged(base: Ground, way: str, labelled: float, seed: int) -> Half:
    audit = sample_of(base, way, labelled, seed)
    numbers = {one: at for at, one in enumerate(base.pool.candidates)}
    about = np.isin(base.query, [numbers[query] for query in audit.defined])
    relevant = int(base.truth[about].sum())
    if not relevant:
        return Half([], True, [], 0.0, 0, 0)
    told = relevant_estimate(audit)
    held = []
    for key, retrieved in base.retrieved.items():
        samples = audit.extremes(retrieved)
        span = spanned([interval_of_micro_recall(one, retrieved) for one in samples], awaited=audit.awaited)
        held.append(
            within(span["low"], (base.truth & base.in_top[key])[about].sum() / relevant, span["high"])
        )
    return Half(
        list(offs(base, audit, numbers)),
        within(told["low"], relevant, told["high"]),
        held,
        (told["high"] - told["low"]) / relevant,
        len(audit.defined),
        audit.awaited,
    )


def sample_of(base: Ground, way: str, labelled: float, seed: int) -> AuditSample:
    """The pool chosen and labelled in part anew, from this seed."""
    budgets = {query: round(BUDGET * len(one)) for query, one in base.pool.candidates.items()}
    in_audit, probability = choose(base.pairs, budget=budgets, audit_share=AUDIT_SHARE, seed=seed)
    starts = query_starts(base.pairs).tolist()
    heads = base.pairs["query_id"].gather(starts).to_list()
    pool = base.pairs.with_columns(
        draw=pl.lit(1, dtype=pl.Int64),
        audit_rank=pl.Series(audit_ranks(heads, base.pairs["document_id"], starts, seed)),
        in_audit=in_audit,
        inclusion_probability=probability,
        known=pl.lit(False),
        cannot_judge=pl.lit(False),
    )
    chosen = np.flatnonzero(probability.is_not_null().to_numpy())
    shuffled = np.random.default_rng(seed).permutation(chosen)
    if way == "in queue order":
        shuffled = shuffled[np.argsort(base.query[shuffled], kind="stable")]
    judged = np.sort(shuffled[: round(labelled * len(chosen))])
    return audit_sample(pool, base.pairs[judged].with_columns(relevant=pl.Series(base.truth[judged])))


def offs(base: Ground, audit: AuditSample, numbers: dict[str, int]) -> Iterator[float]:
    """Estimated less true number of relevant documents of each query that awaits nothing."""
    true = np.bincount(base.query, base.truth)
    weight = pl.col("relevant") / pl.col("inclusion_probability")
    found = audit.sample.group_by("query_id").agg(weight.sum(), pl.col("awaited").sum())
    for query, value, awaited in found.iter_rows():
        if not awaited:
            yield value - true[numbers[query]]


def within(low: float | None, value: float, high: float | None) -> bool:
    """A recall that is undefined rules nothing out."""
    return low is None or high is None or low - 1e-9 <= value <= high + 1e-9


def report(way: str, labelled: float, campaigns: Sequence[Half]) -> bool:
    """Print a cell's figures beside its limits; whether all were kept."""
    told = [one for one in campaigns if one.queries]
    off = np.array([one for half in told for one in half.off])
    total_held = float(np.mean([one.total_held for one in told]))
    recall_held = np.array([one.recall_held for one in told]).mean(axis=0)
    error = off.std(ddof=1) / np.sqrt(len(off)) if len(off) > 1 else np.inf
    is_shown = len(off) >= FEWEST
    shown = (
        f"off by {off.mean():+.3f} ± {error:.3f} relevant documents" if is_shown else "too few to say more"
    )
    print(
        f"  {labelled:.0%} labelled {way}: {np.mean([one.queries for one in told]):.1f} queries estimated, "
        f"awaiting {np.mean([one.awaited for one in told]):.0f} labels\n"
        f"    {len(off):,} queries with a number, {shown}\n"
        f"    the interval of the number holds in {total_held:.3f} and is "
        f"{np.mean([one.width for one in told]):.0%} of it wide; that of micro recall holds in "
        f"{recall_held.min():.3f} or more"
    )
    checks = {
        "number of a query": not is_shown or abs(off.mean()) <= 3 * error,
        "interval of the number": total_held >= at_least(COVERAGE, len(told)),
        "micro recall": recall_held.min() >= at_least(COVERAGE, len(told)),
    }
    missed = [check for check, fine in checks.items() if not fine]
    print(f"    {'LIMIT MISSED: ' + ', '.join(missed) if missed else 'limits kept'}", flush=True)
    return not missed
