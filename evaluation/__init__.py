"""Stage 3: Recall@K and its companions, each number with the conventions it was made under.

The rooms, lowest first: a room imports only rooms that stand before it. Pure ones know nothing of Django.
Importing this package loads nothing heavy; what it names comes on first use.

- measures (pure): measures of one ranked list, and intervals, tests, corrections, power of their means
- scoring (pure): runs and qrels to an evaluation, with coverage and bounds
- rendering (pure): an evaluation as text, JSON, CSV, Markdown and LaTeX
- logs (pure): whether an evaluation set looks like its log, and means taken back to it
- facts (pure): which facts the first K documents hold
- report_store: what is stored of a report
- charts: pictures of reports
- estimates: what an audit says of all that a pool holds: the mathematics, and its use for pools and reports
- comparisons: whether one run beats another, and what would decide it
- indexes: approximate indexes against exact search, and latency
- canaries: runs watched against what was measured before
- plans: a campaign planned before it begins, and strategies replayed on labels that exist
- failures: where a report fails: groups, stages, queries, facts, side by side
- reports: reports made, shown, compared, exported, shared by a read-only link, and shown in notebooks
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.comparisons.comparing import compare, compare_all, comparison_table, deciding_labels
    from evaluation.estimates.missing import leave_one_out, missing_floor
    from evaluation.facts.evaluating import evaluate_facts
    from evaluation.failures.stage_ceiling import ceilings
    from evaluation.failures.table import broken_down
    from evaluation.indexes.recall import recall_against
    from evaluation.rendering.tradeoffs import k_reaching, tradeoff_table
    from evaluation.reports.notebook import evaluate
    from evaluation.scoring.config import read_settings
    from evaluation.scoring.conventions import Conventions
    from evaluation.scoring.results import Evaluation
    from evaluation.scoring.spans import evaluate_spans

__all__ = [
    "Conventions",
    "Evaluation",
    "broken_down",
    "ceilings",
    "compare",
    "compare_all",
    "comparison_table",
    "deciding_labels",
    "evaluate",
    "evaluate_facts",
    "evaluate_spans",
    "k_reaching",
    "leave_one_out",
    "missing_floor",
    "read_settings",
    "recall_against",
    "tradeoff_table",
]

_HOMES = {
    "Conventions": "evaluation.scoring.conventions",
    "Evaluation": "evaluation.scoring.results",
    "broken_down": "evaluation.failures.table",
    "ceilings": "evaluation.failures.stage_ceiling",
    "compare": "evaluation.comparisons.comparing",
    "compare_all": "evaluation.comparisons.comparing",
    "comparison_table": "evaluation.comparisons.comparing",
    "deciding_labels": "evaluation.comparisons.comparing",
    "evaluate": "evaluation.reports.notebook",
    "evaluate_facts": "evaluation.facts.evaluating",
    "evaluate_spans": "evaluation.scoring.spans",
    "k_reaching": "evaluation.rendering.tradeoffs",
    "leave_one_out": "evaluation.estimates.missing",
    "missing_floor": "evaluation.estimates.missing",
    "read_settings": "evaluation.scoring.config",
    "recall_against": "evaluation.indexes.recall",
    "tradeoff_table": "evaluation.rendering.tradeoffs",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'evaluation' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
