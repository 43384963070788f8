"""Whether 95 % intervals over queries hold where queries are few: real differences, drawn again and again.

    python -m benchmarks.bench_intervals [--draws 1000]

Recall and nDCG at 10 and 100 of `covid-r3` and `dl19`: by query, the differences of pairs of runs, and the
values of runs. Each is taken as all the queries there are; so many of them are drawn with replacement, and
the interval of their mean is made. Limit: it holds the true mean in 93 % or more at 10 and more queries, over
all pairs together, and over all runs. Student's t alone and SciPy's percentile bootstrap stand beside it.
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import combinations

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import stats

from evaluation import evaluate
from evaluation.measures import Floats
from evaluation.measures.intervals import FEWEST_QUERIES, difference_intervals, mean_intervals
from tests.testdata import DATA

SIZES = (5, 8, 10, 15, 25, 50, 100)
HOLDS = 0.93
CUTOFFS, MEASURES = (10, 100), ("recall", "ndcg")
#: So many columns of each set, measure and cutoff, from all places of the list.
COLUMNS = 20
#: Of the bootstrap; fewer than in a report, since there are so many intervals.
SAMPLES = 1_000


def values_of(name: str) -> list[Floats]:
    """(Q, R) values of each measure and cutoff over all runs of a set."""
    found = evaluate(
        DATA / name / "qrels.txt",
        sorted((DATA / name / "runs").iterdir()),
        k=CUTOFFS,
        measures=list(MEASURES),
        bootstrap_samples=1,
    )
    tables = [
        np.stack([run.values[measure][:, at] for run in found.runs.values()], axis=1)
        for measure in MEASURES
        for at in range(len(CUTOFFS))
    ]
    return [table[~np.isnan(table).any(axis=1)] for table in tables]


def spread_out(columns: list[Floats]) -> list[Floats]:
    """Some of the columns, from all places of the list; those without any spread teach nothing."""
    kept = [column for column in columns if column.std() > 0]
    return [kept[at] for at in np.linspace(0, len(kept) - 1, min(COLUMNS, len(kept))).astype(int)]


def held(columns: list[Floats], n: int, draws: int, *, differences: bool) -> dict[str, list[float]]:
    """How often each kind of interval of n queries holds, column by column."""
    random = np.random.default_rng(n)
    found: dict[str, list[float]] = {"ours": [], "t": [], "percentile": []}
    for column in columns:
        drawn = column[random.integers(0, len(column), (n, draws))]
        mean, error = drawn.mean(axis=0), drawn.std(axis=0, ddof=1) / np.sqrt(n)
        reach = stats.t.ppf(0.975, n - 1) * error
        made = difference_intervals if differences else mean_intervals
        limits = {"t": (mean - reach, mean + reach)}
        if n >= FEWEST_QUERIES:
            limits["ours"] = made(drawn, samples=SAMPLES)
        some = drawn[:, : draws // 10]
        theirs = stats.bootstrap((some,), np.mean, axis=0, n_resamples=SAMPLES, method="percentile", rng=n)
        limits["percentile"] = (theirs.confidence_interval.low, theirs.confidence_interval.high)
        for name, (low, high) in limits.items():
            true = column.mean()
            found[name].append(float(((low <= true + 1e-12) & (true <= high + 1e-12)).mean()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=1_000)
    draws = parser.parse_args().draws
    if not DATA.is_dir():
        raise SystemExit(f"The real collections are not at {DATA}; set SOUNDINGS_TEST_DATA to their folder.")
    tables = [table for name in ("covid-r3", "dl19") for table in values_of(name)]
    single = [column for table in tables for column in spread_out(list(table.T))]
    paired = [
        column
        for table in tables
        for column in spread_out([one - other for one, other in combinations(table.T, 2)])
    ]
    kept = True
    print(f"{'':12} queries   held: ours   (worst tenth)   Student's t   percentile bootstrap")
    for what, columns in (("differences", paired), ("means", single)):
        for n in SIZES:
            found = held(columns, n, draws, differences=what == "differences")
            ours = float(np.mean(found["ours"])) if found["ours"] else None
            shown = (
                "  too few       –    "
                if ours is None
                else f"    {ours:.3f}        {np.quantile(found['ours'], 0.1):.3f}"
            )
            print(
                f"{what:12} {n:7}      {shown}          {np.mean(found['t']):.3f}         "
                f"{np.mean(found['percentile']):.3f}",
                flush=True,
            )
            kept = kept and (ours is None or ours >= HOLDS)
    print("limit kept" if kept else f"LIMIT MISSED: below {HOLDS}")
    sys.exit(int(not kept))


if __name__ == "__main__":
    main()
