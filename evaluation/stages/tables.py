"""The ceilings of rankers as a table."""

from __future__ import annotations

from evaluation.rendering.cells import Cells, Part
from evaluation.scoring.wording import decimal
from evaluation.stages.ceiling import Ceilings
from pooling.formats.wording import counted

HEADER = ("run", "K1", "K", "found", "lost", "missed", "ceiling", "bounds", "best", "nDCG", "its ceiling")


def ceiling_part(found: Ceilings) -> Part:
    """For `evaluation.rendering.formats.render`."""
    return Part("ceilings", ceiling_cells(found), found.to_dict())


def ceiling_cells(found: Ceilings) -> Cells:
    """One row per ranker, K1 and K."""
    rows = tuple(
        (
            ranker,
            str(k1),
            str(k),
            *(decimal(at.recall[part]) for part in ("found", "lost", "missed", "ceiling")),
            f"{decimal(at.recall['low'])}–{decimal(at.recall['high'])}",
            decimal(at.recall["best"]),
            decimal(at.ndcg["found"]),
            decimal(at.ndcg["ceiling"]),
        )
        for ranker, by_k1 in found.runs.items()
        for k1, one in by_k1.items()
        for k, at in one.by_k.items()
    )
    return Cells(HEADER, rows, tuple(_notes(found)), f"Ceilings of rankers over {found.stage1}")


def _notes(found: Ceilings) -> list[str]:
    notes = [
        f"Recall over {counted(found.queries, 'query')}: found by the run among the first K1 documents of "
        f"{found.stage1}, lost by it there, and missed by {found.stage1}; the three add up to 1.",
        "ceiling: what the best order of the same K1 documents finds; bounds: whatever the labels of the "
        "unjudged documents; best: what K places can hold.",
    ]
    for ranker, by_k1 in found.runs.items():
        elsewhere = [f"{one.elsewhere:,} at K1 = {k1}" for k1, one in by_k1.items() if one.elsewhere]
        if elsewhere:
            deepest = max(k for one in by_k1.values() for k in one.by_k)
            notes.append(
                f"{ranker}: documents in its first {deepest} that {found.stage1} does not hand on, left out "
                f"of its order: {', '.join(elsewhere)}."
            )
    return notes
