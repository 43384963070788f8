"""Intervals for means over queries, by a seeded bootstrap: percentile, BCa, and of paired differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

BOOTSTRAP_SAMPLES = 10_000
LEVEL = 0.95
LARGEST_RESAMPLED = 10_000
_NUMBERS_AT_ONCE = 4_000_000
# Draws that are counted together stay in a processor's cache: half the time of counting all at once.
_DRAWS_AT_ONCE = 250_000
_COLUMNS_AT_ONCE = 1_000


def interval_settings(query_count: int, samples: int, seed: int, level: float = LEVEL) -> dict[str, Any]:
    """How `mean_intervals` makes its intervals for so many queries, as plain values."""
    resampled = query_count <= LARGEST_RESAMPLED
    method = (
        "percentile bootstrap over queries" if resampled else "normal limit of the bootstrap over queries"
    )
    if not 0 < level < 1:
        raise ValueError(f"A confidence of {level:g} makes no interval; name a share such as 0.95.")
    return {"level": level, "method": method, "resampled": resampled, "samples": samples, "seed": seed}


def mean_intervals(
    values: Floats,
    *,
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
    level: float = LEVEL,
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Percentile bootstrap interval of each column's mean over queries.

    values: (Q, M), one row per query, NaN where a query does not count in a column. Returns two (M,) arrays,
    low and high, NaN where fewer than two queries count. Every column sees the same resamples of the queries,
    so runs and measures can be compared. Above 10,000 queries the resamples are not drawn: the normal limit
    of the same bootstrap, mean ± z · sqrt(Σ(x - mean)² / n²), differs from it by less than the drawing does.
    Values within [0, 1] give intervals within [0, 1].

    weights: (Q, M), or (Q,) for all columns, above 0, for the mean Σwx / Σw. A query is drawn with its
    weight, however heavy it is; the normal limit then has the ratio's residuals, sqrt(Σw²(x - mean)²) / Σw.

    Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
    """
    counted = ~np.isnan(values)
    n = np.count_nonzero(counted, axis=0)
    low, high = np.empty(values.shape[1]), np.empty(values.shape[1])
    if weights is not None:
        weights = np.broadcast_to(weights if weights.ndim == 2 else weights[:, None], values.shape)
    for block in (slice(at, at + _COLUMNS_AT_ONCE) for at in range(0, values.shape[1], _COLUMNS_AT_ONCE)):
        held = None if weights is None else weights[:, block]
        if len(values) > LARGEST_RESAMPLED:
            low[block], high[block] = _normal_limit(values[:, block], n[block], level, held)
        else:
            low[block], high[block] = _percentiles(
                values[:, block], counted[:, block], samples, seed, level, held
            )
    few = n < 2
    low[few] = high[few] = np.nan
    return low, high


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
            held = weights[chosen, column]
            mean = (held * counted).sum() / held.sum() if count else np.nan
            spread = z * np.sqrt(np.square(held * (counted - mean)).sum()) / held.sum() if count else np.nan
        low[column] = max(mean - spread, counted.min(initial=mean))
        high[column] = min(mean + spread, counted.max(initial=mean))
    return low, high


