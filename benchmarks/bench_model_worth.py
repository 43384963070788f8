"""What a model is worth, by simulation on real labels: how often its intervals hold the truth.

    python -m benchmarks.bench_model_worth [--draws 1000] [--set covid-r3 dl19] [--seed 0]

The judged pairs of `covid-r3` (depth 50) and `dl19` (depth 100, relevant from grade 2). A queue goes query
by query, in another order of queries at each draw, and stops at 100 labels: 5, 10 or 12 pairs of each query,
the first by RRF; or 5 of them and 5 that an audit draws from the rest of the query's pool, which weigh 1/π.
Models miss relevant pairs and call others relevant at known rates, the same in all queries or varying from
query to query. The truth is what these rates make of all pairs that the labels stand for. Beside it, how
often the same intervals would hold if labels were taken one by one.

Then the best of ten models of like worth: how often its own interval holds, and how often the one that allows
for the choice.

Limit: where an interval is shown it holds in 92 % of the draws less two standard errors, for kappa, what is
missed, elusion and what is saved; the last also for the best of ten. Exit code 1 when one is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.bench_honesty import SETS, ground
from benchmarks.bench_prediction_powered import COVERAGE, at_least
from labeling.consensus.agreement import cohen_kappa
from labeling.quality.worth_figures import Compared, Quality, best_of, quality
from tests.testdata import DATA

LABELS, MODELS = 100, 10
FIGURES = ("kappa", "missed", "elusion", "saved")


@dataclass(frozen=True)
class Queue:
    """Of each query, `first` pairs by RRF and `audit` ones drawn from the rest of its pool."""

    first: int
    audit: int = 0

    def __str__(self) -> str:
        return f"{self.first}{f' + {self.audit} drawn' if self.audit else ''} a query"


@dataclass(frozen=True)
class Model:
    """The chance of missing a relevant pair, of calling another one relevant, and how far both vary."""

    missed: float
    wrong: float
    deviation: float

    def __str__(self) -> str:
        return f"{self.missed:.0%}, {self.wrong:.0%}, ± {self.deviation:.0%}"

    def rates(self, queries: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Of each query."""
        means = np.array([self.missed, self.wrong])
        if not self.deviation:
            return np.full(queries, means[0]), np.full(queries, means[1])
        size = means * (1 - means) / self.deviation**2 - 1
        missed, wrong = (
            rng.beta(mean * n, (1 - mean) * n, queries) for mean, n in zip(means, size, strict=True)
        )
        return missed, wrong


