"""Differences, intervals and answers as people read them."""

from __future__ import annotations

from evaluation.comparisons.answer import Answer, Rival
from evaluation.comparisons.grades import NAMED, Grade, Graded
from evaluation.scoring.estimate_figures import ESTIMATE, SPAN, FrameFigures
from evaluation.scoring.wording import decimal, first_places, interval, percent
from pooling.formats.wording import counted, signed

_SPANNED = "this covers queries, labels and the documents that still wait for one"
#: Of an estimate, whose interval takes them for right: a drawn document stands for many.
_RIGHT = ", if every verdict is right"


def span(low: float | None, high: float | None) -> str:
    """An interval in brackets, or nothing."""
    return "" if low is None or high is None else f"[{signed(low)}, {signed(high)}]"


_GRADES = {
    Grade.CLEARLY_BETTER: "clearly better",
    Grade.PROBABLY_BETTER: "probably better",
    Grade.NO_DIFFERENCE: "no difference that matters",
    Grade.LABELS: "cannot be told yet: labels",
    Grade.QUERIES: "cannot be told yet: queries",
}


def grade_in_words(one: Graded | Rival) -> str:
    """A grade in a few words, for a cell of a table; of any two runs with the one that is ahead."""
    if one.same:
        return "the same for every query"
    words = _GRADES[one.grade]
    return f"{one.ahead} {words}" if isinstance(one, Graded) and one.grade in NAMED else words


def difference_in_words(answer: Answer, rival: Rival) -> str:
    """The difference from the rival, its interval and p-value, and where it is of the labels at hand."""
    p_value = "" if rival.p_value is None else f" · p = {rival.p_value:.2g}"
    pairs = f" ({counted(rival.pairs, 'pair')})" if p_value and rival.pairs > 1 else ""
    words = f"{signed(rival.difference)} {span(rival.low, rival.high)}".strip()
    of = ", by what was found so far" if answer.basis in (ESTIMATE, SPAN) else ""
    return f"{words} over {rival.run}{of}{p_value}{pairs}"


def outside_sentence(run: str, k: int, documents: int, share: float, *, at_most: bool = False) -> str:
    """A run's first K outside the pool, in words; at_most: the pool does not tell all it was drawn from."""
    verb, them = ("is", "it") if documents == 1 else ("are", "them")
    there = f"{counted(documents, 'document')} in the {first_places(k)} of {run} ({percent(share)})"
    if at_most:
        return f"Up to {there} may be in no pool and in nothing that its audit was drawn from."
    return f"{there} {verb} in no pool, so nobody could judge {them}."


def recall_in_words(answer: Answer) -> str:
    """The recall that people read first, and what it is a recall of."""
    ends = interval({"low": answer.low, "high": answer.high})
    if answer.basis == "labels":
        return f"{decimal(answer.recall)} {of_relevant_so_far(answer)}"
    if answer.basis == "complete":
        return f"{decimal(answer.recall)}{ends} {what_recall_is_of(answer)}"
    of_labels = f"{decimal(answer.found['recall'])} {of_relevant_so_far(answer)}"
    average = "" if answer.average == "macro" else " (over all relevant documents at once)"
    of = f"{average} {frame_in_words(answer.frame)}"
    if answer.basis == "span":
        return f"between {decimal(answer.low)} and {decimal(answer.high)}{of}; {_SPANNED} ({of_labels})"
    return f"{decimal(answer.recall)}{ends}{of}{_RIGHT}; {of_labels}"


def recall_read_first(answer: Answer) -> str:
    """The number, or the span, with the interval that it has."""
    if answer.basis == "span":
        return f"{decimal(answer.low)}–{decimal(answer.high)}"
    return f"{decimal(answer.recall)}{interval({'low': answer.low, 'high': answer.high})}"


def what_recall_is_of(answer: Answer) -> str:
    if answer.basis == "labels":
        return of_relevant_so_far(answer)
    if answer.basis == "complete":
        why = "the labels are declared complete" if answer.frame is None else "every document is judged"
        return f"of all relevant documents: {why}"
    average = "" if answer.average == "macro" else "over all relevant documents at once, "
    then = f"; {_SPANNED}" if answer.basis == "span" else _RIGHT
    return f"{average}{frame_in_words(answer.frame)}{then}"


def of_relevant_so_far(answer: Answer) -> str:
    return of_relevant_count(answer.found["relevant"])


def of_relevant_count(count: int) -> str:
    return f"of the {counted(count, 'relevant document')} found so far"


def frame_in_words(frame: FrameFigures | None) -> str:
    if frame is None:
        return "of what the pool holds"
    if queries := frame.get("queries"):
        there = "in the only query" if queries[0] == 1 else f"in {queries[0]:,} queries"
        rest = frame.copy()
        rest.pop("queries", None)
        words = frame_in_words(rest)
        return f"{words}, {there} of {queries[1]:,} whose audit is answered"
    if frame.get("whole"):
        return "of the whole collection"
    if frame["reach"] is None:
        return f"of what the {counted(frame['size'], 'document')} hold that the audit was drawn from"
    lists = counted(frame["runs"], "run") + (" and text search" if frame["text"] else "")
    return f"of what the first {counted(frame['reach'], 'place')} of {lists} hold"


def answer_in_words(answer: Answer) -> tuple[str, ...]:
    """The answer in sentences: who is best, how surely, its numbers, what no pool has, and what to do."""
    numbers = f"Recall@{answer.k} of {answer.run}: {recall_in_words(answer)}"
    if answer.rival is not None:
        numbers += f"; {difference_in_words(answer, answer.rival)}"
    if answer.judged is not None:
        numbers += f"; {percent(answer.judged)} of its {first_places(answer.k)} judged"
    outside = () if answer.outside is None else (answer.outside.sentence,)
    following = () if answer.next is None else (f"Next: {answer.next.sentence}",)
    return (answer.sentence, f"{numbers}.", *outside, *following)
