"""How often `drift` is wrong about two samples of one source, and how often it sees a quarter of strangers.

    python -m benchmarks.bench_drift [--pairs 1000] [--sizes 30 50 100 200 500]

Real queries: a log of 600 MS MARCO queries against sets of others (same source), and against such sets of
which a quarter is of FiQA. The limit for false alarms of the whole report is 5 %.
"""

from __future__ import annotations

import argparse
import random

import numpy as np

from evaluation.logs.report import Compared, drift_of
from pooling.logs.drawing import LoggedQuery, query_key
from tests.testdata import DATA

LOG = 600


def is_told(log: list[str], chosen: list[str], seed: int) -> bool:
    """Whether the report names a shift."""
    queries = [LoggedQuery(query_key(text), text, 1.0, "all") for text in log]
    return drift_of(Compared(queries, chosen, np.ones(len(chosen)), False), seed=seed)["shift"]


def main() -> None:
    """Print both rates for each size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 50, 100, 200, 500])
    asked = parser.parse_args()
    folder = DATA / "living" / "drift"
    own, strange = ((folder / name).read_text().splitlines() for name in ("msmarco-dev-1200.txt", "fiqa.txt"))
    for size in asked.sizes:
        chance, wrong, seen = random.Random(size), 0, 0
        for pair in range(asked.pairs):
            drawn = chance.sample(own, LOG + size)
            log, chosen = drawn[:LOG], drawn[LOG:]
            wrong += is_told(log, chosen, pair)
            mixed = [*chosen[size // 4 :], *chance.sample(strange, size // 4)]
            seen += is_told(log, mixed, pair)
        print(
            f"{size} queries, {asked.pairs} pairs: false alarms {wrong / asked.pairs:.3f} (limit .05), "
            f"a quarter of strangers seen {seen / asked.pairs:.3f}"
        )


if __name__ == "__main__":
    main()
