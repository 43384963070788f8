"""A few figures of a pool while its form is filled in; a plan has them all."""

from __future__ import annotations

from collections.abc import Sequence

from pooling.diagnosis.preview import Tops
from pooling.interface.forms import Figure
from pooling.interface.problems import InputError
from pooling.merging.choice import Choice
from pooling.models import Collection, Run
from pooling.pools.building import checked_choice
from pooling.runs.numbered import numbered_tops


def pool_figures(collection: Collection, runs: Sequence[Run], choice: Choice) -> list[Figure]:
    """Pairs in the pool and at twice its depth, and the pairs to judge; `InputError` as in `build_pool`."""
    choice = checked_choice(choice, runs)
    every = list(collection.runs.defer("preflight").order_by("pk"))
    place = {run.pk: index for index, run in enumerate(every)}
    own = {place[run.pk]: choice.depths[run.name] for run in runs if run.name in choice.depths}
    deeper = min(2 * choice.depth, max((run.depth for run in runs), default=0))
    numbered, _ = numbered_tops(collection, every, max(deeper, choice.deepest))
    tops = numbered.chosen([place[run.pk] for run in runs], max(deeper, choice.deepest))
    if not len(tops.pair):
        raise InputError("None of these runs has a query of the collection.", field="runs")
    sizes = tops.to_depths(choice.depth, own).query_sizes()
    pairs, queries = int(sizes.sum()), int((sizes > 0).sum())
    figures = [Figure("Pairs in the pool", f"{pairs:,}", f"{pairs / queries:,.1f} per query")]
    if deeper > choice.depth:
        figures.append(Figure(f"At depth {deeper:,}", f"{_size(tops, deeper, own):,}", "pairs"))
    chosen = min(choice.budget if isinstance(choice.budget, int) else pairs, pairs)
    # With every pair chosen, there is nothing to draw.
    audit = round(choice.audit_share * chosen) if chosen < pairs else 0
    note = f"about {audit:,} of them drawn at random" if audit else ""
    return [*figures, Figure("To judge", f"{chosen:,}", note)]


def _size(tops: Tops, depth: int, own: dict[int, int]) -> int:
    return int(tops.to_depths(depth, own).query_sizes().sum())
