"""Five grades of certainty that one of two runs is better, each with a sentence that can be repeated.

A verdict (`evaluation.comparisons.verdict`) asks what no label can turn, or what an audit proves. A grade
weighs both uncertainties: which queries were asked, and which documents have no label. Of the documents, an
audit that decides speaks for all; else those count that the two runs have in their first K. What else a pool
holds adds to the hits of neither, and what it changes by the number of relevant documents reversed no order
in simulations (`benchmarks/bench_elsewhere.py`), so that a pool changes no grade by its size. The two limits
on the share of unjudged documents come from simulated campaigns (`benchmarks/verdicts.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from evaluation.comparisons.verdict import BY_AUDIT, BY_BOUNDS, Comparison, Interval
from evaluation.measures import titled
from evaluation.scoring.config import MARGIN
from evaluation.scoring.wording import first_places, percent
from pooling.formats.wording import counted, plural

#: Largest corrected p-value, and least share of the unjudged documents that must turn out against the leader.
CLEARLY = (0.05, 0.5)
PROBABLY = (0.10, 1 / 3)
#: A share that would be written as 100.0 %, and more than that cannot be.
NEARLY_ALL = 0.9995


class Grade(StrEnum):
    """Certainty of the order of two runs."""

    CLEARLY_BETTER = "clearly_better"
    PROBABLY_BETTER = "probably_better"
    NO_DIFFERENCE = "no_difference"
    LABELS = "cannot_tell_labels"
    QUERIES = "cannot_tell_queries"


#: Grades that name the better run.
NAMED = (Grade.CLEARLY_BETTER, Grade.PROBABLY_BETTER)


@dataclass(frozen=True)
class Graded:
    """A grade, the runs ahead and behind by the labels, and the sentence. same: nothing tells them apart."""

    grade: Grade
    ahead: str
    behind: str
    sentence: str
    same: bool = False


def graded(one: Comparison, margin: float = MARGIN) -> Graded:
    """The grade of a comparison; differences within ± margin do not matter."""
    swapped = one.difference is not None and one.difference < 0
    ahead, behind = (one.second, one.first) if swapped else (one.first, one.second)
    grade = _grade(one, margin)
    same = grade is Grade.QUERIES and _is_same(one)
    return Graded(grade, ahead, behind, _SENTENCES[grade](one, ahead, behind, margin), same)


def _is_same(one: Comparison) -> bool:
    return one.difference == 0 and one.open_pairs == 0 and one.deviation == 0


def _grade(one: Comparison, margin: float) -> Grade:
    if one.difference is None or one.low is None or one.high is None or one.p_value is None:
        return Grade.QUERIES
    if _within((one.low, one.high), margin) and _within(one.top_bounds, margin):
        return Grade.NO_DIFFERENCE
    apart = one.low > 0 or one.high < 0
    if one.p_value <= CLEARLY[0] and apart and _labels_hold(one, CLEARLY[1]):
        return Grade.CLEARLY_BETTER
    if not _labels_hold(one, PROBABLY[1]):
        return Grade.LABELS
    return Grade.PROBABLY_BETTER if one.p_value <= PROBABLY[0] else Grade.QUERIES


def _labels_hold(one: Comparison, share: float) -> bool:
    """Nothing that counts is unlabelled, the audit proves the sign, or it takes this share to turn it."""
    bounds = one.top_bounds
    if one.contradicted or bounds is None or one.difference is None:
        return False
    if bounds[0] == bounds[1]:
        return True
    if one.decided_by in (BY_AUDIT, BY_BOUNDS):
        return one.leader == (one.first if one.difference > 0 else one.second)
    if one.turning is None:
        return bounds[0] >= 0 if one.difference > 0 else bounds[1] <= 0
    return one.turning >= share


def _within(span: Interval | None, margin: float) -> bool:
    return span is not None and -margin <= span[0] and span[1] <= margin


def _clearly(one: Comparison, ahead: str, behind: str, margin: float) -> str:
    return f"{ahead} is clearly better than {behind}{_unless(one, behind)}."


def _probably(one: Comparison, ahead: str, behind: str, margin: float) -> str:
    return f"{ahead} is probably better than {behind}{_unless(one, behind)}."


def _no_difference(one: Comparison, ahead: str, behind: str, margin: float) -> str:
    return f"{ahead} and {behind} do not differ by more than {margin:g} in {titled(one.measure, one.k)}."


def _labels_open(one: Comparison, ahead: str, behind: str, margin: float) -> str:
    begins = f"Cannot tell yet whether {ahead} is better than {behind}"
    if one.contradicted:
        return f"{begins}: the labels found first favour {ahead}, the audit favours {behind}."
    if one.bounds is None:
        return f"{begins}: there is no bound on how unjudged documents change {titled(one.measure, one.k)}."
    if one.turning is None:
        return f"{begins}: the unjudged documents could reverse the order."
    if one.turning == 0:
        return f"{begins}: they are level by the labels so far. {_what_labels_decide(one)}"
    turned = _turned(one, one.turning, behind)
    return f"{begins}: the order reverses if {turned}. {_what_labels_decide(one)}"


def _turned(one: Comparison, turning: float, behind: str, than: str = "") -> str:
    """What would reverse the order, in words. than: before a share that is not nearly all."""
    places = first_places(one.k or 0)
    share = "nearly all" if turning >= NEARLY_ALL else than + percent(turning)
    return f"{share} of the unjudged documents in the {places} that would help {behind} are relevant"


def _what_labels_decide(one: Comparison) -> str:
    if one.p_value is None or one.p_value <= PROBABLY[0]:
        return "More labels may decide it."
    these = plural(one.queries, "this query", f"these {counted(one.queries, 'query')}")
    return f"More labels may decide it for {these}, too few to tell of others."


def _queries_open(one: Comparison, ahead: str, behind: str, margin: float) -> str:
    if _is_same(one):
        return f"{ahead} and {behind} have the same {titled(one.measure, one.k)} for every query."
    size = f"for a difference of {abs(one.difference):.3f}" if one.difference else "to tell"
    return (
        f"Cannot tell yet whether {ahead} is better than {behind}: "
        f"{counted(one.queries, 'query')} {plural(one.queries, 'is', 'are')} too few {size}."
    )


_SENTENCES = {
    Grade.CLEARLY_BETTER: _clearly,
    Grade.PROBABLY_BETTER: _probably,
    Grade.NO_DIFFERENCE: _no_difference,
    Grade.LABELS: _labels_open,
    Grade.QUERIES: _queries_open,
}


def _unless(one: Comparison, behind: str) -> str:
    """The condition under which labels would turn it; empty where none can or an audit says no."""
    if one.decided_by is not None or one.turning is None:
        return ""
    return f", unless {_turned(one, one.turning, behind, 'more than ')}"
