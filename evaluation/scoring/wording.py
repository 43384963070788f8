"""Figures as people read them. Loads nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.measures.intervals import IntervalSettings
from evaluation.scoring.estimate_figures import EstimatedQueries
from evaluation.scoring.figures import MeanSpan, Span
from pooling.formats.wording import counted

USUAL_LEVEL = 0.95
TOO_FEW = "too few queries for an interval"
#: Pools that a measure is over: without one of its own, and with one.
UNION, AS_GIVEN = "union of the runs' first K", "as given, and the runs' first K"


def usual_cutoff(cutoffs: Sequence[int]) -> int:
    """The K that is shown unless another is chosen: the one nearest 10."""
    return min(cutoffs, key=lambda k: abs(k - 10))


def cutoffs_down_to(cutoffs: Sequence[int], depth: int) -> tuple[int, ...]:
    """The usual values of K as far as a pool was judged; the depth itself where all of them lie deeper."""
    return tuple(k for k in cutoffs if k <= depth) or (depth,)


def rests_on(*, complete: bool) -> str:
    """The basis of a mean that no audit corrects."""
    return "by complete labels" if complete else "by the labels at hand"


def estimated_title(queries: EstimatedQueries | None) -> str:
    """Of a column of estimates: `estimated`, with the number of queries where these are some alone."""
    if queries is None or not queries["not_estimated"]:
        return "estimated"
    return f"estimated, {queries['estimated']:,} of {counted(queries['pool'], 'query')}"


def first_places(k: int) -> str:
    """`first 10`; where K is 1, without the number."""
    return "first places" if k == 1 else f"first {k}"


def decimal(value: float | None) -> str:
    """Three decimals, or a dash for what is undefined."""
    return "–" if value is None else f"{value:.3f}"


def falls_short(value: float, wanted: float) -> bool:
    """Below a threshold; a mean of shares can end a last digit below what it stands for, which is not."""
    return value < wanted - 1e-12


def decimal_against(value: float | None, wanted: float, digits: int = 3) -> str:
    """With as many digits as it takes to see on which side of `wanted` it lies: 0.39996 is below 0.4."""
    if value is None:
        return decimal(value)
    texts = [f"{value:.{count}f}" for count in range(digits, 13)]
    same = (one for one in texts if falls_short(float(one), wanted) == falls_short(value, wanted))
    return next(same, texts[-1])


def percent(value: float | None, digits: int = 1) -> str:
    """Decimals and a percent sign, or a dash for what is undefined."""
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def share_in_words(share: float) -> str:
    """A level of confidence as a whole number of percent, or with the digits that it has: 95 %, 99.9 %."""
    return f"{100 * share:g} %"


def unusual_level(confidence: float) -> str:
    """The level of an interval, said where it is not the usual one, with a blank before it."""
    return "" if confidence == USUAL_LEVEL else f" ({share_in_words(confidence)} interval)"


def interval_in_words(made: IntervalSettings) -> str:
    """Level and method of all intervals, and what was drawn for them."""
    samples = f", {made['samples']:,} samples, seed {made['seed']}" if made["resampled"] else ""
    return f"{share_in_words(made['level'])} interval, {made['method']}{samples}"


def interval_or_why_not(figure: MeanSpan, confidence: float) -> str:
    """The interval of a figure with its level where that is not the usual one, or that there is none."""
    if figure["low"] is not None:
        return f"{interval(figure)}{unusual_level(confidence)}"
    return "" if figure["mean"] is None else f" ({TOO_FEW})"


def interval(figure: Span) -> str:
    """The interval in brackets with a blank before it; nothing when there is none."""
    if figure["low"] is None:
        return ""
    return f" [{figure['low']:.3f}, {figure['high']:.3f}]"
