"""How many queries it takes to see a difference."""

from __future__ import annotations

import math
from statistics import NormalDist


def queries_needed(
    deviation: float, difference: float = 0.05, *, power: float = 0.8, level: float = 0.05
) -> int:
    """The queries with which a two-sided paired test at `level` finds a true difference with chance `power`.

    deviation: standard deviation of the differences by query. n = ((z(1 - level/2) + z(power)) · deviation /
    difference)², the normal approximation, at least 2.

    Cohen, Statistical power analysis for the behavioral sciences (1988), chapter 2.

    >>> queries_needed(0.16), queries_needed(0.19)
    (81, 114)
    """
    if not (difference > 0 and deviation >= 0 and 0 < power < 1 and 0 < level < 1):
        raise ValueError("Name a difference above 0, and power and level between 0 and 1.")
    reach = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(power)
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
    """The same as a sentence next to the number of queries there are.

    >>> power_line(0.16, 50)
    '80 % power for a difference of 0.05 needs about 81 queries; there are 50.'
    """
    needed = queries_needed(deviation, difference, power=power, level=level)
    return (
        f"{100 * power:.0f} % power for a difference of {difference:g} needs about {needed:,} queries; "
        f"there are {queries:,}."
    )
