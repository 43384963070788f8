"""Intervals for means over queries and for paired differences: Student's t with a seeded bootstrap-t."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from typing import NamedTuple, TypedDict

from evaluation.measures.student import student_limit
from pooling.heavy import Floats, Integers, np, npt, special
from pooling.ranking.bounds import FEWEST_FOR_INTERVAL

BOOTSTRAP_SAMPLES = 10_000
LEVEL = 0.95
LARGEST_RESAMPLED = 10_000
FEWEST_QUERIES = FEWEST_FOR_INTERVAL
# A resample has no less spread than a third of that of the queries: of the few different values that queries
# with rare differences have it can draw equal ones alone, and its t has no limit then.
_LEAST_SPREAD = 1 / 3
# Where fewer than this many queries differ from the rest, which are alike, others may differ otherwise.
FEW_UNLIKE = 3
# Values whose spread is less than the last digits of a sum are equal.
_EQUAL = 1e-14
_NUMBERS_AT_ONCE = 2_000_000
# Draws that are counted together stay in a processor's cache: half the time of counting all at once.
_DRAWS_AT_ONCE = 250_000
_COLUMNS_AT_ONCE = 1_000


class IntervalSettings(TypedDict):
    level: float
    method: str
    resampled: bool
    samples: int
    seed: int


class Resampling(NamedTuple):
    """How many resamples of the queries are drawn from which seed, and the level of what they give."""

    samples: int
    seed: int
    level: float


def interval_settings(query_count: int, samples: int, seed: int, level: float = LEVEL) -> IntervalSettings:
    """How `mean_intervals` makes its intervals for this many queries, as plain values."""
    if not 0 < level < 1:
        raise ValueError(f"A confidence of {level:g} makes no interval; name a share such as 0.95.")
    if samples < 1:
        raise ValueError(
            f"{samples} resamples make no interval; name a number such as {BOOTSTRAP_SAMPLES:,}."
        )
    resampled = FEWEST_QUERIES <= query_count <= LARGEST_RESAMPLED
    method = interval_method(query_count)
    return {"level": level, "method": method, "resampled": resampled, "samples": samples, "seed": seed}


def interval_method(query_count: int, *, of_draw: bool = False) -> str:
    """How the interval of a mean over this many queries is made, in words; of_draw: as `hajek` makes it."""
    if query_count < FEWEST_QUERIES:
        return f"not shown for fewer than {FEWEST_QUERIES} queries"
    alike = "Clopper and Pearson’s where all queries but two at most have 0, or 1"
    if of_draw:
        alike = "with Clopper and Pearson’s for strata in which every query has 0 or every one 1"
        return f"Student’s t, with the variance of the draw ({alike})"
    if query_count <= LARGEST_RESAMPLED:
        return f"the wider of Student’s t and the bootstrap-t over queries ({alike})"
    return f"normal limit of the bootstrap over queries ({alike})"


def mean_intervals(
    values: Floats,
    *,
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
    level: float = LEVEL,
    weights: Floats | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> tuple[Floats, Floats]:
    """Interval of each column's mean over queries: on each side the further limit of Student's t and of the
    bootstrap-t.

    values: (Q, M), one row per query, NaN where a query does not count in a column. Returns two (M,) arrays,
    low and high, NaN where fewer than `FEWEST_QUERIES` count. Where all values are equal, both are their
    mean, but for 0 and 1: many queries have these, and a share up to 1 - (α/2)^(1/n) of others may differ
    from n that have (Clopper and Pearson, 1934); likewise where one or two differ, by their distance and one
    that is as large as it can be. Every column sees the same resamples of the queries, so
    runs and measures can be compared. Above 10,000 queries nothing is drawn: the normal limit of the same,
    mean ± z · sqrt(Σ(x - mean)² / n²), differs from it by less than the drawing does. Values within [0, 1]
    give intervals within [0, 1].

    Percentiles of the resampled means are too narrow for few queries: on 10 queries drawn from the real
    differences of pairs of runs they held the mean in 86 %, Student's t in 92.5 %, both joined in 94 %
    (`benchmarks/bench_intervals.py`).

    weights: (Q, M), or (Q,) for all columns, above 0, for the mean Σwx / Σw, with the ratio's residuals
    w(x - mean) for its spread. A query is drawn with its weight, however heavy it is. Where a few weigh much,
    those here are often alike, and others are not: so limits reach no less far than Student's of Kish's
    (Σw)² ÷ Σw² queries of equal weight, with the larger spread of the values with weights and without, and
    Clopper and Pearson's are of as many. In 400 simulated samples each of 12 to 100 queries with log-normal
    weights (σ = 1.2) seven means were held in .90 or more; without this, in .75 or more.

    progress: called with the share that is done while resamples are drawn.

    Student, The probable error of a mean (1908); Efron and Tibshirani, An Introduction to the Bootstrap
    (1993), chapter 12.5.
    """
    return _limits(values, Resampling(samples, seed, level), weights, (0.0, 1.0), progress=progress)


def difference_intervals(
    differences: Floats, *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 0, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Interval of the mean of paired differences (Q, P), NaN where a query does not count.

    The differences are resampled by query; two separate intervals would ignore that both runs met the same
    queries. Otherwise as `mean_intervals`; differences within [-1, 1] give intervals within [-1, 1].
    """
    return _limits(differences, Resampling(samples, seed, level), None, (-1.0, 1.0))


