"""How often unjudged documents in no first K reverse the order of two runs that a sentence names.

    python -m benchmarks.bench_elsewhere [--campaigns 20] [--set adi cranfield dl19 covid-r3]

Each campaign judges the first K of all runs, K = 5, 10, 20, and of the rest of the pool a random 0, 10 or
30 %, or all of 30 or 50 % of the queries. What is left adds no hits: it only changes by how many relevant
documents a query's hits are divided, and with it the weight of each query in the mean difference. The runs
are compared as a report compares them, on the queries asked and on as many drawn from them with replacement.
*Reversed*: with all labels, the run that the sentence calls better is not ahead on the very same queries.
*Open*: the bounds over the whole pool leave the order open, so that a rule of bounds alone would name none.

Limit: 1 % reversed in each set; exit code 1 where it is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.comparisons.grades import CLEARLY, PROBABLY
from evaluation.measures.intervals import difference_intervals
from evaluation.measures.significance import adjusted, randomisation_test
from evaluation.scoring.unsettled import recall_difference_limits
from pooling.formats import name_of, read_qrels, read_run
from pooling.ranking.ranking import order_run
from tests.testdata import DATA

Floats = npt.NDArray[np.float64]

#: Set -> depth of the pool, least relevant grade. Of many runs as many as a report compares.
SETS = {"adi": (30, 1), "cranfield": (50, 1), "dl19": (100, 2), "covid-r3": (50, 1)}
RUNS, CUTOFFS, LIMIT = 20, (5, 10, 20), 0.01
#: Of the rest of the pool: the share of its pairs that is judged, or of queries that are judged whole.
JUDGED = (("pairs", 0.0), ("pairs", 0.1), ("pairs", 0.3), ("queries", 0.3), ("queries", 0.5))


def places(name: str) -> tuple[pl.DataFrame, list[str]]:
    """query (0 …), is_relevant, and a column with the place of each pooled pair in each run, null beyond."""
    depth, grade = SETS[name]
    paths = sorted((DATA / name / "runs").iterdir())
    paths = [paths[at] for at in np.unique(np.linspace(0, len(paths) - 1, RUNS).astype(int))]
    pair = ["query_id", "document_id"]
    labels = read_qrels(DATA / name / "qrels.txt").frame.filter(pl.col("relevance") >= grade)
    table = labels.select(*pair, is_relevant=True)
    for path in paths:
        top = order_run(read_run(path).frame, depth=depth)
        column = top.select(*pair, pl.col("position").alias(name_of(path)))
        table = table.join(column, on=pair, how="full", coalesce=True)
    names = [name_of(path) for path in paths]
    pooled = table.filter(pl.any_horizontal(pl.col(names).is_not_null())).sort(pair)  # the draws hang on it
    scored = pooled.filter(pl.col("is_relevant").any().over("query_id"))
    return scored.with_columns(
        pl.col("is_relevant").fill_null(False), query=pl.col("query_id").rank("dense") - 1
    ), names


def campaigns(name: str, count: int) -> Counter[str]:
    told = Counter[str]()
    table, names = places(name)
    query, relevant = table["query"].to_numpy().astype(int), table["is_relevant"].to_numpy()
    place = table.select(pl.col(names).fill_null(10**6)).to_numpy()
    one, other = np.triu_indices(len(names), 1)
    queries = int(query.max()) + 1

    def by_query(mask: npt.NDArray[np.bool_]) -> Floats:
        return np.bincount(query[mask], minlength=queries).astype(np.float64)

    for k in CUTOFFS:
        top = place <= k
        hits = np.stack([by_query(relevant & run) for run in top.T], axis=1)
        ahead, whole = hits[:, one] - hits[:, other], by_query(relevant)
        for how, share in JUDGED:
            for seed in range(count):
                generator = np.random.default_rng(seed)
                drawn = generator.random(len(query) if how == "pairs" else queries) < share
                judged = top.any(axis=1) | (drawn if how == "pairs" else drawn[query])
                labelled, left = by_query(relevant & judged), by_query(~judged)
                for asked in (np.arange(queries), generator.integers(0, queries, queries)):
                    scored = asked[labelled[asked] > 0]
                    told += sentences(ahead[scored], labelled[scored], whole[scored], left[scored])
    return told


def sentences(ahead: Floats, labelled: Floats, whole: Floats, left: Floats) -> Counter[str]:
    """ahead: (Q, P) hits of the first run less those of the second. labelled, whole: (Q,) relevant ones, with
    a label and in all. left: (Q,) unjudged."""
    differences = ahead / labelled[:, None]
    low, high = difference_intervals(differences, samples=200)
    p_value = adjusted(randomisation_test(differences, permutations=4_000))
    clearly = (p_value <= CLEARLY[0]) & ((low > 0) | (high < 0))
    probably = ~clearly & (p_value <= PROBABLY[0])
    true = (ahead / whole[:, None]).mean(axis=0) * differences.sum(axis=0)
    none = np.zeros_like(ahead)
    many = (np.broadcast_to(part[:, None], ahead.shape) for part in (labelled, left))
    relevant, further = many
    limits = recall_difference_limits(ahead, relevant, mine=none, other=none, further=further)
    least, most = (limit.mean(axis=0) for limit in limits)
    is_open = (least <= 0) & (most >= 0)
    told = Counter[str]()
    for words, mask in (("clearly", clearly), ("probably", probably)):
        told[words] += int(mask.sum())
        told[f"{words}, open"] += int((mask & is_open).sum())
        told[f"{words}, reversed"] += int((mask & (true <= 0)).sum())
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS))
    options = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"The real collections are not at {DATA}; set SOUNDINGS_TEST_DATA to their folder.")
    kept = True
    for name in options.set:
        told = campaigns(name, options.campaigns)
        for words in ("clearly", "probably"):
            many, reversed_, is_open = (told[f"{words}{what}"] for what in ("", ", reversed", ", open"))
            fine = reversed_ <= LIMIT * many
            kept = kept and fine
            print(
                f"{name}: {many:,} sentences say {words} better; reversed {reversed_:,}, open by the bounds "
                f"{is_open / max(many, 1):.0%}{'' if fine else ' LIMIT MISSED'}",
                flush=True,
            )
    sys.exit(int(not kept))


if __name__ == "__main__":
    main()
