"""What an audit says of runs with a model's help, beside what it says alone: means over queries, and the
plain values that a report shows.

The estimates over all pairs together (micro) are in `evaluation/prediction_powered.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from evaluation.audit_estimates import LABELS, QUERIES_AND_LABELS, Places, spanned, within_pool
from evaluation.audit_sample import AuditSample
from evaluation.prediction_powered import (
    NOT_NARROWER,
    NOTHING,
    Powered,
    Predicted,
    powered_micro_recall,
    powered_precision,
    powered_total,
    recall_tuning,
    saved,
    tuned,
)
from evaluation.recall_intervals import BOOTSTRAP, UNDEFINED, LabelInterval, interval_of_macro_recall
from evaluation.significance import BOOTSTRAP_SAMPLES, LEVEL, mean_intervals


def powered_estimates(
    audit: AuditSample,
    places: Places,
    predictions: pl.DataFrame,
    cutoffs: Sequence[int],
    *,
    confidence: float = LEVEL,
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
) -> dict[str, dict[str, Any]]:
    """Run -> `recall@k`, `precision@k` -> {"micro": figure, "macro": figure}, over the queries that the audit
    can estimate.

    predictions: as in `Predicted.of`. A figure is {"human": {...}, "powered": {...}, "weight", "narrower",
    "why"}: two intervals as in `recall_estimates`, λ, the share of the human width that is saved, and why λ
    is 0, if it is. Precision divides by k for every estimated query. Only micro is never wider than by people
    alone: the human interval of macro recall leaves out what no drawn document tells, and is too narrow.
    """
    known = within_pool(audit, places)
    given = _extremes(audit, predictions)
    result: dict[str, dict[str, Any]] = {run: {} for run in places.runs}
    for run in places.runs:
        for k in cutoffs:
            top, slots = known.top(run, k), k * len(audit.defined)
            recall = [powered_micro_recall(one, top, confidence=confidence) for one in given]
            precision = [powered_precision(one, top, slots, confidence=confidence) for one in given]
            macro_recall, macro_precision = (
                [mean(one, top, confidence=confidence, samples=samples, seed=seed) for one in given]
                for mean in (powered_macro_recall, partial(powered_macro_precision, k=k))
            )
            result[run][f"recall@{k}"] = _both(recall, macro_recall)
            result[run][f"precision@{k}"] = _both(precision, macro_precision)
    return result


def _both(micro: Sequence[Powered], macro: Sequence[Powered]) -> dict[str, Any]:
    return {"micro": figure(micro, LABELS), "macro": figure(macro, QUERIES_AND_LABELS)}


def powered_relevant_estimate(
    audit: AuditSample, predictions: pl.DataFrame, *, confidence: float = LEVEL
) -> dict[str, Any]:
    """How many relevant documents the pools of the estimated queries hold, as a figure of
    `powered_estimates`, with `predicted`: the share of the uncertain pairs that have a prediction.
    """
    given = _extremes(audit, predictions)
    found = [powered_total(one, confidence=confidence) for one in given]
    return {**figure(found, LABELS), "predicted": given[0].share}


def figure(found: Sequence[Powered], covers: str) -> dict[str, Any]:
    """An estimate as plain values; of two, the intervals span what nobody could judge.

    The model is believed where it is at both extremes, and over all pairs together where the span of both is
    narrower too: two narrow intervals further apart would not be.
    """
    human, powered = (
        {**spanned([getattr(one, name) for one in found]), "covers": covers} for name in ("human", "powered")
    )
    narrower = saved(_ends(human), _ends(powered))
    doubts = [one.why for one in found if not one.weight]
    if not doubts and covers == LABELS and not narrower:
        doubts = [NOT_NARROWER]
    if doubts:
        return {"human": human, "powered": human, "weight": 0.0, "narrower": 0.0, "why": doubts[0]}
    return {"human": human, "powered": powered, "weight": found[0].weight, "narrower": narrower, "why": ""}


def _ends(told: Mapping[str, Any]) -> tuple[float | None, float | None]:
    return told["low"], told["high"]


def _extremes(audit: AuditSample, predictions: pl.DataFrame) -> list[Predicted]:
    """With nothing that nobody could judge relevant and, where there is any, with all of it."""
    samples = [
        audit.as_if(relevant=relevant) for relevant in ((False, True) if audit.unanswered else (False,))
    ]
    return [Predicted.of(sample, audit.unsampled, predictions) for sample in samples]


def powered_macro_recall(
    given: Predicted,
    retrieved: pl.DataFrame,
    *,
    confidence: float = 0.95,
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
) -> Powered:
    """The mean over queries of recall, as `interval_of_macro_recall` and with a model's help, over the same
    queries and with the λ of micro recall.

    It keeps that estimate's bias: a query of which no relevant document was drawn stays out, and so does what
    it has. Within the others the predictions stand in for what was not drawn, which takes part of the bias
    out. The interval covers queries and labels.
    """
    drawing = {"confidence": confidence, "samples": samples, "seed": seed}
    human = interval_of_macro_recall(given.sample, retrieved, **drawing)  # type: ignore[arg-type]
    tuning, found, missed = recall_tuning(given, retrieved)
    if not tuning.weight:
        return Powered(human, human, 0.0, tuning.why)
    within = pl.col("value").clip(pl.col("seen"), pl.col("most"))
    hits, misses = (one.by_query(tuning.weight).with_columns(within) for one in (found, missed))
    scored = hits.join(misses, on="query_id", suffix="_missed", maintain_order="left").filter(
        pl.col("seen") + pl.col("seen_missed") > 0
    )
    values = (scored["value"] / (scored["value"] + scored["value_missed"])).to_numpy()
    if len(values) < 2:
        return Powered(human, human, 0.0, NOTHING)
    low, high = mean_intervals(values[:, None], samples=samples, seed=seed, level=confidence)
    mean, ends = float(values.mean()), (float(low[0]), float(high[0]))
    return Powered(human, LabelInterval(mean, *ends, BOOTSTRAP, human.relevant_drawn), tuning.weight)


def powered_macro_precision(
    given: Predicted,
    retrieved: pl.DataFrame,
    *,
    k: int,
    confidence: float = 0.95,
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
) -> Powered:
    """The mean over the sample's queries of relevant documents found / k, with a bootstrap over queries.

    Without bias, since no query is divided by an estimate; one query's own value may lie outside 0 to 1.
    """
    domain = given.within(retrieved)
    tuning = tuned(given, domain.relevant, domain.guess)
    count = int((domain.relevant * (given.drawn.probability < 1)).sum())

    def interval(weight: float) -> LabelInterval:
        values = domain.by_query(weight)["value"].to_numpy() / k
        if not len(values):
            return LabelInterval(None, None, None, UNDEFINED, count)
        mean = min(max(float(values.mean()), 0.0), 1.0)
        if len(values) < 2:
            return LabelInterval(mean, None, None, BOOTSTRAP, count)
        low, high = mean_intervals(values[:, None], samples=samples, seed=seed, level=confidence)
        return LabelInterval(mean, max(float(low[0]), 0.0), min(float(high[0]), 1.0), BOOTSTRAP, count)

    human = interval(0.0)
    return Powered(human, interval(tuning.weight) if tuning.weight else human, tuning.weight, tuning.why)
