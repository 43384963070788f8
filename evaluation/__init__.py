"""Stage 3: Recall@K and its companions, each number with the conventions it was made under.

Importing this package loads nothing heavy; what it names comes on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.against import recall_against
    from evaluation.breakdown_table import broken_down
    from evaluation.comparison import compare, compare_all, comparison_table, deciding_labels
    from evaluation.config import read_settings
    from evaluation.conventions import Conventions
    from evaluation.evaluating import evaluate
    from evaluation.missing import leave_one_out, missing_floor
    from evaluation.results import Evaluation
    from evaluation.tradeoffs import k_reaching, tradeoff_table

__all__ = [
    "Conventions",
    "Evaluation",
    "broken_down",
    "compare",
    "compare_all",
    "comparison_table",
    "deciding_labels",
    "evaluate",
    "k_reaching",
    "leave_one_out",
    "missing_floor",
    "read_settings",
    "recall_against",
    "tradeoff_table",
]

_HOMES = {
    "Conventions": "evaluation.conventions",
    "Evaluation": "evaluation.results",
    "broken_down": "evaluation.breakdown_table",
    "compare": "evaluation.comparison",
    "compare_all": "evaluation.comparison",
    "comparison_table": "evaluation.comparison",
    "deciding_labels": "evaluation.comparison",
    "evaluate": "evaluation.evaluating",
    "k_reaching": "evaluation.tradeoffs",
    "leave_one_out": "evaluation.missing",
    "missing_floor": "evaluation.missing",
    "read_settings": "evaluation.config",
    "recall_against": "evaluation.against",
    "tradeoff_table": "evaluation.tradeoffs",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'evaluation' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
