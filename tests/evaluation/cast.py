"""Releases and reports of the harbour collection, for the tests of pages, HTTP interface and functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.models import Report
from evaluation.report_store.choices import MEASURES
from evaluation.reports.making import ReportInput, create_report
from evaluation.scoring.conventions import Conventions
from labeling.models import QrelsRelease
from tests.world import World, qrels_text

# q1 and q2 have one relevant document each, q3 has a label but none relevant. Of the first documents,
# alpha's d1 and d2 have labels, beta's d4 and d6 have none.
SPARSE = "q1 0 d1 1\nq2 0 d2 1\nq3 0 d6 0\n"


def make_release(world: World, text: str | None = None, name: str = "labels") -> QrelsRelease:
    """Import labels as qrels (every pair of the collection, without `text`) and release them."""
    from labeling.qrels.imported import import_qrels
    from labeling.qrels.releases import release_qrels

    path = world.folder / f"{name}.qrels"
    path.write_text(qrels_text() if text is None else text)
    import_qrels(world.collection, path, user=world.ada)
    return release_qrels(world.collection, name=name, user=world.ada)


def make_report(
    world: World,
    text: str | None = None,
    *,
    k: Sequence[int] = (1, 2, 3),
    measures: Sequence[str] = MEASURES,
    conventions: Conventions | None = None,
    **options: Any,
) -> Report:
    """A report on all runs and the newest release, each made when there is none."""
    runs = list(world.collection.runs.all()) or world.import_runs()
    release = world.collection.releases.first() or make_release(world, text)
    return create_report(
        world.collection,
        ReportInput(
            release=release,
            runs=runs,
            k=k,
            measures=measures,
            conventions=conventions or Conventions(),
            **options,
        ),
        user=world.ada,
    )
