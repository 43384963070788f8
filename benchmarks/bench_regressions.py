"""How often a canary marks a fall where nothing changed, and what it still sees, by simulation on real runs.

    python -m benchmarks.bench_regressions [--pairs 1000] [--set covid-r3 dl19]

The differences by query of two real runs (recall@10, precision@10) are drawn again for 10 to 200 queries.
The size of the noise is the share of queries in which the two differ at all.

- *either way*: each query's two values the other way round by chance, so that the runs are equally good.
- *recentred*: the differences that are not 0 less their mean. Where many small losses are made up for by
  rare large gains that no query happens to have, no test can know of these; so it is printed, not promised.
- *releases*: twelve equal releases, the values of real runs shuffled among them in each query; the last is
  held against the run before and the best of the others.

Limit: 2.5 % of *either way* and of *releases* in each cell, plus three standard errors of the simulation;
exit code 1 where it is missed. Beside it what would be marked by the interval alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded

import numpy as np
import numpy.typing as npt

from evaluation.canaries.regressions import ValueChange, change_between, false_falls, is_fall
from evaluation.scoring.evaluating import evaluate
from pooling.formats import name_of, read_qrels, read_run
from tests.testdata import DATA

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Draw = Callable[[Floats, Numbers, np.random.Generator], Floats]

QUERIES = (10, 20, 50, 100, 200)
SHARES = (0.1, 0.3, 1.0)
CONFIDENCE, SAMPLES = 0.95, 1_000
RELEASES = 12


def values_of(name: str) -> dict[str, Floats]:
    """Measure -> (Q, runs) values of a set; of many runs every third."""
    paths = sorted((DATA / name / "runs").iterdir())
    chosen = paths[::3] if len(paths) > 24 else paths
    runs = {name_of(path): read_run(path).frame for path in chosen}
    qrels = read_qrels(DATA / name / "qrels.txt").frame
    found = evaluate(qrels, runs, 10, ["recall", "precision"], bootstrap_samples=10)
    tables = {
        measure: np.stack([one.values[measure][:, 0] for one in found.runs.values()], axis=1)
        for measure in ("recall", "precision")
    }
    return {measure: table[~np.isnan(table).any(axis=1)] for measure, table in tables.items()}


def either_way(whole: Floats, rows: Numbers, generator: np.random.Generator) -> Floats:
    """Each sign is as likely."""
    signed: Floats = whole[rows] * generator.choice([-1.0, 1.0], len(rows))
    return signed


def recentred(whole: Floats, rows: Numbers, generator: np.random.Generator) -> Floats:
    """Where the runs differ, by their differences less the mean of those."""
    differing = whole[whole != 0]
    mean = differing.mean() if len(differing) else 0.0
    centred: Floats = np.where(whole != 0, whole - mean, 0.0)
    return centred[rows]


def compared(differences: Floats, comparisons: int = 1) -> ValueChange:
    """As a canary does it."""
    return change_between(
        differences,
        np.zeros(len(differences)),
        confidence=CONFIDENCE,
        samples=SAMPLES,
        seed=0,
        comparisons=comparisons,
    )


def marked(change: ValueChange) -> bool:
    """Whether it is marked as a fall."""
    return is_fall(change.high, change.p, CONFIDENCE)


def pairs_marked(
    values: Floats, draw: Draw, queries: int, share: float, pairs: int, seed: int
) -> tuple[float, float]:
    """Of so many pairs the share that is marked, and the share whose interval alone lies below 0."""
    generator = np.random.default_rng([seed, queries, round(100 * share)])
    falls, below = 0, 0
    for _ in range(pairs):
        first, second = generator.choice(values.shape[1], 2, replace=False)
        rows = generator.integers(0, len(values), queries)
        drawn = draw(values[:, first] - values[:, second], rows, generator)
        drawn = np.where(generator.random(queries) < share, drawn, 0.0)
        change = compared(drawn)
        falls += marked(change)
        below += change.high is not None and change.high < 0
    return falls / pairs, below / pairs


def releases(values: Floats, queries: int, generator: np.random.Generator) -> Floats:
    """(queries, RELEASES) of equal releases."""
    rows: Floats = values[generator.integers(0, len(values), queries)]
    columns = generator.integers(0, rows.shape[1], (queries, RELEASES))
    return np.take_along_axis(rows, columns, axis=1)


def last_is_marked(table: Floats) -> bool:
    """Whether the last release is marked, held against the run before and the best of the others."""
    *others, previous, last = table.T
    best = max(others, key=np.mean)
    against = [(previous, 2)]
    if best.mean() > previous.mean():
        against.append((best, 2 * len(others)))
    return any(marked(compared(last - one, count)) for one, count in against)


def cells(name: str, pairs: int) -> Iterator[tuple[str, float, float | None, bool]]:
    """Of each cell its name, the share marked, that of the interval alone, and whether it is promised."""
    for measure, values in values_of(name).items():
        for draw, promised in ((either_way, True), (recentred, False)):
            for share in SHARES:
                for queries in QUERIES:
                    rate, alone = pairs_marked(values, draw, queries, share, pairs, 0)
                    label = f"{name} {measure}@10, {draw.__name__}, {100 * share:.0f} % differ"
                    yield f"{label}, {queries} queries", rate, alone, promised
        for queries in QUERIES:
            generator = np.random.default_rng(queries)
            falls = sum(last_is_marked(releases(values, queries, generator)) for _ in range(pairs))
            yield f"{name} {measure}@10, releases, {queries} queries", falls / pairs, None, True


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each cell beside the promise; 1 where one is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--set", nargs="+", default=["covid-r3", "dl19"], dest="sets")
    options = parser.parse_args(arguments)
    promise = false_falls(CONFIDENCE)
    limit = promise + 3 * (promise * (1 - promise) / options.pairs) ** 0.5
    missed = 0
    for name in options.sets:
        for label, rate, alone, promised in cells(name, options.pairs):
            over = promised and rate > limit
            missed += over
            beside = "" if alone is None else f"; the interval alone {alone:.3f}"
            held = "MISSED" if over else "promised" if promised else "not promised"
            print(f"{label}: {rate:.3f} marked, {held} {promise:.3f}{beside}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
