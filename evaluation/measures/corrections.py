"""Many comparisons at once: p-values made comparable with the level they are read at."""

from __future__ import annotations

from collections.abc import Callable

from pooling.heavy import Floats, np, npt


def holm(p_values: Floats) -> Floats:
    """Holm's step-down adjustment: the chance of any false discovery stays at the level.

    Holm, A simple sequentially rejective multiple test procedure (1979).

    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    stepped = p_values[order] * np.arange(len(p_values), 0, -1)
    result = np.empty(len(p_values))
    result[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return result


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Benjamini and Hochberg's adjustment: the share of false ones among the discoveries stays at the level.

    Benjamini and Hochberg, Controlling the false discovery rate (1995).
    """
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
