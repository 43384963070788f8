"""Which queries: intervals, paired tests, corrections and power. Not a word about missing labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import NamedTuple

from evaluation.measures.intervals import FEWEST_QUERIES, LARGEST_RESAMPLED, Resampling, resamples
from evaluation.measures.student import student_limit
from pooling.heavy import Floats, np, npt, special
from pooling.ranking.bounds import holm

# As for means: a resample has no less spread than a third of that of the queries.
_LEAST_SPREAD = 1 / 3
_EQUAL_RATIOS = 1e-14
# A spread of fewer queries is taken as one of so many: Student's quantiles of these have no use.
FEWEST_MEASURED = 5


class RatioDifferences(NamedTuple):
    """(G,) each part less the rest, with interval and two-sided p-value; NaN where one of both is empty."""

    difference: Floats
    low: Floats
    high: Floats
    p: Floats


def ratio_differences(hits: Floats, of: Floats, resampling: Resampling) -> RatioDifferences:
    """Σ hits / Σ of over queries, of each part less that of all other parts together.

    hits, of: (Q, G) whole numbers, 0 <= hits <= of; the parts do not overlap. On both sides the interval
    reaches as far as the further of Student's t, on the linearised ratios, and of the bootstrap-t, whose
    resamples all parts share; p is the larger of both. Above 10,000 queries nothing is drawn. Percentiles of
    resampled differences are too narrow for few queries: over 15 queries with very different numbers of
    documents they held the true difference in 89 %, what is here in 94 %.

    Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 12.5.
    """
    parts = [
        np.stack([hits[:, g], of[:, g], hits.sum(axis=1) - hits[:, g], of.sum(axis=1) - of[:, g]], axis=1)
        for g in range(of.shape[1])
    ]
    products = [(table[:, :, None] * table[:, None, :]).reshape(len(table), 16) for table in parts]
    resampled: list[list[Floats]] = [[] for _ in parts]
    whole = [
        _ratios(table.sum(axis=0)[None], own.sum(axis=0)[None])
        for table, own in zip(parts, products, strict=True)
    ]
    if len(of) <= LARGEST_RESAMPLED:
        for _, weights in resamples(len(of), resampling.samples, resampling.seed):
            for place, (table, own) in enumerate(zip(parts, products, strict=True)):
                difference, error = _ratios(weights @ table, weights @ own)
                least = np.maximum(error, _LEAST_SPREAD * whole[place][1])
                with np.errstate(invalid="ignore", divide="ignore"):
                    resampled[place].append(np.abs((difference - whole[place][0]) / least))
    limits = [
        _limits(
            *one,
            np.concatenate(of_part) if of_part else np.empty(0),
            int(np.count_nonzero(table[:, 1::2].sum(axis=1))),
            level=resampling.level,
        )
        for one, of_part, table in zip(whole, resampled, parts, strict=True)
    ]
    return RatioDifferences(*np.array(limits, dtype=np.float64).reshape(-1, 4).T)


def _ratios(totals: Floats, products: Floats) -> tuple[Floats, Floats]:
    """(n,) differences of both ratios of the totals (n, 4), and their standard errors: the root of the sum of
    the squared residuals, each a line of hits and of with these coefficients."""
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = totals[:, 0] / totals[:, 1], totals[:, 2] / totals[:, 3]
        lines = np.stack(
            [1 / totals[:, 1], -first / totals[:, 1], -1 / totals[:, 3], second / totals[:, 3]], axis=1
        )
        squares = np.einsum("ni,nij,nj->n", lines, products.reshape(-1, 4, 4), lines)
    return first - second, np.sqrt(np.maximum(squares, 0.0))


def _limits(
    difference: Floats, error: Floats, resampled: Floats, queries: int, *, level: float
) -> tuple[float, float, float, float]:
    """Difference, low, high and p of one part."""
    value, spread = float(difference[0]), float(error[0])
    if np.isnan(value) or queries < 2:
        return value, np.nan, np.nan, np.nan
    if spread <= _EQUAL_RATIOS:
        return value, value, value, 1.0 if abs(value) <= _EQUAL_RATIOS else 1 / (len(resampled) + 1)

    freedom = queries - 1
    widened = spread * float(np.sqrt(queries / freedom))
    seen = resampled[~np.isnan(resampled)]
    reach = student_limit(level, freedom) * widened
    p = float(2 * special.stdtr(freedom, -abs(value) / widened))
    if len(seen):
        reach = max(reach, float(np.quantile(seen, level)) * spread)
        p = max(p, (1 + np.count_nonzero(seen >= abs(value) / spread)) / (len(seen) + 1))
    return value, max(-1.0, value - reach), min(1.0, value + reach), min(1.0, p)


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Adjusted so that false discoveries stay at the level (Benjamini and Hochberg, 1995)."""
    order = np.argsort(p_values)[::-1]
    stepped = p_values[order] * len(p_values) / np.arange(len(p_values), 0, -1)
    result = np.empty(len(p_values))
    result[order] = np.minimum(np.minimum.accumulate(stepped), 1.0)
    return result


