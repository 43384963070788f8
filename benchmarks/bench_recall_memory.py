"""Recall@{1,3,5,10,20,50,100} of 1 million queries × 100 in memory on one core, per-query values included.

    python -m benchmarks.bench_recall_memory [--queries 1000000]

Layout: ranked lists as an int32 array (queries, 100), relevant documents as an int32 array (queries, 10)
filled up with -1. The limit is one second. The peer is the same comparison written plainly in NumPy, on the
same core.
"""

import argparse
import os
import resource
import sys
import time

import numpy as np
import numpy.typing as npt

from evaluation.scoring.arrays import recall_of_arrays

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
DEPTH, RELEVANT = 100, 10
LIMIT = 1.0

Ids = npt.NDArray[np.int32]


def generate(queries: int) -> tuple[Ids, Ids]:
    """Distinct ids per list; four to ten relevant documents a query, half of them retrieved."""
    random = np.random.default_rng(0)
    steps = random.integers(1, 20_000, size=(queries, DEPTH), dtype=np.int32)
    ranked = np.cumsum(steps, axis=1, dtype=np.int32)
    places = np.sort(random.integers(0, DEPTH // (RELEVANT // 2), size=(queries, RELEVANT // 2)), axis=1)
    places = places + np.arange(RELEVANT // 2) * (DEPTH // (RELEVANT // 2))
    found = np.take_along_axis(ranked, places, axis=1)
    elsewhere = 3_000_000 + np.cumsum(steps[:, : RELEVANT // 2], axis=1, dtype=np.int32)
    relevant = np.hstack([found, elsewhere])
    relevant[np.arange(RELEVANT) >= random.integers(4, RELEVANT + 1, size=queries)[:, None]] = -1
    return ranked, relevant


def plainly(ranked: Ids, relevant: Ids) -> npt.NDArray[np.float64]:
    """All ranks against all relevant ids in one comparison, for as many rows as fit in memory at a time."""
    parts = []
    for start in range(0, len(ranked), 10_000):
        rows, wanted = ranked[start : start + 10_000], relevant[start : start + 10_000]
        hits = (rows[:, :, None] == wanted[:, None, :]).any(axis=2).cumsum(axis=1)
        parts.append(hits[:, np.array(CUTOFFS) - 1] / (wanted >= 0).sum(axis=1)[:, None])
    return np.concatenate(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=1_000_000)
    queries = parser.parse_args().queries
    os.sched_setaffinity(0, {0})
    ranked, relevant = generate(queries)

    times = []
    for _ in range(3):
        started = time.perf_counter()
        ours = recall_of_arrays(ranked, relevant, CUTOFFS)
        times.append(time.perf_counter() - started)
    started = time.perf_counter()
    theirs = plainly(ranked, relevant)
    plain = time.perf_counter() - started

    same = bool(np.array_equal(ours, theirs))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"recall_of_arrays {min(times):6.2f} s   limit {LIMIT:.1f} s, one core, {queries:,} × {DEPTH}")
    print(f"plain NumPy      {plain:6.2f} s   {plain / min(times):.1f} × the time; equal values: {same}")
    print(
        f"peak {peak / 1e9:.2f} GB, of which {(ranked.nbytes + relevant.nbytes) / 1e9:.2f} GB are the input"
    )
    sys.exit(int(not same or (queries >= 1_000_000 and min(times) > LIMIT)))


if __name__ == "__main__":
    main()
