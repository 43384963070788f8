"""A report's audit with a model's pre-labels, next to the audit alone."""

from __future__ import annotations

from django.db.models import Count

from evaluation.estimates.powered import powered_estimates, powered_relevant_estimate
from evaluation.pool_estimates.of_pool import Basis, recall_cutoffs
from evaluation.scoring.estimate_figures import PoweredEstimates
from labeling.models import Prelabeler
from labeling.worth.audits import pool_scores, prelabels_of_pool
from pooling.models import Pool


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
