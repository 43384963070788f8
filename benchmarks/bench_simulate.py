"""Strategies at full size: 130 runs × 50 queries replayed at depth 100, and the next of many documents.

Limits: all strategies in 5 minutes, maxmean in 20 seconds, the next document of 10,000 in 5 milliseconds.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before NumPy is loaded

import numpy as np
import polars as pl

from evaluation.plans.replaying import LabelledPool, labelled_pool, replay
from pooling.merging.merging import merge_runs, with_score_sums
from pooling.strategies import STRATEGIES, candidates_of

RUNS, QUERIES, DEPTH, POOL = 130, 50, 100, 1740
LARGE_POOL, LARGE_DEPTH = 10_000, 1_000
SECONDS_ALL, SECONDS_MAXMEAN, SECONDS_NEXT = 300.0, 20.0, 0.005


def generated(
    queries: int, depth: int, pool: int, seed: int = 0
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Qrels and runs: each run sees how good a document is through noise of its own, some through much."""
    random = np.random.default_rng(seed)
    documents = np.array([f"d{number:05}" for number in range(pool)])
    goodness = random.normal(size=(queries, pool))
    query_ids = [f"q{query:02}" for query in range(queries)]
    runs = {}
    for run in range(RUNS):
        seen = goodness + random.normal(scale=random.uniform(0.6, 4), size=goodness.shape)
        top = np.argsort(-seen, axis=1)[:, :depth]
        runs[f"run{run:03}"] = pl.DataFrame(
            {
                "query_id": np.repeat(query_ids, depth),
                "document_id": documents[top].ravel(),
                "score": np.take_along_axis(seen, top, axis=1).ravel(),
            }
        )
    labels = {
        "query_id": np.repeat(query_ids, pool),
        "document_id": np.tile(documents, queries),
        "relevance": (goodness > 1.5).astype(np.int32).ravel(),
    }
    return pl.DataFrame(labels), runs


def main() -> int:
    pool = labelled_pool(*generated(QUERIES, DEPTH, POOL), depth=DEPTH)
    print(f"{RUNS} runs × {QUERIES} queries at depth {DEPTH}: {pool.labelled:,} pairs")
    seconds = {name: measured(pool, name) for name in STRATEGIES}
    total = sum(seconds.values())
    print(f"all strategies: {total:.1f} s, limit {SECONDS_ALL:.0f} s ({SECONDS_ALL / total:.1f}×)")
    print(f"maxmean: {seconds['maxmean']:.1f} s, limit {SECONDS_MAXMEAN:.0f} s")
    slowest = max(latencies().values())
    fine = total < SECONDS_ALL and seconds["maxmean"] < SECONDS_MAXMEAN and slowest < SECONDS_NEXT
    return 0 if fine else 1


def measured(pool: LabelledPool, name: str) -> float:
    """Seconds of one replay."""
    start, busy = time.perf_counter(), time.process_time()
    found = replay(pool, STRATEGIES[name]).recall_at(0.25)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    print(f"  {name:14} {seconds:6.1f} s, {busy:6.1f} s of processor; found {found:.3f} at 25 %", flush=True)
    return seconds


def latencies() -> dict[str, float]:
    """Median seconds from a label to the next document, by strategy, in one large pool."""
    _, runs = generated(1, LARGE_DEPTH, LARGE_POOL, seed=1)
    merged = with_score_sums(merge_runs(runs, depth=LARGE_DEPTH), runs, depth=LARGE_DEPTH)
    candidates = candidates_of(merged, runs=RUNS)
    print(f"one query, {merged.height:,} pooled documents, {RUNS} runs: label told, next document named")
    return {name: latency(name, candidates) for name in STRATEGIES if STRATEGIES[name].make.learns}


def latency(name: str, candidates: dict) -> float:  # type: ignore[type-arg]
    strategy = STRATEGIES[name].start(candidates)
    taken = []
    for judged in range(300):
        start = time.perf_counter()
        document = strategy.next("q00")[0]
        strategy.tell("q00", document, judged % 3 == 0)
        taken.append(time.perf_counter() - start)
    median = float(np.median(taken))
    print(f"  {name:14} {1000 * median:6.2f} ms, {SECONDS_NEXT / median:.1f}× below the limit", flush=True)
    return median


if __name__ == "__main__":
    sys.exit(main())
