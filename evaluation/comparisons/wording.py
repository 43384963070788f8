"""Differences, intervals and answers as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.scoring.wording import decimal, interval, percent
from pooling.formats.wording import counted

if TYPE_CHECKING:
    from evaluation.comparisons.answer import Answer, Rival
    from evaluation.comparisons.grades import Graded


def signed(number: float | None) -> str:
    """Three decimals with their sign, or a dash."""
    return "–" if number is None else f"{round(number, 3) + 0.0:+.3f}".replace("-", "−")


def span(low: float | None, high: float | None) -> str:
    """An interval in brackets, or nothing."""
    return "" if low is None or high is None else f"[{signed(low)}, {signed(high)}]"


def grade_in_words(one: Graded) -> str:
    """A grade in a few words, for a cell of a table."""
    words = {
        "clearly_better": f"{one.ahead} clearly better",
        "probably_better": f"{one.ahead} probably better",
        "no_difference": "no difference that matters",
        "cannot_tell_labels": "cannot be told yet: labels",
        "cannot_tell_queries": "cannot be told yet: queries",
    }
    return words[one.grade]


def difference_in_words(rival: Rival) -> str:
    """The difference from the rival with its interval and p-value."""
    p_value = "" if rival.p_value is None else f" · p = {rival.p_value:.2g}"
    pairs = f" ({counted(rival.pairs, 'pair')})" if p_value and rival.pairs > 1 else ""
    words = f"{signed(rival.difference)} {span(rival.low, rival.high)}".strip()
    return f"{words} over {rival.run}{p_value}{pairs}"


def outside_sentence(run: str, k: int, found: tuple[int, float, float | None]) -> str:
    """What of a run's first K lies outside the pool: documents, their share, and perhaps how many of them
    would be relevant."""
    documents, share, relevant = found
    verb, them = ("is", "it") if documents == 1 else ("are", "them")
    there = f"{counted(documents, 'document')} in the first {k} of {run} ({percent(share)})"
    told = f"{there} {verb} in no pool, so nobody could judge {them}"
    expected = round(relevant or 0)
    if not expected:
        return f"{told}."
    verb = "is" if expected == 1 else "are"
    return f"{told}; at the rate of the judged ones, about {expected:,} {verb} relevant."


def answer_in_words(answer: Answer) -> tuple[str, ...]:
    """The answer as sentences: who is best and how sure that is, its numbers, what no pool has, and
    what to do next."""
    recall = f"Recall@{answer.k} of {answer.run}: {decimal(answer.recall)}"
    numbers = f"{recall}{interval({'low': answer.low, 'high': answer.high})}"
    if answer.rival is not None:
        numbers += f"; {difference_in_words(answer.rival)}"
    if answer.judged is not None:
        numbers += f"; {percent(answer.judged)} of its first {answer.k} judged"
    outside = () if answer.outside is None else (answer.outside.sentence,)
    following = () if answer.next is None else (f"Next: {answer.next.sentence}",)
    return (answer.sentence, f"{numbers}.", *outside, *following)
