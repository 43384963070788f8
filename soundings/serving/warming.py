"""Slow modules are loaded before the first request, not by it.

The process that starts the others loads what a fork may copy: once, into memory that all share. Each of the
others loads the rest before it answers: Polars has threads, which a fork does not take along.
"""

from __future__ import annotations

from importlib import import_module

from django.db import connections
from django.urls import get_resolver

BEFORE_THE_FORK = ("scipy.special", "scipy.optimize")
# Which need which library: reports and their answers, pictures, plans, the order of adaptive queues, quality.
AFTER_THE_FORK = (
    "polars",
    "pandas",
    "altair",
    "evaluation.comparisons.answer",
    "evaluation.comparisons.deciding",
    "evaluation.plans.planning",
    "evaluation.scoring.evaluating",
    "labeling.adaptive.next_documents",
    "labeling.consensus.agreement",
    "labeling.quality.monitors",
    "pooling.merging.merging",
)


def load_what_forks() -> None:
    """Load every page's module, and libraries without threads; no connection to the database stays open."""
    get_resolver().url_patterns  # noqa: B018  imports the modules of all pages
    for name in BEFORE_THE_FORK:
        import_module(name)
    connections.close_all()


def load_the_rest() -> None:
    """Load what a fork would break."""
    for name in AFTER_THE_FORK:
        import_module(name)