def difference_intervals(
    differences: Floats, *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 0, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Percentile bootstrap interval of the mean of paired differences (Q, P), NaN where a query does not
    count.

    The differences are resampled by query; two separate intervals would ignore that both runs met the same
    queries. Otherwise as `mean_intervals`.
    """
    return mean_intervals(differences, samples=samples, seed=seed, level=level)


def bca_intervals(
    values: Floats, *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 0, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Bias-corrected and accelerated bootstrap interval of each column's mean over queries.

    values: (Q, M), NaN where a query does not count. Better than the percentile interval where the values
    lean to one side and queries are few. Two (M,) arrays, NaN where fewer than two queries count; where all
    values are equal, both are that value.

    Efron, Better bootstrap confidence intervals (1987).
    """
    low, high = np.empty(values.shape[1]), np.empty(values.shape[1])
    for block in (slice(at, at + _COLUMNS_AT_ONCE) for at in range(0, values.shape[1], _COLUMNS_AT_ONCE)):
        counted = ~np.isnan(values[:, block])
        means = np.sort(_resampled_means(values[:, block], counted, samples, seed), axis=0)
        for at, column in enumerate(range(*block.indices(values.shape[1]))):
            present = values[counted[:, at], column]
            low[column], high[column] = _bca(present, means[:, at], level)
    return low, high


def _bca(values: Floats, means: Floats, level: float) -> tuple[float, float]:
    """The limits from the values that count and the means of their resamples, which rise."""
    from scipy import special

    if len(values) < 2:
        return np.nan, np.nan
    mean = values.mean()
    deviations = values - mean
    squares = np.square(deviations).sum()
    if squares <= len(values) * np.square(1e-14 * np.abs(values).max()):
        return float(values[0]), float(values[0])
    means = means[~np.isnan(means)]  # a resample can miss every query that counts
    below = (np.searchsorted(means, mean, "left") + np.searchsorted(means, mean, "right")) / 2
    edge = 0.5 / len(means)
    bias = special.ndtri(np.clip(below / len(means), edge, 1 - edge))
    acceleration = (deviations**3).sum() / (6 * squares**1.5)
    z = bias + special.ndtri([(1 - level) / 2, (1 + level) / 2])
    limits = np.quantile(means, special.ndtr(bias + z / (1 - acceleration * z)))
    low, high = np.clip(limits, values.min(), values.max())  # a sum can leave them in its last digit
    return float(low), float(high)


def _percentiles(
    values: Floats,
    counted: npt.NDArray[np.bool_],
    samples: int,
    seed: int,
    level: float,
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    means = _resampled_means(values, counted, samples, seed, weights)
    tails = [(1 - level) / 2, (1 + level) / 2]
    # A resample can miss every query that counts in a column; it says nothing about that column.
    quantile = np.quantile if not np.isnan(means).any() else _nanquantile
    low, high = quantile(means, tails, axis=0)
    return low, high


def _resampled_means(
    values: Floats,
    counted: npt.NDArray[np.bool_],
    samples: int,
    seed: int,
    held: Floats | None = None,
) -> Floats:
    """(samples, M) the mean of each column in each resample of the queries; NaN where none of them counts.

    held: (Q, M) what each query weighs in the mean.
    """
    means = np.empty((samples, values.shape[1]))
    filled = np.where(counted, values, 0.0)
    present = None if held is None and counted.all() else counted.astype(np.float64)
    if held is not None and present is not None:
        filled, present = filled * held, present * held
    # Runs mostly count on the same queries: one column of counts serves them all.
    distinct, column = (present, slice(None)) if present is None else _distinct_columns(present)
    for start, weights in _resamples(len(values), samples, seed):
        sums = weights @ filled
        counts = float(len(values)) if distinct is None else (weights @ distinct)[:, column]
        with np.errstate(invalid="ignore", divide="ignore"):
            means[start : start + len(weights)] = sums / counts
    return means


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


def _resamples(query_count: int, samples: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """Yield (first sample, weights) with weights (chunk, Q), overwritten by the next: how often each query is
    drawn."""
    generator = np.random.Generator(np.random.PCG64(seed))
    chunk = max(1, _NUMBERS_AT_ONCE // max(query_count, 1))
    step = max(1, _DRAWS_AT_ONCE // max(query_count, 1))
    table = np.empty((min(chunk, samples), query_count))
    for start in range(0, samples if query_count else 0, chunk):
        weights = table[: samples - start]
        for at in range(0, len(weights), step):
            part = weights[at : at + step]
            drawn = generator.integers(0, query_count, size=part.shape, dtype=np.int32).astype(np.int64)
            drawn += np.arange(len(part))[:, None] * query_count
            part[:] = np.bincount(drawn.ravel(), minlength=part.size).reshape(part.shape)
        yield start, weights
