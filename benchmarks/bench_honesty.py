"""Honesty by simulation: judge pools whose labels are all known again and again, and count how often it is
told.

    python -m benchmarks.bench_honesty [--campaigns 1000] [--set covid-r3 dl19] [--processes 2]

Pools of `covid-r3` (depth 50) and `dl19` (depth 100, relevant from grade 2), restricted to the judged pairs,
so that their labels are the truth. A campaign spends 10 or 30 % of each query's pool, of that 20 or 50 % on
the audit, the rest on the adaptive order (`learned`, told ten labels at a time as leases hand them out). The
order depends on the audit documents it has reached, so every campaign is judged anew.

Limits, in each of the eight cells: the 95 % intervals of micro recall and of macro recall (of each run and
cutoff) and of the number of relevant documents hold in 92 % of the campaigns and the one-sided bound on what
is missing in 95 %, each less two standard errors of the simulation; the estimated number lies within three
standard errors of the truth in the mean; bounds contain the truth always. Twelve cells more are of pools of
which only part is labelled (`benchmarks/half_judged.py`), and verdicts on all pairs of runs follow
(`benchmarks/verdicts.py`). Exit code 1 when a limit is missed. With --queries only the first of a set are
judged, so that audits draw few relevant documents.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one process for each core, before NumPy is loaded

import numpy as np
import polars as pl

from benchmarks import half_judged
from benchmarks.bench_prediction_powered import COVERAGE, at_least
from evaluation.estimates.intervals import METHODS, interval_of_micro_recall, interval_of_total
from evaluation.estimates.macro_recall import macro_recalls
from evaluation.estimates.sample import AuditSample
from evaluation.estimates.totals import Remainder, estimated_total, most_missing_in_all
from evaluation.measures import TopCounts
from evaluation.plans.replaying import LabelledPool, labelled_pool, rounded_up
from evaluation.scoring.coverage import Unjudged, recall_bounds
from pooling.formats import name_of, read_qrels, read_run
from pooling.ranking.sample import audit_size
from pooling.strategies.audited import Audited, campaign
from pooling.strategies.base import UNKNOWN
from pooling.strategies.candidates import Candidates, Floats
from pooling.strategies.learned import Learned
from tests.testdata import DATA

#: Set -> depth of the pool, least relevant grade, cutoffs.
SETS = {"covid-r3": (50, 1, (10, 50)), "dl19": (100, 2, (10, 100))}
BUDGETS, AUDIT_SHARES = (0.1, 0.3), (0.2, 0.5)
#: Places of the measured runs among all, from the worst to the best by recall at the larger cutoff.
PLACES = (0.0, 0.5, 1.0)
BATCH = 10
AT_ONCE = 20
BOUND_RATE = 0.95


class InLeases(Learned):
    """`learned`, told its labels ten at a time, as leases of ten do."""

    def __init__(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> None:
        super().__init__(candidates, seed=seed)
        self.kept: dict[str, tuple[int, Floats]] = {}

    def score(self, one: Candidates) -> Floats:
        batches = int((self.labels[one.query_id] != UNKNOWN).sum()) // BATCH
        if one.query_id not in self.kept or self.kept[one.query_id][0] != batches:
            self.kept[one.query_id] = batches, super().score(one)
        return self.kept[one.query_id][1]


@dataclass(frozen=True)
class Ground:
    """A set with everything that does not change from campaign to campaign.

    retrieved: by run and cutoff, the pairs of its top K inside the pool; in_top the same as a mask over all
    pairs, query by query. ranks: query_id, document_id, rank_0 … of the measured runs within the pool.
    """

    pool: LabelledPool
    pairs: pl.DataFrame
    truth: np.ndarray
    query: np.ndarray
    retrieved: dict[tuple[str, int], pl.DataFrame]
    in_top: dict[tuple[str, int], np.ndarray]
    ranks: pl.DataFrame

    @property
    def keys(self) -> list[tuple[int, int]]:
        """Number of the run among `ranks` and K, in the order of `in_top`."""
        runs = list(dict.fromkeys(run for run, _ in self.in_top))
        return [(runs.index(run), k) for run, k in self.in_top]


@cache
def ground(name: str) -> Ground:
    """name: a set, with a colon and a number only so many of its queries."""
    name, _, some = name.partition(":")
    depth, grade, cutoffs = SETS[name]
    runs = {name_of(path): read_run(path).frame for path in sorted((DATA / name / "runs").iterdir())}
    qrels = read_qrels(DATA / name / "qrels.txt").frame
    if some:
        first = qrels["query_id"].unique().sort()[: int(some)]
        qrels = qrels.filter(pl.col("query_id").is_in(first.implode()))
    pool = labelled_pool(qrels, runs, depth=depth, min_relevance=grade)
    ones = list(pool.candidates.values())
    offsets = np.cumsum([0, *map(len, ones)])
    rank = np.full((offsets[-1], len(pool.runs)), depth + 1)
    for one, offset in zip(ones, offsets, strict=False):
        rank[offset + one.document, one.run] = one.rank
    truth = np.concatenate(list(pool.truth.values()))
    order = np.argsort((rank[truth] <= cutoffs[-1]).sum(axis=0), kind="stable")
    chosen = [int(order[round(place * (len(order) - 1))]) for place in PLACES]
    in_top = {(pool.runs[run], k): rank[:, run] <= k for run in chosen for k in cutoffs}
    query_ids = np.repeat([one.query_id for one in ones], np.diff(offsets))
    documents = [document for one in ones for document in one.documents]
    pairs = pl.DataFrame({"query_id": query_ids, "document_id": documents})
    retrieved = {key: pairs.filter(pl.Series(mask)) for key, mask in in_top.items()}
    query = np.repeat(np.arange(len(ones)), np.diff(offsets))
    places = {f"rank_{at}": pl.Series(rank[:, run]).cast(pl.UInt32) for at, run in enumerate(chosen)}
    ranks = pairs.with_columns(**places).with_columns(pl.col(list(places)).replace(depth + 1, None))
    return Ground(pool, pairs, truth, query, retrieved, in_top, ranks)


@dataclass(frozen=True)
class Told:
    """What one campaign said, one value for each run and cutoff, and about the pool as a whole."""

    value: list[float]
    held: list[bool]
    width: list[float]
    macro: list[float]
    macro_width: list[float]
    macro_held: list[bool]
    raw: list[float]
    bounded: list[bool]
    method: list[str]
    total: float
    total_held: bool
    missing_held: bool
    judged: int


def judged_again(name: str, budget: float, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(judged, inclusion probability) over all pairs after one campaign."""
    pool = ground(name).pool
    strategy = Audited(pool.candidates, seed=seed, greedy=InLeases)
    for query_id, one in pool.candidates.items():
        size, truth = rounded_up(budget, len(one)), pool.truth[query_id]
        audit = audit_size(share, size)
        campaign(strategy, one, budget=size, audit=audit, answer=partial(label_of, truth))
    probability = np.concatenate([strategy.probabilities(one) for one in pool.candidates.values()])
    return ~np.isnan(probability), probability


