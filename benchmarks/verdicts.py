"""Verdicts on all pairs of runs, campaign after campaign: how often one names the wrong winner.

Called by `benchmarks.bench_honesty`, whose pools and campaigns these are; alone:

    python -m benchmarks.verdicts [--campaigns 1000] [--set covid-r3 dl19] [--runs 20] [--processes 2]

After each campaign every pair of runs at each cutoff is a `Comparison`, made as a report makes it: with the
bounds of its difference, with the audit's estimate, its interval and its p-value, corrected by Holm at each
cutoff. (The numbers are computed for all pairs at once; the first campaign of a cell is compared with the
functions that reports use.) Of `covid-r3` twenty runs are taken, as many as a report compares.

A verdict is false when the winner it names is not ahead over the full labels: in micro recall where the audit
decided, in mean recall where the bounds did. Limits, in each cell: fewer than 5 % of all pairs get a false
verdict, at least one false verdict at a cutoff comes in 5 % of the campaigns at most, each plus two standard
errors, and no sentence has two signs. Grades (`evaluation.comparisons.grades`) are counted twice: on the
queries asked, and on as many drawn from them with replacement, without an audit; one that calls a run
clearly better names the wrong one in at most 2 %, probably better in at most 10 %. How many verdicts were
given stands beside it: none is no success.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from benchmarks.bench_honesty import AT_ONCE, SETS, cells, ground, judged_again
from evaluation.comparisons.grades import Grade, graded
from evaluation.comparisons.verdict import BY_AUDIT, BY_BOUNDS, Comparison
from evaluation.estimates.intervals import (
    FEWEST_FOR_GAMMA,
    LEAST_LEVEL,
    MORE,
    interval_of_micro_recall_difference,
)
from evaluation.estimates.totals import largest_unrefuted
from evaluation.measures.intervals import difference_intervals
from evaluation.measures.significance import adjusted, randomisation_test
from evaluation.scoring.unsettled import recall_difference_limits, turning_share
from tests.testdata import DATA

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

RUNS = 20
LEVEL, FALSE_RATE = 0.05, 0.05
#: Fewer samples than in a report, since there are so many pairs.
SAMPLES, PERMUTATIONS, HALVINGS = 200, 10_000, 14
#: Grades that name a run, and the share of them that may name the wrong one.
NAMED = {Grade.CLEARLY_BETTER: 0.02, Grade.PROBABLY_BETTER: 0.10}
SAME, OTHER = "on the queries asked", "on queries drawn again"
_NUMBER = r"[+−]\d\.\d{3}"
_SAID = re.compile(rf"(?P<value>{_NUMBER}) \[(?P<low>{_NUMBER}), (?P<high>{_NUMBER})\]")


@dataclass(frozen=True)
class Field:
    """The runs of a set, all their pairs, and the truth; everything that no campaign changes.

    tops: by cutoff, (D, R) whether a run has a document in its first K. one, other: (P,) the runs of a pair.
    micro, macro: by cutoff, (P,) the true differences over the full labels.
    """

    names: list[str]
    tops: dict[int, Booleans]
    starts: NDArray[np.int64]
    one: NDArray[np.int64]
    other: NDArray[np.int64]
    micro: dict[int, Floats]
    macro: dict[int, Floats]


@cache
def field(name: str, runs: int) -> Field:
    base = ground(name)
    depth, _, cutoffs = SETS[name.partition(":")[0]]
    ones = list(base.pool.candidates.values())
    offsets = np.cumsum([0, *map(len, ones)])
    rank = np.full((offsets[-1], len(base.pool.runs)), depth + 1)
    for each, offset in zip(ones, offsets, strict=False):
        rank[offset + each.document, each.run] = each.rank
    chosen = np.unique(np.linspace(0, rank.shape[1] - 1, min(runs, rank.shape[1])).astype(int))
    tops = {k: rank[:, chosen] <= k for k in cutoffs}
    one, other = np.triu_indices(len(chosen), 1)
    relevant = np.bincount(base.query, weights=base.truth)
    micro, macro = {}, {}
    for k, top in tops.items():
        hits = np.add.reduceat(top & base.truth[:, None], offsets[:-1], axis=0).astype(float)
        ahead = hits[:, one] - hits[:, other]
        micro[k], macro[k] = ahead.sum(axis=0) / relevant.sum(), (ahead / relevant[:, None]).mean(axis=0)
    names = [base.pool.runs[at] for at in chosen]
    return Field(names, tops, offsets[:-1], one, other, micro, macro)


@dataclass(frozen=True)
class Kinds:
    """Relevant documents of one kind for each pair, as `recall_intervals.Kind`: (P,) arrays; lightest is
    infinite where none of the kind can be left."""

    certain: Floats
    drawn: Floats
    mean: Floats
    variance: Floats
    lightest: Floats

    @property
    def seen(self) -> Floats:
        return self.certain + self.drawn

    @property
    def value(self) -> Floats:
        return self.seen + self.mean

    def limits(self, level: Floats) -> tuple[Floats, Floats]:
        """`gamma_limits` of each."""
        left = np.where(np.isfinite(self.lightest), self.lightest, 1.0)
        weight = MORE * (1 - left) / left
        high = _quantile(1 - level, self.mean + weight, self.variance + weight / left)
        low = _quantile(level, self.mean, self.variance)
        return self.seen + low, self.seen + np.where(np.isfinite(self.lightest), high, self.mean)

    def most(self, level: float) -> Floats:
        return np.array(
            [
                certain + drawn if np.isinf(left) else certain + _most(int(drawn), float(left), level)
                for certain, drawn, left in zip(self.certain, self.drawn, self.lightest, strict=True)
            ]
        )


@cache
def _most(drawn: int, lightest: float, level: float) -> float:
    return float(largest_unrefuted(drawn, lightest, level))


def _quantile(level: Floats, mean: Floats, variance: Floats) -> Floats:
    spread = np.where(variance > 0, variance, 1.0)
    drawn = special.gammaincinv(np.where(variance > 0, mean**2 / spread, 1.0), level) * spread
    return np.where(variance > 0, drawn / np.where(mean > 0, mean, 1.0), mean)


@dataclass(frozen=True)
class Audit:
    """What the audit says of every pair at a cutoff: (P,) estimate, limits and p-value."""

    value: Floats
    low: Floats
    high: Floats
    p_value: Floats


def audit_of(ours: Field, k: int, truth: Booleans, judged: Booleans, probability: Floats) -> Audit:
    top = ours.tops[k]
    certain, drawn = judged & (probability == 1), judged & (probability < 1)
    rest = np.where(drawn, (1 - probability) / np.where(drawn, probability, 1.0), 0.0)
    weights = (
        truth & certain,
        truth & drawn,
        truth * rest,
        truth * rest / np.where(drawn, probability, 1.0),
    )
    lightest = np.minimum.reduceat(np.where(drawn, probability, np.inf), ours.starts)
    shared = np.stack(
        [block.T @ block for block in np.split((top & ~certain[:, None]).astype(float), ours.starts[1:])]
    )
    alone_open = np.diagonal(shared, axis1=1, axis2=2)[:, :, None] - shared > 0
    of_run = np.where(alone_open, lightest[:, None, None], np.inf).min(axis=0)
    parts = []
    for weight in weights:
        at = np.flatnonzero(weight)
        mine, heavy = top[at].astype(float), np.asarray(weight, dtype=float)[at]
        both = mine.T @ (heavy[:, None] * mine)
        alone = np.diag(both)[:, None] - both
        first, second = alone[ours.one, ours.other], alone[ours.other, ours.one]
        parts.append((first, second, heavy.sum() - first - second))
    first, second, others = (
        Kinds(*(np.maximum(part[which], 0.0) for part in parts), lightest=left)
        for which, left in enumerate(
            (
                of_run[ours.one, ours.other],
                of_run[ours.other, ours.one],
                np.full(len(ours.one), lightest.min()),
            )
        )
    )
    value = (first.value - second.value) / (first.value + second.value + others.value)
    if not drawn.any() or (truth & drawn).sum() < FEWEST_FOR_GAMMA:
        return _by_exact_bounds(value, first, second, others)
    level = np.full(len(value), LEVEL / 2)
    limits = [(kind.value, *kind.limits(level)) for kind in (first, second, others)]
    low, high = _furthest(limits, value, -1.0), _furthest(limits, value, 1.0)
    return Audit(value, low, high, _p_values(first, second))


def _furthest(limits: list[tuple[Floats, Floats, Floats]], value: Floats, end: float) -> Floats:
    """`recall_intervals.furthest` of all pairs, by halving."""
    side = np.sign(end)
    inner, outer = value.copy(), np.full(len(value), end)

    def kept(at: Floats) -> Booleans:
        total, squares = np.zeros(len(at)), np.zeros(len(at))
        for weight, (middle, low, high) in zip((1 - at, -1 - at, -at), limits, strict=True):
            total += weight * middle
            squares += (weight * (np.where(weight * side > 0, high, low) - middle)) ** 2
        return side * total + np.sqrt(squares) >= 0

    whole = kept(outer)
    for _ in range(40):
        middle = (inner + outer) / 2
        good = kept(middle)
        inner, outer = np.where(good, middle, inner), np.where(good, outer, middle)
    return np.where(whole, end, inner)


def _p_values(first: Kinds, second: Kinds) -> Floats:
    """`recall_intervals.p_value_of_difference` of all pairs, less finely."""
    ahead = first.value >= second.value
    winner, other = (
        Kinds(
            *(
                np.where(ahead == mine, getattr(first, part), getattr(second, part))
                for part in Kinds.__annotations__
            )
        )
        for mine in (True, False)
    )
    gap = winner.value - other.value

    def holds_zero(level: Floats) -> Booleans:
        low, high = winner.limits(level / 2)[0], other.limits(level / 2)[1]
        return np.asarray(gap**2 <= (winner.value - low) ** 2 + (high - other.value) ** 2)

    below, above = np.full(len(gap), np.log(LEAST_LEVEL)), np.zeros(len(gap))
    never = ~holds_zero(np.exp(below))
    always = holds_zero(np.ones(len(gap))) | (gap == 0)
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        good = holds_zero(np.exp(middle))
        below, above = np.where(good, middle, below), np.where(good, above, middle)
    return np.where(always, 1.0, np.where(never, LEAST_LEVEL, np.exp(above)))


def _by_exact_bounds(value: Floats, first: Kinds, second: Kinds, others: Kinds) -> Audit:
    """Where the audit drew too few relevant documents; the p-value from a few levels, the larger one."""

    def least(wins: Floats, losses: Floats, level: float) -> Floats:
        total = wins + losses + np.where(wins > losses, others.most(level), others.seen)
        return (wins - losses) / np.where(total > 0, total, 1.0)

    low = least(first.seen, second.most(LEVEL / 4), LEVEL / 4)
    high = 0.0 - least(second.seen, first.most(LEVEL / 4), LEVEL / 4)
    p_value = np.ones(len(value))
    for level in np.geomspace(0.5, LEAST_LEVEL, 60):
        apart = (first.seen > second.most(level / 4)) | (second.seen > first.most(level / 4))
        p_value = np.where(apart, level, p_value)
    return Audit(value, low, high, p_value)


def compared(
    name: str,
    ours: Field,
    k: int,
    judged: Booleans,
    probability: Floats,
    queries: NDArray[np.int64] | None = None,
) -> list[Comparison]:
    """Every pair at k as a report would compare it; with `queries` on these, and without an audit."""
    base, top = ground(name), ours.tops[k]
    counted = {
        key: np.add.reduceat(mask, ours.starts, axis=0).astype(float)
        for key, mask in (
            ("hits", top & (base.truth & judged)[:, None]),
            ("relevant", (base.truth & judged)),
            ("left", ~judged),
        )
    }
    both = np.stack(
        [block.T @ block for block in np.split((top & ~judged[:, None]).astype(float), ours.starts[1:])]
    )
    unjudged = np.diagonal(both, axis1=1, axis2=2)
    shared = both[:, ours.one, ours.other]
    mine, theirs = unjudged[:, ours.one] - shared, unjudged[:, ours.other] - shared
    ahead = counted["hits"][:, ours.one] - counted["hits"][:, ours.other]
    relevant = np.broadcast_to(counted["relevant"][:, None], ahead.shape)
    further = counted["left"][:, None] - mine - theirs
    scored = counted["relevant"] > 0
    if queries is not None:
        ahead, relevant, mine, theirs, further, shared = (
            part[queries] for part in (ahead, relevant, mine, theirs, further, shared)
        )
        scored = scored[queries]
    lower, upper = recall_difference_limits(ahead, relevant, mine=mine, other=theirs, further=further)
    least, most = lower[scored].mean(axis=0), upper[scored].mean(axis=0)
    differences = (ahead / np.maximum(relevant, 1))[scored]
    low, high = difference_intervals(differences, samples=SAMPLES)
    p_value = adjusted(randomisation_test(differences, permutations=PERMUTATIONS))
    audit = audit_of(ours, k, base.truth, judged, probability) if queries is None else None
    audit_p = None if audit is None else adjusted(audit.p_value)
    tops = recall_difference_limits(ahead, relevant, mine=mine, other=theirs, further=shared)
    lowest, highest = (limit[scored].mean(axis=0) for limit in tops)

    def turning(at: int) -> float | None:
        parts = [part[:, at] for part in (ahead, relevant, mine, theirs, shared)]
        return turning_share(lambda share: limits_at(share, *parts), scored)

    return [
        Comparison(
            *(ours.names[one], ours.names[other], "recall", k, int(scored.sum())),
            *(float(differences[:, at].mean()), float(low[at]), float(high[at]), float(p_value[at])),
            *("randomisation", "holm", None, None, (float(least[at]), float(most[at])), None),
            int((mine + theirs)[scored, at].sum()),
            None if audit is None else (float(audit.low[at]), float(audit.high[at])),
            *((1.0, 1.0), None if audit is None else float(audit.value[at])),
            estimate_p_value=None if audit_p is None else float(audit_p[at]),
            turning=turning(at),
            top_bounds=(float(lowest[at]), float(highest[at])),
        )
        for at, (one, other) in enumerate(zip(ours.one, ours.other, strict=True))
    ]


def limits_at(
    share: float, ahead: Floats, relevant: Floats, mine: Floats, theirs: Floats, further: Floats
) -> tuple[Floats, Floats]:
    """The limits of a difference where only this share of the unjudged documents can be relevant."""
    mine, theirs, further = share * mine, share * theirs, share * further
    return recall_difference_limits(ahead, relevant, mine=mine, other=theirs, further=further)


def graded_of(made: list[Comparison], true: Floats, queries: str) -> Counter[str]:
    """How many grades were given, how many name a run that is not ahead over the full labels and all queries,
    and of how many tables of pairs that holds at least once."""
    told = Counter[str]()
    for grade in NAMED:
        given = [at for at, one in enumerate(made) if graded(one).grade is grade]
        false = [at for at in given if (1 if (made[at].difference or 0) > 0 else -1) * true[at] <= 0]
        told[f"{grade} {queries}"] += len(given)
        told[f"{grade} {queries} false"] += len(false)
        told[f"{grade} {queries} families"] += bool(false)
    return told


def has_two_signs(one: Comparison, said: str) -> bool:
    """Whether what the sentence quotes does not go together: winner, difference, interval and p-value."""
    if one.leader is None:
        return not said.startswith("Not ranked")
    found = _SAID.search(said)
    if found is None or not said.startswith(f"{one.leader} beats "):
        return True
    side = 1 if one.leader == one.first else -1
    value, low, high = (side * float(found[part].replace("−", "-")) for part in ("value", "low", "high"))
    if one.decided_by == BY_AUDIT:
        return value < 0 or min(low, high) < 0 or "choice of queries" in said
    surely = "would rarely" in said
    return value < 0 or max(low, high) < 0 or (surely and (min(low, high) < 0 or (one.p_value or 0) > LEVEL))


def one_campaign(name: str, budget: float, share: float, seed: int, runs: int) -> Counter[str]:
    """What all verdicts of one campaign come to."""
    judged, probability = judged_again(name, budget, share, seed)
    ours, told = field(name, runs), Counter[str](campaigns=1)
    draw = np.random.default_rng(seed)
    for k in ours.tops:
        false = 0
        made = compared(name, ours, k, judged, probability)
        others = draw.integers(0, len(ours.starts), len(ours.starts))
        told += graded_of(made, ours.macro[k], SAME)
        told += graded_of(compared(name, ours, k, judged, probability, others), ours.macro[k], OTHER)
        if not seed:
            check(name, ours, k, judged, probability, made)
        for at, one in enumerate(made):
            by = one.decided_by
            told["pairs"] += 1
            told["contradicted"] += one.contradicted and by is None
            told["two signs"] += has_two_signs(one, one.verdict())
            if by is None:
                continue
            side = 1 if one.leader == one.first else -1
            true = ours.micro[k][at] if by == BY_AUDIT else ours.macro[k][at]
            is_false = side * true <= 0
            false += is_false
            told[by] += 1
            told[f"{by} false"] += bool(is_false)
            told["other way in mean recall"] += bool(by == BY_AUDIT and side * ours.macro[k][at] < 0)
        told["families"] += 1
        told["families with a false one"] += false > 0
    return told


def check(
    name: str, ours: Field, k: int, judged: Booleans, probability: Floats, made: list[Comparison]
) -> None:
    """Stop where the numbers are not those of the functions that reports use; ten pairs of a cell."""
    base = ground(name)
    sample = base.pairs.with_columns(
        relevant=pl.Series(base.truth), inclusion_probability=pl.Series(probability)
    ).filter(pl.Series(judged))
    tops = [base.pairs.filter(pl.Series(ours.tops[k][:, at])) for at in range(len(ours.names))]
    audit = audit_of(ours, k, base.truth, judged, probability)
    for at in np.linspace(0, len(made) - 1, 10).astype(int):
        pair = tops[ours.one[at]], tops[ours.other[at]]
        found = interval_of_micro_recall_difference(sample, *pair)
        theirs = np.array([found.value, found.low, found.high, found.p_value], dtype=float)
        mine = np.array([audit.value[at], audit.low[at], audit.high[at], audit.p_value[at]])
        if not np.allclose(theirs[:3], mine[:3], atol=1e-6) or abs(np.log(theirs[3] / mine[3])) > 0.5:
            raise AssertionError(f"{name}@{k}, pair {at}: {theirs} by the report, {mine} here")


def some_campaigns(work: tuple[str, float, float, range, int]) -> Counter[str]:
    name, budget, share, seeds, runs = work
    return sum((one_campaign(name, budget, share, seed, runs) for seed in seeds), Counter[str]())


def verdicts_hold(sets: list[str], campaigns: int, workers: ProcessPoolExecutor, runs: int = RUNS) -> bool:
    """Print the verdicts of each cell beside their limits; whether all were kept."""
    print("\nVerdicts on all pairs of runs; false: the winner is not ahead over the full labels")
    kept = True
    for cell in cells(sets):
        blocks = [range(first, min(first + AT_ONCE, campaigns)) for first in range(0, campaigns, AT_ONCE)]
        done = workers.map(some_campaigns, [(*cell, block, runs) for block in blocks])
        kept = report(cell, sum(done, Counter[str]())) and kept
    return kept


def report(cell: tuple[str, float, float], told: Counter[str]) -> bool:
    name, budget, share = cell
    pairs, families = told["pairs"], told["families"]
    given, false = told[BY_BOUNDS] + told[BY_AUDIT], told["bounds false"] + told["audit false"]
    family = told["families with a false one"] / families
    checks = {
        "false verdicts": false / pairs < FALSE_RATE,
        "families": family <= LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / families),
        "two signs": not told["two signs"],
        "verdicts given": given > 0,
    }
    grades = []
    for grade, limit in NAMED.items():
        for queries in (SAME, OTHER):
            named, wrong = told[f"{grade} {queries}"], told[f"{grade} {queries} false"]
            checks[f"{grade}, {queries}"] = wrong <= limit * named
            ever = told[f"{grade} {queries} families"] / families
            grades.append(
                f"    {grade}, {queries}: {named / pairs:.1%} of all pairs, {wrong / max(named, 1):.2%} of "
                f"these false; at least one at a cutoff in {ever:.1%}\n"
            )
    missed = [check for check, fine in checks.items() if not fine]
    print(
        f"  {name.rstrip(':')}, {budget:.0%} judged, of that {share:.0%} audit; {told['campaigns']:,} "
        f"campaigns, {pairs:,} pairs: {given / pairs:.1%} ranked ({told[BY_BOUNDS]:,} by bounds, "
        f"{told[BY_AUDIT]:,} by the audit), {told['contradicted'] / pairs:.1%} point both ways;\n"
        f"    false {false / pairs:.2%} of all pairs, {false / max(given, 1):.2%} of the verdicts "
        f"({told['bounds false']:,} and {told['audit false']:,}); at least one at a cutoff in {family:.1%}; "
        f"two signs: {told['two signs']}; the audit’s winner behind in mean recall: "
        f"{told['other way in mean recall'] / max(told[BY_AUDIT], 1):.1%}\n"
        f"{''.join(grades)}"
        f"    {'LIMIT MISSED: ' + ', '.join(missed) if missed else 'limits kept'}",
        flush=True,
    )
    return not missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--campaigns", type=int, default=1_000)
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"The real collections are not at {DATA}; set SOUNDINGS_TEST_DATA to their folder.")
    started = time.perf_counter()
    with ProcessPoolExecutor(options.processes) as workers:
        kept = verdicts_hold([f"{name}:" for name in options.set], options.campaigns, workers, options.runs)
    print(f"{time.perf_counter() - started:.0f} s in all")
    sys.exit(int(not kept))


if __name__ == "__main__":
    main()