QUEUES = (Queue(5), Queue(10), Queue(12), Queue(5, 5))
QUALITIES = (Model(0.4, 0.1, 0.0), Model(0.4, 0.1, 0.15), Model(0.1, 0.05, 0.08), Model(0.2, 0.4, 0.2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"The real collections are not at {DATA}; set SOUNDINGS_TEST_DATA to their folder.")
    started, kept = time.perf_counter(), True
    print(
        "set       queue                 missed, wrong    figure   truth  shown  holds  width  (one by one)"
    )
    for name in options.set:
        truth = list(ground(name).pool.truth.values())
        for queue in QUEUES:
            for model in QUALITIES:
                kept = one_cell(name, truth, queue, model, options.draws, options.seed) and kept
        for queue in QUEUES[1:]:
            kept = best_of_ten(name, truth, queue, options.draws, options.seed) and kept
    print(f"{time.perf_counter() - started:.0f} s in all")
    sys.exit(int(not kept))


def one_cell(name: str, truth: list[np.ndarray], queue: Queue, model: Model, draws: int, seed: int) -> bool:
    rates = model.rates(len(truth), np.random.default_rng([seed, 1]))
    known = truths(truth, queue, *rates)
    told: dict[str, list[tuple[float, float]]] = defaultdict(list)
    alone: dict[str, list[bool]] = defaultdict(list)
    for draw in range(draws):
        rng = np.random.default_rng([seed, 2, draw])
        query, relevant, weight = labelled(truth, queue, rng)
        pairs = Compared.of(relevant, said(relevant, query, rates, rng), weight=weight, query=query)
        one_by_one = quality(Compared.of(relevant, pairs.verdict, weight=weight))
        for figure, ends in shown(quality(pairs)):
            told[figure].append(ends)
        for figure, (low, high) in shown(one_by_one):
            alone[figure].append(low <= known[figure] <= high)
    kept = True
    for figure in FIGURES:
        ends = np.array(told[figure])
        held = (ends[:, 0] - 1e-9 <= known[figure]) & (known[figure] <= ends[:, 1] + 1e-9)
        fine = held.mean() >= at_least(COVERAGE, len(held))
        kept = kept and bool(fine)
        print(
            f"{name:8}  {queue!s:20}  {model!s:15}  {figure:7}  {known[figure]:.3f}  {len(held):5}  "
            f"{held.mean():.3f}  {np.ptp(ends, axis=1).mean():.2f}   ({np.mean(alone[figure]):.3f})"
            f"{'' if fine else '   LIMIT MISSED'}",
            flush=True,
        )
    return kept


def labelled(
    truth: list[np.ndarray], queue: Queue, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(query, relevant, weight) of the first labels."""
    query, relevant, weight = [], [], []
    for one in rng.permutation(len(truth)):
        labels = truth[one]
        first, rest = np.arange(min(queue.first, len(labels))), np.arange(queue.first, len(labels))
        drawn = rng.permutation(rest)[: queue.audit]
        weights = [1.0] * len(first) + [len(rest) / max(len(drawn), 1)] * len(drawn)
        order = rng.permutation(len(weights))
        query += [one] * len(order)
        relevant += labels[np.concatenate([first, drawn])][order].tolist()
        weight += np.array(weights)[order].tolist()
        if len(query) >= LABELS:
            break
    return np.array(query[:LABELS]), np.array(relevant[:LABELS]), np.array(weight[:LABELS])


def said(
    relevant: np.ndarray, query: np.ndarray, rates: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """The model's verdicts."""
    missed, wrong = rates
    chance: np.ndarray = rng.random(len(relevant)) < np.where(relevant, 1 - missed[query], wrong[query])
    return chance


def truths(truth: list[np.ndarray], queue: Queue, missed: np.ndarray, wrong: np.ndarray) -> dict[str, float]:
    """What the rates make of all pairs that labels of the queue stand for."""
    cells = np.zeros(4)
    for labels, miss, err in zip(truth, missed, wrong, strict=True):
        meant = labels if queue.audit else labels[: queue.first]
        yes, no = meant.sum(), (~meant).sum()
        cells += [yes * (1 - miss), no * err, yes * miss, no * (1 - err)]
    both, model_only, person_only, neither = cells
    margins = (both + model_only) * (both + person_only) * (person_only + neither) * (model_only + neither)
    return {
        "kappa": float(cohen_kappa(cells)),
        "missed": person_only / (both + person_only),
        "elusion": person_only / (person_only + neither),
        "saved": (both * neither - model_only * person_only) ** 2 / margins,
    }


def shown(found: Quality) -> Iterator[tuple[str, tuple[float, float]]]:
    for figure in FIGURES:
        one: Any = getattr(found, figure)
        if one.low is not None and one.high is not None:
            yield figure, (one.low, one.high)


def best_of_ten(name: str, truth: list[np.ndarray], queue: Queue, draws: int, seed: int) -> bool:
    """The interval of whichever of ten models of the same worth comes out best."""
    model = QUALITIES[1]
    rates = [model.rates(len(truth), np.random.default_rng([seed, 3, one])) for one in range(MODELS)]
    known = [truths(truth, queue, *one)["saved"] for one in rates]
    held, own, values, worth = [], [], [], []
    for draw in range(draws):
        rng = np.random.default_rng([seed, 4, draw])
        query, relevant, weight = labelled(truth, queue, rng)
        models = {
            key: Compared.of(relevant, said(relevant, query, one, rng), weight=weight, query=query)
            for key, one in enumerate(rates)
        }
        best = best_of(models)
        if best is None:
            continue
        alone = quality(models[best.key]).saved
        truly = known[best.key]
        held.append((best.saved.low or 0.0) <= truly <= (best.saved.high or 1.0))
        own.append((alone.low or 0.0) <= truly <= (alone.high or 1.0))
        values.append(alone.value or 0.0)
        worth.append(truly)
    fine = np.mean(held) >= at_least(COVERAGE, len(held))
    print(
        f"{name:8}  {queue!s:20}  the best of {MODELS} looks like saving {np.mean(values):.0%} and saves "
        f"{np.mean(worth):.0%}; holds {np.mean(held):.3f} of {len(held)}, its own interval {np.mean(own):.3f}"
        f"{'' if fine else '   LIMIT MISSED'}",
        flush=True,
    )
    return bool(fine)


if __name__ == "__main__":
    main()