def label_of(truth: np.ndarray, number: int) -> bool:
    return bool(truth[number])


def one_campaign(name: str, budget: float, share: float, seed: int) -> Told:
    base = ground(name)
    judged, probability = judged_again(name, budget, share, seed)
    sample = base.pairs.with_columns(
        relevant=pl.Series(base.truth), inclusion_probability=pl.Series(probability)
    ).filter(pl.Series(judged))
    relevant = int(base.truth.sum())
    marks = sample.with_columns(draw=pl.lit(1), cannot_judge=pl.lit(False), awaited=pl.lit(False))
    audit = AuditSample(marks, base.pairs.filter(pl.Series(~judged)), pl.DataFrame())
    found = [interval_of_micro_recall(sample, pairs) for pairs in base.retrieved.values()]
    truths = [(base.truth & mask).sum() / relevant for mask in base.in_top.values()]
    macros = macro_recalls(audit, base.ranks, base.keys)
    total = interval_of_total(sample)
    missing = most_missing_in_all(remainders(base, judged, probability))
    reached = int((base.truth & (probability == 1)).sum())
    seen = base.truth & judged
    return Told(
        value=[one.value or 0.0 for one in found],
        held=[within(one.low, truth, one.high) for one, truth in zip(found, truths, strict=True)],
        width=[(one.high or 0.0) - (one.low or 0.0) for one in found],
        macro=[np.nan if one.value is None else one.value for one in macros],
        macro_width=[(one.high or 0.0) - (one.low or 0.0) for one in macros],
        macro_held=[
            within(one.low, true_macro(base, mask), one.high)
            for one, mask in zip(macros, base.in_top.values(), strict=True)
        ],
        raw=[float((seen & mask).sum() / seen.sum()) for mask in base.in_top.values()],
        bounded=[bounds_hold(base, judged, mask) for mask in base.in_top.values()],
        method=[one.method for one in found],
        total=estimated_total(sample).value or 0.0,
        total_held=within(total.low, relevant, total.high),
        missing_held=missing is None or relevant <= reached + missing,
        judged=int(judged.sum()),
    )


