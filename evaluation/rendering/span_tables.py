"""Measures over excerpts as a table, and alone as text in every format."""

from __future__ import annotations

from evaluation.measures import SPAN_MEASURES, key_of
from evaluation.rendering.cells import Cells
from evaluation.scoring.spans import SpanEvaluation
from evaluation.scoring.wording import decimal, interval, share_in_words, usual_cutoff
from pooling.formats.wording import counted


def span_cells(evaluation: SpanEvaluation) -> Cells:
    """One row per run and K: a column per measure, each with its interval, and the length of the context."""
    names = list(dict.fromkeys(name for name, _ in evaluation.keys))
    rows = []
    for run, figures in evaluation.runs.items():
        for k in evaluation.cutoffs:
            at_k = [figures.get(key_of(name, k)) for name in names]
            cells = [f"{decimal(one['mean'])}{interval(one)}" if one else "" for one in at_k]
            context = next(one["characters"] for one in at_k if one)
            rows.append((run, str(k), *cells, "–" if context is None else f"{context:,.0f}"))
    header = ("run", "K", *(SPAN_MEASURES[name] for name in names), "context")
    return Cells(header, tuple(rows), tuple(_notes(evaluation)), "Excerpts")


def _notes(evaluation: SpanEvaluation) -> list[str]:
    first = evaluation.keys[0][0]
    key = key_of(first, usual_cutoff([k for name, k in evaluation.keys if name == first]))
    notes = [f"{run}: {evaluation.line(run, key)}" for run in evaluation.runs]
    notes.append(
        f"[low, high]: {share_in_words(evaluation.interval['level'])} interval over queries. context: mean "
        "number of characters in the first K chunks, of text in two chunks twice."
    )
    notes += [
        f"{run}: ignored {counted(unknown, 'query')} without excerpts."
        for run, (_, unknown) in evaluation.missing.items()
        if unknown
    ]
    return notes
