"""Estimates from an audit with a model's help, next to those without: means over queries, and the plain
values that a report shows.

The estimates over all pairs together (micro) are in `evaluation/estimates/prediction_powered.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.estimates.from_audit import LABELS, QUERIES_AND_LABELS, Places, spanned, within_pool
from evaluation.estimates.intervals import BOOTSTRAP, UNDEFINED, LabelInterval
from evaluation.estimates.prediction_powered import (
    NOT_NARROWER,
    Powered,
    Predicted,
    powered_micro_recall,
    powered_precision,
    powered_total,
    saved,
    tuned,
)
from evaluation.estimates.sample import AuditSample
from evaluation.measures.intervals import BOOTSTRAP_SAMPLES, LEVEL, mean_intervals
from evaluation.scoring.estimate_figures import EstimateFigure, PoweredFigure, PoweredFigures, PoweredTotal
from pooling.heavy import np, pl

OWN_MODEL = "the mean over queries is estimated by a separate model"
_NO_ESTIMATE: EstimateFigure = {
    "value": None,
    "value_if_relevant": None,
    "low": None,
    "high": None,
    "method": UNDEFINED,
    "relevant_drawn": 0,
    "covers": QUERIES_AND_LABELS,
}
NO_MACRO_RECALL: PoweredFigure = {
    "human": _NO_ESTIMATE,
    "powered": _NO_ESTIMATE,
    "weight": 0.0,
    "narrower": 0.0,
    "why": OWN_MODEL,
}


def powered_estimates(
    audit: AuditSample,
    places: Places,
    predictions: pl.DataFrame,
    cutoffs: Sequence[int],
    *,
    confidence: float = LEVEL,
    samples: int = BOOTSTRAP_SAMPLES,
) -> dict[str, dict[str, PoweredFigures]]:
    """Run -> `recall@k`, `precision@k` -> {"micro": figure, "macro": figure}, over the queries that the audit
    can estimate.

    predictions: as in `Predicted.of`. A figure is {"human": {...}, "powered": {...}, "weight", "narrower",
    "why"}: two intervals as in `recall_estimates`, λ, the share of the human width that is saved, and why λ
    is 0, if it is. Precision divides by k for every estimated query. Macro recall is null throughout: it has
    a separate model (`evaluation/estimates/macro_recall.py`) and is not estimated with another.
    """
    pooled = within_pool(audit, places)
    given = _predicted(audit.extremes(), audit, predictions)
    result: dict[str, dict[str, PoweredFigures]] = {run: {} for run in places.runs}
    for run in places.runs:
        for k in cutoffs:
            top, slots = pooled.top(run, k), k * len(audit.defined)
            more = _predicted(audit.extremes(top)[2:], audit, predictions)
            recall = [powered_micro_recall(one, top, confidence=confidence) for one in [*given, *more]]
            precision = [powered_precision(one, top, slots, confidence=confidence) for one in given]
            means = [
                powered_macro_precision(one, top, k=k, confidence=confidence, samples=samples)
                for one in given
            ]
            awaited = audit.awaited
            result[run][f"recall@{k}"] = {"micro": figure(recall, LABELS, awaited), "macro": NO_MACRO_RECALL}
            result[run][f"precision@{k}"] = {
                "micro": figure(precision, LABELS, awaited),
                "macro": figure(means, QUERIES_AND_LABELS, awaited),
            }
    return result


def powered_relevant_estimate(
    audit: AuditSample, predictions: pl.DataFrame, *, confidence: float = LEVEL
) -> PoweredTotal:
    """Number of relevant documents in the pools of the estimated queries, as a figure of `powered_estimates`,
    with `predicted`: the share of the uncertain pairs that have a prediction."""
    given = _predicted(audit.extremes(), audit, predictions)
    totals = [powered_total(one, confidence=confidence) for one in given]
    return {**figure(totals, LABELS, audit.awaited), "predicted": given[0].share}


def figure(extremes: Sequence[Powered], covers: str, awaited: int = 0) -> PoweredFigure:
    """An estimate as plain values; of several, the intervals span what has no answer, of which this many
    labels are `awaited`.

    The model is believed where it is at all extremes, and over all pairs together where the span of all is
    narrower too: narrow intervals further apart would not be.
    """
    human = spanned([one.human for one in extremes], awaited=awaited)
    powered = spanned([one.powered for one in extremes], awaited=awaited)
    human["covers"] = powered["covers"] = covers
    narrower = saved(_ends(human), _ends(powered))
    doubts = [one.why for one in extremes if not one.weight]
    if not doubts and covers == LABELS and not narrower:
        doubts = [NOT_NARROWER]
    if doubts:
        return {"human": human, "powered": human, "weight": 0.0, "narrower": 0.0, "why": doubts[0]}
    return {"human": human, "powered": powered, "weight": extremes[0].weight, "narrower": narrower, "why": ""}


def _ends(estimate: EstimateFigure) -> tuple[float | None, float | None]:
    return estimate["low"], estimate["high"]


def _predicted(
    samples: Sequence[pl.DataFrame], audit: AuditSample, predictions: pl.DataFrame
) -> list[Predicted]:
    return [Predicted.of(sample, audit.unsampled, predictions) for sample in samples]


def powered_macro_precision(
    given: Predicted,
    retrieved: pl.DataFrame,
    *,
    k: int,
    confidence: float = 0.95,
    samples: int = BOOTSTRAP_SAMPLES,
) -> Powered:
    """The mean over the sample's queries of relevant documents found / k, with a bootstrap over queries.

    Without bias, since no query is divided by an estimate; one query's own value may lie outside 0 to 1.
    """
    domain = given.within(retrieved)
    tuning = tuned(given, domain.relevant, domain.guess)
    count = int((domain.relevant * (given.arrays.probability < 1)).sum())

    def interval(weight: float) -> LabelInterval:
        values = domain.by_query(weight)["value"].to_numpy() / k
        if not len(values):
            return LabelInterval(None, None, None, UNDEFINED, count)
        low, high = mean_intervals(values[:, None], samples=samples, level=confidence)
        mean, least, most = (min(max(float(one), 0.0), 1.0) for one in (values.mean(), low[0], high[0]))
        if np.isnan(low[0]):  # too few queries
            return LabelInterval(mean, None, None, BOOTSTRAP, count)
        return LabelInterval(mean, least, most, BOOTSTRAP, count)

    human = interval(0.0)
    return Powered(human, interval(tuning.weight) if tuning.weight else human, tuning.weight, tuning.why)