def remainders(base: Ground, judged: np.ndarray, probability: np.ndarray) -> list[Remainder]:
    """Of each query what is not certain, what was drawn of that, and what of it is relevant."""
    rest = probability != 1  # NaN, of what is not judged, as well
    masks = rest, rest & judged, rest & judged & base.truth
    counts = [np.bincount(base.query[mask], minlength=base.query.max() + 1).tolist() for mask in masks]
    return [Remainder(*row) for row in zip(*counts, strict=True)]


def true_macro(base: Ground, in_top: np.ndarray) -> float:
    hits, relevant = (np.bincount(base.query[mask]) for mask in (base.truth & in_top, base.truth))
    return float((np.pad(hits, (0, len(relevant) - len(hits))) / relevant).mean())


def within(low: float | None, value: float, high: float | None) -> bool:
    return low is not None and high is not None and low - 1e-9 <= value <= high + 1e-9


def bounds_hold(base: Ground, judged: np.ndarray, in_top: np.ndarray) -> bool:
    """Whether every query's bounds of recall contain its true recall; undefined bounds rule nothing out."""

    def counted(mask: np.ndarray) -> np.ndarray:
        return np.bincount(base.query[mask], minlength=base.query.max() + 1)[:, None]

    hits, relevant = counted(base.truth & judged & in_top), counted(base.truth & judged)[:, 0]
    retrieved = counted(in_top)
    counts = TopCounts(
        np.array([int(retrieved.max())]), hits, counted(judged & in_top), retrieved, relevant, retrieved[:, 0]
    )
    low, high = recall_bounds(counts, Unjudged(counted(~judged & in_top), counted(~judged & ~in_top)))
    true = counted(base.truth & in_top) / counted(base.truth)
    return bool(((np.isnan(low) | (low <= true + 1e-12)) & (np.isnan(high) | (true <= high + 1e-12))).all())


def some_campaigns(work: tuple[str, float, float, range]) -> list[Told]:
    name, budget, share, seeds = work
    return [one_campaign(name, budget, share, seed) for seed in seeds]


def some_halves(work: tuple[str, str, float, range]) -> list[half_judged.Half]:
    name, way, labelled, seeds = work
    return [half_judged.half_judged(ground(name), way, labelled, seed) for seed in seeds]