def _limits(
    values: Floats,
    resampling: Resampling,
    weights: Floats | None,
    possible: tuple[float, float],
    *,
    progress: Callable[[float], None] = lambda share: None,
) -> tuple[Floats, Floats]:
    """Limits of each column, cut to what is possible where all of its values lie within that."""
    counted = ~np.isnan(values)
    n = np.count_nonzero(counted, axis=0)
    low, high = np.empty(values.shape[1]), np.empty(values.shape[1])
    if weights is not None:
        weights = np.broadcast_to(weights if weights.ndim == 2 else weights[:, None], values.shape)
    many = values.shape[1]
    for start in range(0, many, _COLUMNS_AT_ONCE):
        end = min(start + _COLUMNS_AT_ONCE, many)
        block = slice(start, end)

        def of_block(share: float, start: int = start, end: int = end) -> None:
            progress((start + share * (end - start)) / many)

        weight = None if weights is None else weights[:, block]
        if len(values) > LARGEST_RESAMPLED:
            low[block], high[block] = _normal_limit(values[:, block], n[block], resampling.level, weight)
        else:
            some = values[:, block], counted[:, block]
            low[block], high[block] = _wider(*some, resampling, weight, progress=of_block)
    # A run that found all or nothing in n queries, or as much as another one, can do otherwise in others.
    worth: Floats | Integers = np.maximum(n, 1)
    if weights is not None:
        mass = np.where(counted, weights, 0.0)
        kish = np.square(mass.sum(axis=0)) / np.maximum(np.square(mass).sum(axis=0), np.finfo(float).tiny)
        worth = kish = np.maximum(kish, 1.0)
        mean, reach = _of_equal_weight(values, mass, kish, resampling.level)
        low, high = np.fmin(low, mean - reach), np.fmax(high, mean + reach)
    least, most = possible
    inside = (np.where(counted, values, least) >= least) & (np.where(counted, values, most) <= most)
    bounded = inside.all(axis=0)
    low, high = (
        np.where(bounded, np.maximum(low, least), low),
        np.where(bounded, np.minimum(high, most), high),
    )
    mass, few = counted.astype(np.float64) if weights is None else mass, n < FEWEST_QUERIES
    for anchor in np.arange(least, most + 1):
        differ = counted & (values != anchor)
        columns = np.flatnonzero(bounded & ~few & (np.count_nonzero(differ, axis=0) < FEW_UNLIKE))
        below, above = _reach_of_few(
            np.where(counted, values - anchor, 0.0)[:, columns],
            mass[:, columns],
            worth[columns],
            resampling.level,
            possible=(least - anchor, most - anchor),
        )
        low[columns] = np.minimum(low[columns], anchor + below)
        high[columns] = np.maximum(high[columns], anchor + above)
    low[few] = high[few] = np.nan
    return low, high


