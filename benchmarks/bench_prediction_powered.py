"""Prediction-powered intervals by simulation: 1,000 campaigns for good, useless and adverse models.

    python -m benchmarks.bench_prediction_powered [--campaigns 1000] [--seed 0]

One pool of made-up queries, whose labels are all known, is audited again and again. Each model predicts every
pair once and for all. Counted is how often the 95 % intervals of the number of relevant documents, of
Precision@K and of micro Recall@K hold the truth, and how wide they are against the human ones.

Limits: each interval holds in 92 % of the campaigns less two standard errors of the simulation, and estimates
are within three standard errors of the truth in the mean. Macro precision has the same limits; its intervals
cover queries too, which are the same in every campaign here, so they hold more often than they say. Exit
code 1 when one is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl

from evaluation.estimates.powered import powered_macro_precision
from evaluation.estimates.prediction_powered import (
    Powered,
    Predicted,
    powered_micro_recall,
    powered_precision,
    powered_total,
)

COVERAGE = 0.92
MODELS = ("perfect", "near perfect", "good", "typical", "lavish", "graded", "useless", "constant", "adverse")
SAMPLES = 200


@dataclass(frozen=True)
class World:
    """A pool whose labels are all known: its pairs, the truth, what is certain, and a run's top K."""

    pairs: pl.DataFrame
    truth: np.ndarray
    certain: np.ndarray
    query: np.ndarray
    retrieved: pl.DataFrame
    hit: np.ndarray
    places: int
    k: int
    predictions: dict[str, pl.DataFrame]


def world(seed: int = 0, *, queries: int = 40, size: int = 80, greedy: int = 20, k: int = 30) -> World:
    """Queries of unlike difficulty; early places are relevant more often, and the greedy part took those."""
    rng = np.random.default_rng(seed)
    place = np.tile(np.arange(size), queries)
    query = np.repeat(np.arange(queries), size)
    ease = rng.normal(-0.6, 0.8, queries)[query]
    truth = rng.random(len(place)) < 1 / (1 + np.exp(3.0 * place / size - 0.6 - ease))
    pairs = pl.DataFrame(
        {"query_id": [f"q{one:03}" for one in query], "document_id": [f"d{one:03}" for one in place]}
    )
    # A run finds relevant documents somewhat earlier than others.
    order = rng.random(len(place)) - 0.25 * truth + 0.3 * place / size
    rank = np.empty(len(place), dtype=np.int64)
    for one in range(queries):
        rows = np.flatnonzero(query == one)
        rank[rows[np.argsort(order[rows])]] = np.arange(size)
    hit = rank < k
    guesses = {name: guess(name, truth, rng) for name in MODELS}
    return World(
        pairs,
        truth,
        place < greedy,
        query,
        pairs.filter(pl.Series(hit)),
        hit,
        k * queries,
        k,
        {name: pairs.with_columns(prediction=pl.Series(values)) for name, values in guesses.items()},
    )


