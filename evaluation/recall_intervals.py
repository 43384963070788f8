"""Intervals of estimates from an audit sample: the one place that chooses how, and says which it chose.

A sample is the frame of `evaluation.estimates`. Every interval here is about *which labels* were drawn, never
about which queries were asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from evaluation.estimates import Drawn, Floats, largest_unrefuted, ratio

#: Below so many relevant audit documents outside the greedy part the normal interval is not used.
FEWEST_FOR_NORMAL = 5

COMPLETE = "complete"
NORMAL = "normal"
EXACT_BOUND = "exact bound"
UNDEFINED = "undefined"

#: How each method is said to people.
METHODS = {
    COMPLETE: "every pair of the pool has a label, so nothing is uncertain",
    NORMAL: "estimate ± normal quantile × standard error of the draw",
    EXACT_BOUND: "too few relevant documents in the audit; from exact bounds on what it did not see",
    UNDEFINED: "no relevant document in the sample",
}


@dataclass(frozen=True)
class LabelInterval:
    """An estimate and its interval over the draw of the audit; None where undefined.

    `method` is a key of METHODS; `relevant_drawn` counts the relevant audit documents outside the greedy
    part, which is what the method was chosen by.
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    relevant_drawn: int


def interval_of_micro_recall(
    sample: pl.DataFrame, retrieved: pl.DataFrame, *, confidence: float = 0.95
) -> LabelInterval:
    """Micro recall of a run (estimated as `micro_recall` does) with an interval and the name of its method.

    sample: `query_id, document_id, relevant, inclusion_probability`, one row per labelled pair. retrieved:
    the pairs `query_id, document_id` of the run's top K. Limits lie within 0 to 1. Raises ValueError for a
    sample without its columns or with a probability out of range.
    """
    drawn = Drawn.of(sample)
    hit = drawn.found_by(retrieved)
    open_ones = drawn.relevant * (drawn.probability < 1)
    count = int(open_ones.sum())
    estimate = ratio(drawn, hit)
    if estimate.value is None:
        return LabelInterval(None, None, None, UNDEFINED, count)
    if not (drawn.probability < 1).any():
        return LabelInterval(estimate.value, estimate.value, estimate.value, COMPLETE, count)
    if count >= FEWEST_FOR_NORMAL:
        low, high = estimate.interval(confidence) or (0.0, 1.0)
        return LabelInterval(estimate.value, max(low, 0.0), min(high, 1.0), NORMAL, count)
    low, high = exact_limits(drawn, hit, 1 - confidence)
    return LabelInterval(estimate.value, low, high, EXACT_BOUND, count)


def interval_of_micro_recall_difference(
    sample: pl.DataFrame, first: pl.DataFrame, second: pl.DataFrame, *, confidence: float = 0.95
) -> LabelInterval:
    """Micro recall of one run minus that of another on the same sample; otherwise as
    `interval_of_micro_recall`, with limits within -1 to 1.
    """
    drawn = Drawn.of(sample)
    ours, theirs = drawn.found_by(first), drawn.found_by(second)
    count = int((drawn.relevant * (drawn.probability < 1)).sum())
    estimate = ratio(drawn, ours - theirs)
    if estimate.value is None:
        return LabelInterval(None, None, None, UNDEFINED, count)
    if not (drawn.probability < 1).any():
        return LabelInterval(estimate.value, estimate.value, estimate.value, COMPLETE, count)
    if count >= FEWEST_FOR_NORMAL:
        low, high = estimate.interval(confidence) or (-1.0, 1.0)
        return LabelInterval(estimate.value, max(low, -1.0), min(high, 1.0), NORMAL, count)
    low, high = exact_limits_of_difference(drawn, ours, theirs, 1 - confidence)
    return LabelInterval(estimate.value, low, high, EXACT_BOUND, count)


def exact_limits_of_difference(
    drawn: Drawn, ours: Floats, theirs: Floats, level: float
) -> tuple[float, float]:
    """(A - B) / (A + B + O) with A found by the first run alone, B by the second alone and O all others.

    Each side bounds two numbers at level / 4: the other run's finds, and O, which draws towards 0.
    """
    a, b = (Counts.of(drawn, kind, level / 4) for kind in (ours * (1 - theirs), theirs * (1 - ours)))
    others = Counts.of(drawn, np.where(ours == theirs, 1.0, 0.0), level / 4)
    return least_difference(a.seen, b.most, others), -least_difference(b.seen, a.most, others)


def least_difference(wins: float, losses: float, others: Counts) -> float:
    """The least (wins - losses) / all over the number of the others; 0 without any."""
    total = wins + losses + (others.most if wins > losses else others.seen)
    return (wins - losses) / total if total else 0.0


def exact_limits(drawn: Drawn, hit: Floats, level: float) -> tuple[float, float]:
    """Limits that hold at 1 - level whatever the labels: each side bounds one number of unseen documents.

    Recall is H / (H + M), relevant documents found and missed. It is least with the H that was seen and the
    most M that the sample does not refute at level / 2, and largest the other way round.
    """
    found = Counts.of(drawn, hit, level / 2)
    missed = Counts.of(drawn, 1 - hit, level / 2)
    low = found.seen / (found.seen + missed.most) if found.seen else 0.0
    high = found.most / (found.most + missed.seen) if found.most else 0.0
    return low, high


@dataclass(frozen=True)
class Counts:
    """Relevant documents of some kind: those seen, and the most that the sample does not refute."""

    seen: float
    most: float

    @classmethod
    def of(cls, drawn: Drawn, kind: Floats, level: float) -> Counts:
        chosen = drawn.relevant * kind
        seen = int(chosen[drawn.probability < 1].sum())
        certain = float(chosen[drawn.probability == 1].sum())
        return cls(certain + seen, certain + largest_unrefuted(seen, float(drawn.probability.min()), level))
