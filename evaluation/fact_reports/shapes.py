"""What a report holds of facts, as plain values."""

from __future__ import annotations

from typing import TypedDict

from evaluation.facts.shapes import FactFigure, FactResult


class ContextFigure(TypedDict):
    """What the first K give a reader. characters: mean length of their texts; facts: held for each 1,000 of
    these, with its interval over queries; nothing_new: of the first K, the share that supports a fact and
    none that is not above already. None where no text is known.
    """

    characters: float | None
    facts: float | None
    low: float | None
    high: float | None
    nothing_new: float | None


class ReportFacts(FactResult):
    """What a report holds of facts. runs: run -> measure at K; vital: fact recall of vital facts alone;
    context: run -> K. covered_by: see `labeling.facts.releasing.FrozenFacts`.
    """

    runs: dict[str, dict[str, FactFigure]]
    vital: dict[str, dict[str, FactFigure]]
    context: dict[str, dict[str, ContextFigure]]
    covered_by: int | None