def _reach_of_few(
    distances: Floats, mass: Floats, worth: Floats | Integers, level: float, *, possible: tuple[float, float]
) -> tuple[Floats, Floats]:
    """(M,) limits of the mean distance from a value that all but a few have: Clopper and Pearson's limit of
    the share of those that differ, times how far these do, one that differs as far as possible counted in.

    distances, mass: (Q, M), mass 0 where a query does not count. worth: (M,) queries of equal weight.
    """
    each = mass * (worth / mass.sum(axis=0))
    unlike = (each * (distances != 0)).sum(axis=0)
    # SciPy, which takes as long to load as a small evaluation, only where some differ.
    share = (
        special.betaincinv(unlike + 1, np.maximum(worth - unlike, 1e-9), (1 + level) / 2)
        if unlike.any()
        else share_unlike(worth, level)
    )
    below, above = (
        share * ((each * side(distances, 0.0)).sum(axis=0) + furthest) / (unlike + 1)
        for side, furthest in zip((np.minimum, np.maximum), possible, strict=True)
    )
    return below, above


def _of_equal_weight(values: Floats, mass: Floats, worth: Floats, level: float) -> tuple[Floats, Floats]:
    """(M,) the weighted means, and Student's reach for as many queries of equal weight as these are `worth`;
    0 where all are alike. mass: (Q, M) the weights, 0 where a query does not count."""
    filled, counts = np.where(mass > 0, values, 0.0), (mass > 0).astype(np.float64)
    n = np.maximum(counts.sum(axis=0), 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        means, spreads = [], []
        for weight in (mass, counts):
            means.append((weight * filled).sum(axis=0) / weight.sum(axis=0))
            square = np.square(filled - means[-1])
            spreads.append((weight * square).sum(axis=0) / weight.sum(axis=0))
    spread = np.sqrt(np.fmax(*spreads) * n / (n - 1))
    spread[~(spread > _EQUAL * np.abs(filled).max(axis=0, initial=0.0))] = 0.0
    limits = [student_limit(level, max(int(one + 1e-9) - 1, 1)) for one in worth.tolist()]
    return means[0], np.array(limits) * spread / np.sqrt(worth)


def share_unlike(count: Floats | Integers, level: float | Floats) -> Floats:
    """The share of others that may differ from `count` queries that are all alike (Clopper and Pearson)."""
    shares: Floats = 1 - ((1 - level) / 2) ** (1 / count)
    return shares


def _normal_limit(
    values: Floats, n: npt.NDArray[np.int64], level: float, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    from statistics import NormalDist

    z = NormalDist().inv_cdf(0.5 + level / 2)
    low, high = np.empty(values.shape[1]), np.empty(values.shape[1])
    for column, count in enumerate(n):
        chosen = slice(None) if count == len(values) else ~np.isnan(values[:, column])
        counted = values[chosen, column]
        if weights is None:
            mean = counted.mean() if count else np.nan
            spread = z * np.sqrt(np.square(counted - mean).sum()) / max(count, 1)
        else:
            mass = weights[chosen, column]
            mean = (mass * counted).sum() / mass.sum() if count else np.nan
            spread = z * np.sqrt(np.square(mass * (counted - mean)).sum()) / mass.sum() if count else np.nan
        low[column] = max(mean - spread, counted.min(initial=mean))
        high[column] = min(mean + spread, counted.max(initial=mean))
    return low, high


def _wider(
    values: Floats,
    counted: npt.NDArray[np.bool_],
    resampling: Resampling,
    weights: Floats | None,
    *,
    progress: Callable[[float], None],
) -> tuple[Floats, Floats]:
    """The further limit of Student's t and of the bootstrap-t on each side."""
    weight = counted.astype(np.float64) if weights is None else np.where(counted, weights, 0.0)
    filled = np.where(counted, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weight * filled).sum(axis=0) / weight.sum(axis=0)
        centred = np.where(counted, filled - mean, 0.0)
        error = np.sqrt(np.square(weight * centred).sum(axis=0)) / weight.sum(axis=0)
    error[error <= _EQUAL * np.abs(filled).max(axis=0, initial=0.0)] = 0.0
    n = np.maximum(np.count_nonzero(counted, axis=0), 2)
    level = resampling.level
    limits = np.array([student_limit(level, freedom) for freedom in (n - 1).tolist()])
    t = limits * np.sqrt(n / (n - 1))
    t_values = _resampled_t(
        centred, weight, error, resampling, is_weighted=weights is not None, progress=progress
    )
    # A resample can miss every query that counts in a column; it says nothing about that column.
    quantile = np.quantile if not np.isnan(t_values).any() else _nanquantile
    below, above = quantile(t_values, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return mean - np.fmax(t, above) * error, mean + np.fmax(t, -below) * error


def _resampled_t(
    centred: Floats,
    weight: Floats,
    error: Floats,
    resampling: Resampling,
    *,
    is_weighted: bool,
    progress: Callable[[float], None],
) -> Floats:
    """(samples, M) the mean of each column in each resample of the queries in its own standard errors; NaN
    where no query of the resample counts.

    centred: (Q, M) values less their mean, 0 where one does not count. weight: (Q, M) of each query in
    the mean, 0 where it does not count. error: (M,) standard error of the mean.
    """
    result = np.empty((resampling.samples, centred.shape[1]))
    # Runs mostly count on the same queries: one column of counts serves them all.
    distinct, column = _distinct_columns(weight)
    first, second = weight * centred, np.square(weight * centred)
    if is_weighted:
        cross, squared = weight * weight * centred, np.square(distinct)
    least = np.square(_LEAST_SPREAD * error)

    def compute(start: int, counts: Floats) -> None:
        with np.errstate(invalid="ignore", divide="ignore"):
            count = (counts @ distinct)[:, column]
            mean = counts @ first
            mean /= count
            # Of the residuals w(x - mean): Σw²x² - 2 mean Σw²x + mean² Σw²; all weights 1: Σx² - n mean².
            spread = counts @ second
            if is_weighted:
                spread -= mean * (2 * (counts @ cross) - mean * (counts @ squared)[:, column])
            else:
                spread -= np.square(mean) * count
            spread /= np.square(count)
            np.sqrt(np.maximum(spread, least, out=spread), out=spread)
            result[start : start + len(counts)] = np.divide(
                mean, spread, out=np.where(np.isnan(mean), np.nan, 0.0), where=spread > 0
            )

    # Drawing takes as long as what follows: the next resamples are drawn while these are computed.
    with ThreadPoolExecutor(1) as thread:
        computed: Future[None] | None = None
        for start, counts in resamples(len(centred), resampling.samples, resampling.seed):
            if computed is not None:
                computed.result()
            progress(start / resampling.samples)
            computed = thread.submit(compute, start, counts)
        if computed is not None:
            computed.result()
    return result


def _distinct_columns(table: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The columns that differ, and (M,) which of them each column of the table is."""
    first: dict[bytes, int] = {}
    turned = np.ascontiguousarray(table.T)
    number = np.array([first.setdefault(row.tobytes(), len(first)) for row in turned], dtype=np.int64)
    chosen = np.unique(number, return_index=True)[1]
    return np.ascontiguousarray(turned[chosen].T), number


def _nanquantile(means: Floats, tails: list[float], axis: int) -> Floats:
    empty = np.isnan(means).all(axis=axis)
    result = np.nanquantile(np.where(empty, 0.0, means), tails, axis=axis)
    return np.where(empty, np.nan, result)


def resamples(query_count: int, samples: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """Yield (first sample, weights) with weights (chunk, Q), overwritten by the second after it: how often
    each query is drawn."""
    generator = np.random.Generator(np.random.PCG64(seed))
    chunk = max(1, _NUMBERS_AT_ONCE // max(query_count, 1))
    step = max(1, _DRAWS_AT_ONCE // max(query_count, 1))
    tables = cycle([np.empty((min(chunk, samples), query_count)) for _ in range(2)])
    for start in range(0, samples if query_count else 0, chunk):
        weights = next(tables)[: samples - start]
        for at in range(0, len(weights), step):
            part = weights[at : at + step]
            places = generator.integers(0, query_count, size=part.shape, dtype=np.int32).astype(np.int64)
            places += np.arange(len(part))[:, None] * query_count
            part[:] = np.bincount(places.ravel(), minlength=part.size).reshape(part.shape)
        yield start, weights