def guess(name: str, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Predictions in [0, 1] of one kind of model."""
    draw, size = rng.random(len(truth)), len(truth)
    verdicts: dict[str, Callable[[], np.ndarray]] = {
        "perfect": lambda: truth * 1.0,
        "near perfect": lambda: np.where(truth, draw > 0.03, draw < 0.003) * 1.0,
        "good": lambda: np.where(truth, draw < 0.8, draw < 0.06) * 1.0,
        "typical": lambda: np.where(truth, draw < 0.55, draw < 0.12) * 1.0,
        "lavish": lambda: np.where(truth, draw < 0.95, draw < 0.5) * 1.0,
        "graded": lambda: 1 / (1 + np.exp(-(rng.normal(0, 1, size) + 2.5 * truth - 1.5))),
        "useless": lambda: (draw < 0.3) * 1.0,
        "constant": lambda: np.full(size, 0.5),
        "adverse": lambda: np.where(truth, draw < 0.1, draw < 0.6) * 1.0,
    }
    return verdicts[name]()


def audited(one: World, drawn: int, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(sample, unsampled): everything certain, and so many drawn of the rest of each query."""
    draw = np.where(one.certain, np.inf, rng.random(len(one.truth)))
    order = np.lexsort((draw, one.query))
    size = np.bincount(one.query)
    place = np.empty(len(draw), dtype=np.int64)
    place[order] = np.arange(len(draw)) - np.repeat(np.cumsum(size) - size, size)
    left = np.bincount(one.query, weights=~one.certain)[one.query]
    taken = ~one.certain & (place < drawn)
    probability = np.where(one.certain, 1.0, np.minimum(drawn / left, 1.0))
    rows = one.pairs.with_columns(relevant=pl.Series(one.truth), inclusion_probability=pl.Series(probability))
    return rows.filter(pl.Series(one.certain | taken)), one.pairs.filter(pl.Series(~one.certain & ~taken))


def campaign(one: World, model: str, drawn: int, seed: int, *, macro: bool = True) -> dict[str, Powered]:
    rng = np.random.default_rng([seed, drawn])
    given = Predicted.of(*audited(one, drawn, rng), one.predictions[model])
    found = {
        "relevant": powered_total(given),
        "precision": powered_precision(given, one.retrieved, one.places),
        "recall": powered_micro_recall(given, one.retrieved),
    }
    if macro:
        found["macro precision"] = powered_macro_precision(given, one.retrieved, k=one.k, samples=SAMPLES)
    return found


def truths(one: World) -> dict[str, float]:
    relevant, found = np.bincount(one.query, weights=one.truth), np.bincount(one.query, one.truth * one.hit)
    return {
        "relevant": float(relevant.sum()),
        "precision": float(found.sum() / one.places),
        "recall": float(found.sum() / relevant.sum()),
        # Every query has as many places.
        "macro precision": float(found.sum() / one.places),
    }


def within(found: Powered, truth: float) -> bool:
    low, high = found.powered.low, found.powered.high
    return low is not None and high is not None and low - 1e-9 <= truth <= high + 1e-9


def at_least(rate: float, n: int) -> float:
    """The rate less two standard errors of a simulation of n campaigns."""
    return rate - 2 * float(np.sqrt(rate * (1 - rate) / n))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--campaigns", type=int, default=1_000)
    parser.add_argument("--drawn", type=int, nargs="+", default=[3, 8], help="audit documents of each query")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    one, started, kept = world(options.seed), time.perf_counter(), True
    known = truths(one)
    print(f"{len(one.truth):,} pairs, {int(one.truth.sum())} relevant, {int(one.certain.sum())} certain")
    print("drawn  model         what            truth   off by   λ > 0  mean λ  coverage (human)  saved")
    for drawn in options.drawn:
        for model in options.models:
            told = [campaign(one, model, drawn, seed) for seed in range(options.campaigns)]
            for what, truth in known.items():
                kept = report(drawn, model, what, truth, [found[what] for found in told]) and kept
    print(f"{time.perf_counter() - started:.0f} s in all")
    sys.exit(int(not kept))


def report(drawn: int, model: str, what: str, truth: float, told: list[Powered]) -> bool:
    n = len(told)
    values = np.array([one.powered.value or 0.0 for one in told])
    weights = np.array([one.weight for one in told])
    held = float(np.mean([within(one, truth) for one in told]))
    human = float(np.mean([within(Powered(one.human, one.human, 0.0), truth) for one in told]))
    error = values.std(ddof=1) / np.sqrt(n)
    off = values.mean() - truth
    saved = 1 - np.mean([(one.powered.high or 0) - (one.powered.low or 0) for one in told]) / np.mean(
        [(one.human.high or 0) - (one.human.low or 0) for one in told]
    )
    fine = held >= at_least(COVERAGE, n) and abs(off) <= 3 * error + 0.01 * truth
    print(
        f"{drawn:5}  {model:12}  {what:15}  {truth:6.3f}  {off:+7.4f}  {np.mean(weights > 0):5.2f}  "
        f"{weights.mean():6.2f}  {held:.3f} ({human:.3f})     {saved:6.1%}"
        f"{'' if fine else '   LIMIT MISSED'}",
        flush=True,
    )
    return fine


if __name__ == "__main__":
    main()
