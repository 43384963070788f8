"""The intervals over queries and the randomisation test at the size of a large comparison, beside limits.

    python -m benchmarks.bench_statistics [--peers]

Student's t with the bootstrap-t, 10,000 samples for 50 systems × 10,000 queries, within 5 s; the
randomisation test with 10,000 permutations for all pairs of 20 systems × 1,000 queries within 10 s. With
--peers, SciPy's percentile bootstrap of one system and its permutation test of one pair are timed in the same
run and multiplied by their number.
"""

import argparse
import sys
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np

from evaluation.measures.intervals import mean_intervals
from evaluation.measures.significance import randomisation_test

BOOTSTRAP_LIMIT, RANDOMISATION_LIMIT = 5.0, 10.0
SYSTEMS, QUERIES = 50, 10_000
COMPARED, COMPARED_QUERIES = 20, 1_000


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds; a shared machine shows in their difference."""
    started, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - busy


def recalls(queries: int, systems: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Values like Recall@10 with four relevant documents: fifths of one, alike within a query."""
    random = np.random.default_rng(0)
    hard = random.beta(2, 2, size=(queries, 1))
    return random.binomial(4, np.clip(hard + random.normal(0, 0.1, (queries, systems)), 0, 1)) / 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peers", action="store_true", help="time SciPy as well")
    peers = parser.parse_args().peers
    values = recalls(QUERIES, SYSTEMS)
    pairs = list(combinations(range(COMPARED), 2))
    compared, (first, second) = recalls(COMPARED_QUERIES, COMPARED), np.array(pairs).T
    differences = compared[:, first] - compared[:, second]

    size = f"{SYSTEMS} × {QUERIES:,}"
    ours = timed("t and bootstrap-t", lambda: mean_intervals(values), BOOTSTRAP_LIMIT, size)
    size = f"{len(pairs)} pairs × {COMPARED_QUERIES:,}"
    randomised = timed("randomisation", lambda: randomisation_test(differences), RANDOMISATION_LIMIT, size)
    if peers:
        beside_scipy(values, differences, ours, randomised)
    within = ours < BOOTSTRAP_LIMIT and randomised < RANDOMISATION_LIMIT
    sys.exit(int(not within))


def timed(name: str, work: Callable[[], object], limit: float, size: str) -> float:
    wall, busy = seconds(work)
    print(f"{name:20} {wall:6.2f} s   processor {busy:6.2f} s   limit {limit:.0f} s, {size}", flush=True)
    return wall


def beside_scipy(
    values: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    differences: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    ours: float,
    randomised: float,
) -> None:
    """SciPy's time for one column, times the columns, against ours for all of them."""
    from scipy import stats

    def bootstrap() -> object:
        return stats.bootstrap(
            (values[:, 0],), np.mean, n_resamples=10_000, method="percentile", batch=500, rng=0
        )

    def permutation() -> object:
        return stats.permutation_test(
            (differences[:, 0],),
            np.mean,
            permutation_type="samples",
            n_resamples=10_000,
            vectorized=True,
            batch=500,
            rng=0,
        )

    for name, work, count, time_of_ours in (
        ("percentile", bootstrap, values.shape[1], ours),
        ("permutation", permutation, differences.shape[1], randomised),
    ):
        theirs = seconds(work)[0] * count
        print(f"SciPy {name:12} {theirs:8.1f} s   {theirs / time_of_ours:.0f} × the time (one column timed)")


if __name__ == "__main__":
    main()
