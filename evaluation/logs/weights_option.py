"""`evaluate --queries queries.jsonl --weights traffic|queries`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from evaluation.logs.applying import weighted, weighted_notes
from evaluation.logs.design import sample_of
from evaluation.scoring.results import Evaluation
from pooling.formats.records import read_queries

# What would be over the drawn queries alone, next to means over the log.
_UNWEIGHTED = {
    "by": "--by",
    "html": "--html",
    "stage1": "--stage1",
    "facts": "--facts",
    "spans": "--spans",
    "trade_offs": "--trade-offs",
    "against": "--against",
}


def refuse_with_weights(options: Mapping[str, Any]) -> None:
    """ValueError for --weights without its queries, and for what is not taken back to a log."""
    if options["weights"] is None:
        return
    if options["queries"] is None:
        raise ValueError(
            "--weights needs the drawn queries; name the file of draw_queries with --queries FILE."
        )
    for name, written in _UNWEIGHTED.items():
        if options[name]:
            raise ValueError(f"{written} is not weighted; leave it out, or --weights.")


def weighted_result(result: Evaluation, options: Mapping[str, Any]) -> Evaluation:
    """The result taken back to the log where the options ask for it, with notes."""
    if options["weights"] is None:
        return result

    sample = sample_of(read_queries(options["queries"]))
    today = datetime.now(UTC).date()
    made = weighted(result, sample, options["weights"], today=today)
    return replace(made, notes=(*made.notes, *weighted_notes(made.settings["weights"])))
