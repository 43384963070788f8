"""What a score per document adds to an order: relevant documents found with and without a prior.

    python -m benchmarks.bench_prior [--set dl19 covid-r3] [--auc 0.5 0.6 0.75 0.9] [--strategy learned rrf]

Judged pools of real runs (`dl19` to depth 100, relevant from grade 2; every eighth run of `covid-r3` to depth
50) are judged again, told in batches of ten. Scores are normal and drawn so that a relevant document scores
above another with the chance AUC. No model's real labels are in the data, so nothing here says what a given
model's AUC is. Limits for `learned` after a quarter of each pool: with an AUC of 0.75 at least 1.05 times
what it finds without a prior, with a worthless one (0.5) at least 0.97 times. Exit code 1 when one is missed.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import polars as pl
from scipy import stats

from evaluation.plans.replaying import BUDGETS, LabelledPool, labelled_pool, replay, with_prior_scores
from pooling.formats import name_of, read_qrels, read_run
from pooling.strategies import STRATEGIES
from tests.testdata import DATA

#: Set -> depth of the pool, least relevant grade, every so manieth run.
SETS = {"dl19": (100, 2, 1), "covid-r3": (50, 1, 8)}
LEAST = {0.75: 1.05, 0.5: 0.97}


def judged_pool(name: str) -> LabelledPool:
    depth, grade, each = SETS[name]
    paths = sorted((DATA / name / "runs").iterdir())[::each]
    runs = {name_of(path): read_run(path).frame for path in paths}
    return labelled_pool(read_qrels(DATA / name / "qrels.txt").frame, runs, depth=depth, min_relevance=grade)


def scores_with(pool: LabelledPool, auc: float, seed: int = 0) -> pl.DataFrame:
    """Priors of all documents: standard normal, and higher by √2 Φ⁻¹(auc) where relevant."""
    rng, lift = np.random.default_rng(seed), float(stats.norm.ppf(auc)) * 2**0.5
    parts = [
        pl.DataFrame(
            {
                "query_id": [query] * len(one),
                "document_id": one.documents,
                "score": rng.normal(size=len(one)) + lift * pool.truth[query],
            }
        )
        for query, one in pool.candidates.items()
    ]
    return pl.concat(parts)


def found(pool: LabelledPool, strategy: str) -> list[float]:
    replayed = replay(pool, STRATEGIES[strategy], batch=10)
    return [replayed.recall_at(budget) for budget in BUDGETS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--auc", nargs="+", type=float, default=[0.5, 0.6, 0.75, 0.9])
    parser.add_argument("--strategy", nargs="+", default=["rrf", "maxmean", "rbp-adaptive", "learned"])
    parser.add_argument("--votes", type=int, help="default: half of the runs")
    options = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"The real collections are not at {DATA}; set SOUNDINGS_TEST_DATA to their folder.")
    kept = True
    for name in options.set:
        pool = judged_pool(name)
        print(f"\n{name}: {pool.labelled:,} judged pairs, {len(pool.runs)} runs; found at {BUDGETS}")
        before = {strategy: found(pool, strategy) for strategy in options.strategy}
        for strategy, shares in before.items():
            print(f"  no prior   {strategy:14} {'  '.join(f'{one:.3f}' for one in shares)}")
        for auc in options.auc:
            prior = with_prior_scores(pool, scores_with(pool, auc), votes=options.votes)
            for strategy, without in before.items():
                shares = found(prior, strategy)
                ratio = shares[1] / without[1]
                fine = strategy != "learned" or ratio >= LEAST.get(auc, 0.0)
                kept = kept and fine
                print(
                    f"  AUC {auc:.2f}   {strategy:14} {'  '.join(f'{one:.3f}' for one in shares)}   "
                    f"{ratio:.2f} times at a quarter{'' if fine else '   LIMIT MISSED'}"
                )
    sys.exit(int(not kept))


if __name__ == "__main__":
    main()