def uncorrected(p_values: Floats) -> Floats:
    """The p-values as they are, for a single comparison that was planned."""
    return p_values.copy()


CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "none": uncorrected,
}


def adjusted(p_values: npt.ArrayLike, method: str = "holm") -> Floats:
    """The p-values adjusted by one of CORRECTIONS. NaN stays NaN and is no comparison."""
    if method not in CORRECTIONS:
        raise ValueError(f"There is no correction {method!r}; choose one of {', '.join(CORRECTIONS)}.")
    values = np.asarray(p_values, dtype=np.float64)
    counted = ~np.isnan(values)
    if bool(((values[counted] < 0) | (values[counted] > 1)).any()):
        raise ValueError("A p-value lies outside 0 to 1.")
    result = np.full(len(values), np.nan)
    if counted.any():
        result[counted] = CORRECTIONS[method](values[counted])
    return result


PERMUTATIONS = 10_000
# Sums of the same numbers in another order differ in the last digits, and still count as equal.
_EQUAL = 1e-12
_NUMBERS_AT_ONCE = 4_000_000


def randomisation_test(
    differences: Floats, *, permutations: int = PERMUTATIONS, seed: int = 0, falls_only: bool = False
) -> Floats:
    """Two-sided p-value of each column's mean under random signs: (1 + #{|Δ*| ≥ |Δ|}) / (1 + B).

    differences: (Q, P), NaN where a query does not count. All columns see the same signs. p is never 0, and
    NaN in a column without a query. Without ties among them, n queries cannot give less than 2 / 2ⁿ.

    falls_only: one-sided, (1 + #{Δ* ≤ Δ}) / (1 + B), and not less than 1 / 2ⁿ. Where a query's two values may
    as well be the other way round, p ≤ α has at most the chance α, at every number of queries and however few
    of them differ, because what was seen counts as one of the draws.

    Smucker, Allan and Carterette, A comparison of statistical significance tests for IR evaluation (2007).

    >>> float(randomisation_test(np.zeros((5, 1)), permutations=99)[0])
    1.0
    """
    filled = np.nan_to_num(differences)  # a zero is the same under either sign
    total = filled.sum(axis=0)
    observed = (-total if falls_only else np.abs(total)) - _EQUAL * np.abs(filled).sum(axis=0)
    reached = np.zeros(filled.shape[1], dtype=np.int64)
    for signs in _signs(len(filled), permutations, seed):
        sums = signs @ filled
        reached += np.count_nonzero((-sums if falls_only else np.abs(sums)) >= observed, axis=0)
    p = (1 + reached) / (1 + permutations)
    return np.where(np.isnan(differences).all(axis=0), np.nan, p)


