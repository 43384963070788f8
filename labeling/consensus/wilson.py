"""The interval of a share that needs no library."""

from __future__ import annotations

from math import sqrt

TWO_SIDED_95 = 1.959964


def wilson(right: float, answers: float, z: float = TWO_SIDED_95) -> tuple[float, float]:
    """The Wilson interval of a share (E. B. Wilson, 1927), 95 % unless `z` says otherwise.

    >>> [round(bound, 2) for bound in wilson(9, 10)]
    [0.6, 0.98]
    """
    if not answers:
        return 0.0, 1.0
    share, part = right / answers, z * z / answers
    centre = (share + part / 2) / (1 + part)
    half = z * sqrt(share * (1 - share) / answers + part / (4 * answers)) / (1 + part)
    return max(0.0, centre - half), min(1.0, centre + half)