def cells(sets: list[str]) -> Iterator[tuple[str, float, float]]:
    return ((name, budget, share) for name in sets for budget in BUDGETS for share in AUDIT_SHARES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--campaigns", type=int, default=1_000)
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--queries", type=int, help="only the first queries of each set")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"The real collections are not at {DATA}; set SOUNDINGS_TEST_DATA to their folder.")
    from benchmarks.verdicts import verdicts_hold

    kept = True
    started = time.perf_counter()
    with ProcessPoolExecutor(options.processes) as workers:
        names = [f"{name}:{options.queries or ''}" for name in options.set]
        blocks = [
            range(first, min(first + AT_ONCE, options.campaigns))
            for first in range(0, options.campaigns, AT_ONCE)
        ]
        for cell in cells(names):
            told: list[Told] = []
            for some in workers.map(some_campaigns, [(*cell, block) for block in blocks]):
                told.extend(some)
                progress(cell, len(told), options.campaigns, started)
            kept = report(cell, told) and kept
        for name in names:
            print(f"\n{name.rstrip(':')}: a pool judged in part; {options.campaigns:,} campaigns")
            for way, labelled in half_judged.CELLS:
                work = [(name, way, labelled, block) for block in blocks]
                halves = [one for some in workers.map(some_halves, work) for one in some]
                kept = half_judged.report(way, labelled, halves) and kept
        kept = verdicts_hold(names, options.campaigns, workers) and kept
    print(f"{time.perf_counter() - started:.0f} s in all")
    sys.exit(int(not kept))


def progress(cell: tuple[str, float, float], done: int, campaigns: int, started: float) -> None:
    if sys.stderr.isatty() or not done % (10 * AT_ONCE):
        print(f"  {cell}: {done} of {campaigns}, {time.perf_counter() - started:.0f} s", file=sys.stderr)


def report(cell: tuple[str, float, float], told: list[Told]) -> bool:
    """Print a cell's figures beside their limits; whether all were kept."""
    name, budget, share = cell
    base, n = ground(name), len(told)
    relevant = int(base.truth.sum())
    print(
        f"\n{name.rstrip(':')}: {base.pool.labelled:,} judged pairs of {base.pool.pairs:,}, "
        f"{len(base.pool.candidates)} queries, {relevant:,} relevant; {budget:.0%} judged "
        f"({told[0].judged:,}), of that {share:.0%} audit; {n:,} campaigns"
    )
    checks: dict[str, bool] = {}
    held, value = np.array([one.held for one in told]), np.array([one.value for one in told])
    raw, width = np.array([one.raw for one in told]), np.array([one.width for one in told])
    macro, macro_width, macro_held = (
        np.array([getattr(one, what) for one in told]) for what in ("macro", "macro_width", "macro_held")
    )
    print(
        "  run, K                    true  estimate  error    raw     width  coverage   "
        "macro true, error, width, coverage"
    )
    for column, (run, k) in enumerate(base.in_top):
        true = float((base.truth & base.in_top[run, k]).sum() / relevant)
        means = [float(one[:, column].mean()) for one in (value, raw, width, held, macro_width, macro_held)]
        true_mean = true_macro(base, base.in_top[run, k])
        macro_off = float(np.nanmean(macro[:, column])) - true_mean
        off = means[0] - true
        print(
            f"  {run[:19]:19} {k:4}    {true:.3f}   {means[0]:.3f}   {off:+.4f}  {means[1] - true:+.3f}   "
            f"{means[2]:.3f}   {means[3]:.3f}      {true_mean:.3f}  {macro_off:+.3f}  {means[4]:.3f}  "
            f"{means[5]:.3f}"
        )
        checks[f"coverage of {run}@{k}"] = means[3] >= at_least(COVERAGE, n)
        checks[f"coverage of the macro recall of {run}@{k}"] = means[5] >= at_least(COVERAGE, n)
    bounded = all(all(one.bounded) for one in told)
    totals = np.array([one.total for one in told])
    off, error = totals.mean() - relevant, totals.std(ddof=1) / np.sqrt(n)
    total_held, missing_held = (
        float(np.mean([getattr(one, what) for one in told])) for what in ("total_held", "missing_held")
    )
    methods = [method for one in told for method in one.method]
    always = "always" if bounded else "NOT ALWAYS"
    print(
        f"  coverage of all {held.mean():.3f}, least {held.mean(axis=0).min():.3f}; of macro recall "
        f"{macro_held.mean():.3f}, least {macro_held.mean(axis=0).min():.3f}; "
        f"bounds contain the truth {always}\n"
        f"  relevant: estimate off by {off:+.1f} ± {error:.1f} of {relevant:,}, its interval holds in "
        f"{total_held:.3f}; one-sided bound on what is missing in {missing_held:.3f}\n"
        f"  methods: {', '.join(f'{key} {methods.count(key)}' for key in METHODS if key in methods)}"
    )
    checks |= {
        "bounds": bounded,
        "estimated number of relevant": abs(off) <= 3 * error,
        "interval of the number": total_held >= at_least(COVERAGE, n),
        "bound on what is missing": missing_held >= at_least(BOUND_RATE, n),
    }
    missed = [check for check, fine in checks.items() if not fine]
    print(f"  {'LIMIT MISSED: ' + ', '.join(missed) if missed else 'limits kept'}", flush=True)
    return not missed


if __name__ == "__main__":
    main()