def _signs(query_count: int, permutations: int, seed: int) -> Iterator[Floats]:
    """Yield (chunk, Q) matrices of -1 and 1, `permutations` rows in all."""
    generator = np.random.Generator(np.random.PCG64(seed))
    chunk = max(1, _NUMBERS_AT_ONCE // max(query_count, 1))
    for start in range(0, permutations, chunk):
        rows = min(chunk, permutations - start)
        width = -(-query_count // 8)
        random_bytes = np.frombuffer(generator.bytes(rows * width), dtype=np.uint8).reshape(rows, width)
        yield np.unpackbits(random_bytes, axis=1, count=query_count).astype(np.float64) * 2 - 1


def t_test(differences: Floats) -> Floats:
    """Two-sided p-value of the paired t-test for each column of `differences` (Q, P), NaN left out.

    Where all differences are equal the statistic has no spread: p is 1 for equal runs, else 0. NaN below two
    queries.

    Student, The probable error of a mean (1908).
    """
    n, mean, deviation = _moments(differences)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(mean == 0, 0.0, mean * np.sqrt(n) / deviation)
    p: Floats = 2 * special.stdtr(np.maximum(n - 1, 1), -np.abs(statistic))
    return np.where(n < 2, np.nan, p)


TESTS: dict[str, Callable[..., Floats]] = {"randomisation": randomisation_test, "t": t_test}


def effect_sizes(differences: Floats) -> Floats:
    """Cohen's d of each column: the mean difference in standard deviations of the differences.

    NaN where the differences have no spread or are fewer than two. About 0.2 is small, 0.5 medium, 0.8 large.

    Cohen, Statistical power analysis for the behavioral sciences (1988), chapter 2 (d_z).
    """
    n, mean, deviation = _moments(differences)
    result = np.full(len(mean), np.nan)
    np.divide(mean, deviation, out=result, where=(n >= 2) & (deviation > 0))
    return result


def _moments(differences: Floats) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Number, mean and standard deviation (n - 1) of each column's values; equal values have exactly 0."""
    counted = ~np.isnan(differences)
    n = np.count_nonzero(counted, axis=0)
    filled = np.where(counted, differences, 0.0)
    mean = filled.sum(axis=0) / np.maximum(n, 1)
    squares = (np.where(counted, filled - mean, 0.0) ** 2).sum(axis=0)
    deviation = np.sqrt(squares / np.maximum(n - 1, 1))
    negligible = deviation <= _EQUAL * np.abs(filled).max(axis=0, initial=0.0)
    return n, mean, np.where(negligible, 0.0, deviation)


def queries_needed(
    deviation: float,
    difference: float = 0.05,
    *,
    power: float = 0.8,
    level: float = 0.05,
    measured: int | None = None,
) -> int:
    """The queries with which a two-sided paired test at `level` finds a true difference with chance `power`.

    deviation: standard deviation of the differences by query. n = ((z(1 - level/2) + z(power)) · deviation /
    difference)², the normal approximation, at least 2. measured: the deviation is from this many queries, and
    few of them often show too little of it: Student's quantiles instead of z. On the differences of real runs
    the power by the spread of 5 to 40 queries was then .67 to .74, and without this .55 to .70.

    Cohen, Statistical power analysis for the behavioral sciences (1988), chapter 2.

    >>> queries_needed(0.16), queries_needed(0.19)
    (81, 114)
    """
    if not (difference > 0 and deviation >= 0 and 0 < power < 1 and 0 < level < 1):
        raise ValueError("Name a difference above 0, and power and level between 0 and 1.")
    if measured is None:
        reach = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(power)
    else:
        freedom = max(measured, FEWEST_MEASURED) - 1
        reach = float(special.stdtrit(freedom, 1 - level / 2) + special.stdtrit(freedom, power))
    return max(2, math.ceil((reach * deviation / difference) ** 2))


def least_difference(deviation: float, queries: int, *, power: float = 0.8, level: float = 0.05) -> float:
    """The true difference that a two-sided paired test of this many queries finds with chance `power`: what
    `queries_needed` is of the other way round.

    >>> round(least_difference(0.16, 81), 3)
    0.05
    """
    reach = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(power)
    return reach * deviation / math.sqrt(queries)


def power_line(
    deviation: float, queries: int, difference: float = 0.05, *, power: float = 0.8, level: float = 0.05
) -> str:
    """The same as a sentence next to the number of queries there are, which the deviation is from; never
    fewer than an interval takes.

    >>> power_line(0.16, 50)
    '80 % power for a difference of 0.05 needs about 84 queries; there are 50.'
    """
    needed = queries_needed(deviation, difference, power=power, level=level, measured=queries)
    needed = max(needed, FEWEST_QUERIES)
    return (
        f"{100 * power:.0f} % power for a difference of {difference:g} needs about {needed:,} queries; "
        f"there are {queries:,}."
    )


def plain(number: float) -> float | None:
    """For JSON, where undefined is null."""
    return None if np.isnan(number) else float(number)


def plain_mean(values: Floats) -> float | None:
    """The mean of the numbers among the values; None without one."""
    numbers = values[~np.isnan(values)]
    return float(numbers.mean()) if len(numbers) else None
