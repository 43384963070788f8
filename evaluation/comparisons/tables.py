"""Comparisons as a table, and as the part of a report that they are."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.comparisons.verdict import Comparison
from evaluation.rendering.cells import Cells, Part
from evaluation.scoring.results import decimal, interval


def comparison_part(comparisons: Sequence[Comparison]) -> Part:
    """Comparisons for `evaluation.rendering.formats.render`."""
    data = [{**one.to_dict(), "power": one.power()} for one in comparisons]
    return Part("comparisons", comparison_cells(comparisons), data)


def comparison_cells(comparisons: Sequence[Comparison]) -> Cells:
    """One row per pair at K = 10, or else the deepest: difference, p, bounds, and in a note each verdict."""
    cutoffs = {one.k for one in comparisons if one.k is not None}
    k = 10 if 10 in cutoffs else max(cutoffs)
    shown = [one for one in comparisons if one.k == k]
    header = (f"Recall@{k}", "difference", "p", "bounds", "ahead on these queries")
    rows = [
        (
            f"{one.first} - {one.second}",
            decimal(one.difference) + interval({"low": one.low, "high": one.high}),
            "–" if one.p_value is None else f"{one.p_value:.3g}",
            "–" if one.bounds is None else " to ".join(decimal(end) for end in one.bounds),
            "not ranked" if one.leader is None else f"{one.leader} (by {one.decided_by})",
        )
        for one in shown
    ]
    notes = [sentence for one in shown for sentence in (one.verdict(), *one.warnings, one.power())]
    return Cells(header, tuple(rows), tuple(notes), "Comparisons")
