"""The pool behind a report's release, as estimates want it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TypedDict

from django.db.models import Count

from evaluation.estimates.of_pool import Basis, PoolDesign, recall_cutoffs
from evaluation.estimates.pool_choice import PoolChoice, choose_pool
from evaluation.estimates.powered import powered_estimates, powered_relevant_estimate
from evaluation.estimates.stored_sample import PAIR, brought_pairs, budgets
from evaluation.scoring.estimate_figures import FrameFigures, PoolOfEstimates, PoweredEstimates
from evaluation.scoring.figures import mean_as_read
from evaluation.scoring.results import Evaluation
from labeling.models import Prelabeler, QrelsRelease
from labeling.quality.score_audits import pool_scores, prelabels_of_pool
from pooling.heavy import np, pl
from pooling.models import Collection, Pool


def powered_of(basis: Basis | None) -> PoweredEstimates | None:
    """`prelabeler`, `predicted` (the share of the uncertain pairs with a pre-label), `relevant` and `runs` as
    in `evaluation.estimates.powered`; None without an audit that estimates, or pre-labels of its pool.

    The model is the one with most pre-labels of the pool, of these the newest: not the one whose figures
    please. Local models are left out, since they have learned from the labels of the audit.
    """
    if basis is None or basis.pool is None or not basis.pool.estimates:
        return None
    pool = Pool.objects.get(pk=basis.pool.described["id"])
    if (prelabeler := _prelabeler_of(pool)) is None:
        return None
    audit, confidence = basis.pool.audit, basis.evaluation.confidence
    predictions = pool_scores(pool, prelabeler).rename({"score": "prediction"})
    relevant = powered_relevant_estimate(audit, predictions, confidence=confidence)
    cutoffs = recall_cutoffs(basis.evaluation)
    return {
        "prelabeler": {"id": prelabeler.pk, "name": str(prelabeler), "model": prelabeler.model},
        "predicted": relevant.pop("predicted"),
        "relevant": relevant,
        "runs": powered_estimates(audit, basis.places, predictions, cutoffs, confidence=confidence),
    }


def _prelabeler_of(pool: Pool) -> Prelabeler | None:
    rows = prelabels_of_pool(pool).filter(prelabeler__source=Prelabeler.Source.LANGUAGE_MODEL).order_by()
    counts = rows.values("prelabeler").annotate(pairs=Count("pk")).order_by("-pairs", "-prelabeler")
    most = counts.first()
    return None if most is None else Prelabeler.objects.get(pk=most["prelabeler"])


def basis_of(
    collection: Collection,
    release: QrelsRelease,
    qrels: pl.DataFrame,
    evaluation: Evaluation,
    *,
    named_pool: Pool | None = None,
) -> Basis:
    """Read the runs again for documents without a label, and for its audit the pool asked for or chosen."""
    basis = Basis.of(evaluation, None)
    choice = choose_pool(collection, release, qrels, evaluation, named_pool=named_pool)
    if choice is None:
        return basis
    pool = choice.pool
    described: PoolOfEstimates = {**_described(pool), **choice.described(), **_extension(pool, basis, qrels)}
    depths = {name: pool.depth_of(name) for name in evaluation.runs}
    frame = _frame(choice, depths) if choice.has_audit else None
    design = PoolDesign(described, choice.audit, partial(budgets, pool), depths, choice.has_audit, frame)
    members = pool.pool_runs.values_list("run__name", flat=True)
    return replace(basis, pool=replace(design, members=frozenset(members)))


def _frame(choice: PoolChoice, depths: Mapping[str, int]) -> FrameFigures:
    pool = choice.pool
    frame: FrameFigures = {
        "reach": pool.reach or min(depths.values(), default=pool.depth),
        "runs": pool.pool_runs.count(),
        "text": bool(pool.frame.get("text")),
        "size": int(choice.audit.strata["pairs"].sum()),
    }
    if frame["text"] and min(pool.frame["sizes"].values()) >= pool.collection.documents.listed().count():
        frame["whole"] = True
    return frame


def _described(pool: Pool) -> PoolOfEstimates:
    return {
        "name": pool.name,
        "version": pool.version,
        "strategy": pool.strategy,
        "depth": pool.depth,
        "depths": pool.depths,
        "budget": pool.budget,
        "audit_share": pool.audit_share,
        "seed": pool.seed,
    }


class _Extension(TypedDict, total=False):
    extends: str
    judged_before: dict[str, dict[str, float | None]]


def _extension(pool: Pool, basis: Basis, qrels: pl.DataFrame) -> _Extension:
    """Of a pool's later version: what it extends, and judged@K of its new runs without its own labels."""
    if pool.extends is None:
        return {}

    evaluation = basis.evaluation
    new = [run for run in pool.diagnostics["new"]["runs"] if run in evaluation.runs]
    labelled = brought_pairs(pool).join(qrels.filter(pl.col("relevance") >= 0), on=PAIR, how="semi")
    brought = basis.places.frame.join(labelled, on=PAIR, how="semi")
    before: dict[str, dict[str, float | None]] = {run: {} for run in new}
    rows = pl.DataFrame({"query_id": evaluation.labels.query_ids}).with_row_index("row")
    for run in new:
        counts, scored = evaluation.runs[run].counted.counts, evaluation.runs[run].scored
        places = brought.select("query_id", rank=f"rank_{basis.places.runs.index(run)}").drop_nulls()
        placed = places.join(rows.filter(scored), on="query_id")
        row, rank = placed["row"].to_numpy(), placed["rank"].to_numpy()
        for at, k in enumerate(map(int, evaluation.cutoffs)):
            now, retrieved = mean_as_read(evaluation.figure(run, "judged", k)), counts.retrieved[:, at]
            less = (1 / retrieved[row[rank <= k]]).sum() / max(np.count_nonzero(scored & (retrieved > 0)), 1)
            before[run][str(k)] = None if now is None else max(0.0, float(now - less))
    return {"extends": pool.extends.name, "judged_before": before}
