"""Comparisons as a table, and as the part of a report that they are."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.comparisons.answer import Answer
from evaluation.comparisons.grades import graded
from evaluation.comparisons.verdict import Comparison
from evaluation.comparisons.wording import answer_in_words
from evaluation.rendering.cells import Cells, Part
from evaluation.scoring.config import MARGIN
from evaluation.scoring.results import decimal, interval


def answer_part(answer: Answer | None) -> Part:
    """The first sentences of a report, for `evaluation.rendering.formats.render`."""
    if answer is None:
        return Part("answer", None, None)
    return Part("answer", None, answer.to_dict(), sentences=answer_in_words(answer))


def comparison_part(comparisons: Sequence[Comparison], margin: float = MARGIN) -> Part:
    """Comparisons for `evaluation.rendering.formats.render`; margin: a difference that does not matter."""
    data = [
        {**one.to_dict(), "power": one.power(), "grade": grade.grade, "sentence": grade.sentence}
        for one, grade in ((one, graded(one, margin)) for one in comparisons)
    ]
    return Part("comparisons", comparison_cells(comparisons), data)


def comparison_cells(comparisons: Sequence[Comparison]) -> Cells:
    """One row per pair at K = 10, or else the deepest: difference, p, bounds, and in a note each verdict."""
    cutoffs = {one.k for one in comparisons if one.k is not None}
    k = 10 if 10 in cutoffs else max(cutoffs)
    at_k = [one for one in comparisons if one.k == k]
    header = (f"Recall@{k}", "difference", "p", "bounds", "ahead on these queries")
    rows = [
        (
            f"{one.first} - {one.second}",
            decimal(one.difference) + interval({"low": one.low, "high": one.high}),
            "–" if one.p_value is None else f"{one.p_value:.3g}",
            "–" if one.bounds is None else " to ".join(decimal(end) for end in one.bounds),
            "not ranked" if one.leader is None else f"{one.leader} (by {one.decided_by})",
        )
        for one in at_k
    ]
    notes = [sentence for one in at_k for sentence in (one.verdict(), *one.warnings, one.power())]
    return Cells(header, tuple(rows), tuple(notes), "Comparisons")
