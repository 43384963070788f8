"""Audits by scores, by simulation: 1,000 campaigns for good, typical and useless models.

    python -m benchmarks.bench_strata [--campaigns 1000] [--labels 150 300] [--seed 0]

One pool of made-up queries, whose labels are all known, is audited again and again by strata of a model's
scores, as `labeling.quality.strata` plans it (without labels that would tell the rates), and by a simple
random sample as large. Counted is how often the 95 % intervals of the number of relevant documents and of
micro Recall@K hold the truth, and how wide they are against those of the simple random sample, which are made
the same way. `half` stops at one half of the queue, where the labelled beginning of every stratum counts.
`learned` are scores of a model that has learned from the labels that were certain at the draw, as local
models do.

Limit: each interval holds in 92 % of the campaigns less two standard errors of the simulation. Exit code 1
when one is missed. Widths are printed and have no limit: a model that is worth nothing saves nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl

from benchmarks.bench_prediction_powered import World, at_least, guess, truths, world
from evaluation.estimates.intervals import LabelInterval, interval_of_micro_recall, interval_of_total
from labeling.quality.sample_plans import stratified_design
from labeling.quality.strata import AuditPlan, plan_by_scores

COVERAGE = 0.92
MODELS = ("graded", "good", "typical", "learned", "useless", "adverse")
PAIR = ["query_id", "document_id"]


@dataclass(frozen=True)
class Campaign:
    """What strata and a simple random sample as large say of the number of relevant documents and recall."""

    total: LabelInterval
    recall: LabelInterval
    simple_total: LabelInterval
    simple_recall: LabelInterval


@dataclass(frozen=True)
class Audited:
    """A world with a plan: the pairs drawn from, their strata, and all pairs with their labels."""

    one: World
    plan: AuditPlan
    left: pl.DataFrame
    strata: np.ndarray
    labels: pl.DataFrame


def scores_of(one: World, model: str, seed: int) -> np.ndarray:
    """Scores in [0, 1]; `learned` knows what was certain of each query, and places."""
    rng = np.random.default_rng([seed, 7])
    if model != "learned":
        return guess(model, one.truth, rng)
    shares = np.bincount(one.query, one.truth * one.certain) / np.bincount(one.query, one.certain)
    place = np.concatenate([np.arange(size) / size for size in np.bincount(one.query)])
    return np.asarray(np.clip(shares[one.query] * (1 - place), 0, 1))


def planned(one: World, model: str, labels: int, seed: int, *, strata: int = 5) -> Audited:
    left = ~one.certain
    plan, numbers = plan_by_scores(scores_of(one, model, seed)[left], labels, strata)
    pairs = one.pairs.filter(pl.Series(left))
    return Audited(one, plan, pairs, numbers, one.pairs.with_columns(relevant=pl.Series(one.truth)))


def sample_of(audited: Audited, sizes: list[int], strata: np.ndarray, seed: int) -> pl.DataFrame:
    """Everything certain, and so many drawn of each stratum."""
    design = stratified_design(audited.left, strata, sizes, seed=seed).drop("place")
    certain = audited.one.pairs.filter(pl.Series(audited.one.certain)).with_columns(
        stratum=pl.lit("certain"), inclusion_probability=pl.lit(1.0)
    )
    return pl.concat([certain, design]).join(audited.labels, on=PAIR, maintain_order="left")


def campaign(audited: Audited, seed: int, *, share: float = 1.0) -> Campaign:
    sizes = [max(int(one.drawn * share), 1) for one in audited.plan.strata]
    found = sample_of(audited, sizes, audited.strata, seed)
    simple = sample_of(audited, [sum(sizes)], np.zeros_like(audited.strata), seed)
    top = audited.one.retrieved
    return Campaign(
        interval_of_total(found),
        interval_of_micro_recall(found, top),
        interval_of_total(simple),
        interval_of_micro_recall(simple, top),
    )


def holds(interval: LabelInterval, truth: float) -> bool:
    low, high = interval.low, interval.high
    return low is not None and high is not None and low - 1e-9 <= truth <= high + 1e-9


def half_width(intervals: list[LabelInterval]) -> float:
    return float(np.mean([((one.high or 0) - (one.low or 0)) / 2 for one in intervals]))


def report(words: str, truth: float, ours: list[LabelInterval], simple: list[LabelInterval]) -> bool:
    n = len(ours)
    held, others = (float(np.mean([holds(one, truth) for one in kind])) for kind in (ours, simple))
    values = np.array([one.value or 0.0 for one in ours])
    off = (values.mean() - truth) / (values.std(ddof=1) / np.sqrt(n))
    wide, wide_simple = half_width(ours), half_width(simple)
    fine = held >= at_least(COVERAGE, n)
    print(
        f"{words}  {truth:8.3f}  {off:+6.1f}  {held:.3f} ({others:.3f})  ±{wide:8.3f}  ±{wide_simple:8.3f}  "
        f"{1 - wide / wide_simple:+7.1%}{'' if fine else '   LIMIT MISSED'}",
        flush=True,
    )
    return fine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--campaigns", type=int, default=1_000)
    parser.add_argument("--labels", type=int, nargs="+", default=[150, 300])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    one, started, kept = world(options.seed), time.perf_counter(), True
    known = truths(one)
    left = int((~one.certain).sum())
    print(f"{len(one.truth):,} pairs, {int(one.truth.sum())} relevant; drawn from {left:,} without a label")
    print(
        "labels  model     judged  what       truth  off by  coverage (simple)  by strata   simple    saved"
    )
    for labels in options.labels:
        for model in options.models:
            audited = planned(one, model, labels, options.seed)
            for share, word in ((1.0, "all"), (0.5, "half")):
                if word == "half" and model not in ("graded", "typical"):
                    continue
                told = [campaign(audited, seed, share=share) for seed in range(options.campaigns)]
                words = f"{labels:6}  {model:8}  {word:6}"
                totals = [found.total for found in told], [found.simple_total for found in told]
                recalls = [found.recall for found in told], [found.simple_recall for found in told]
                kept = report(f"{words}  total ", known["relevant"], *totals) and kept
                kept = report(f"{words}  recall", known["recall"], *recalls) and kept
    print(f"{time.perf_counter() - started:.0f} s in all")
    sys.exit(int(not kept))


if __name__ == "__main__":
    main()
