"""The frame that an audit with a reach will draw from, before it is drawn: documents by query."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.cache import cache

from pooling.heavy import NDArray, np
from pooling.merging.preview import Tops
from pooling.models import Collection, Run
from pooling.runs.numbered import numbered_tops

CACHED_SECONDS = 3_600


@dataclass(frozen=True)
class PlannedFrame:
    """sizes (Q,): documents by number of the query; is_whole: it is the collection."""

    sizes: NDArray[np.int64]
    is_whole: bool


def planned_frame(
    collection: Collection, every: Sequence[Run], indexes: Sequence[int], reach: int
) -> PlannedFrame:
    """The first `reach` documents of the runs with these indexes, and those that our text ranking adds.

    The ranking takes long, and is not made for a plan. A collection that is no larger than the reach is in
    the frame as a whole. For a larger one, the ranking is taken to share as many documents with the runs as
    each of them does with the others; where it goes deeper than they do, its further places hold their part
    of those that are left.
    """
    texts = collection.documents.listed().exclude(text=None).count()
    deepest = max(min(reach, every[index].depth) for index in indexes)
    numbered, folder = numbered_tops(collection, every, deepest)
    digest = hashlib.blake2b(repr((reach, texts, list(indexes))).encode(), digest_size=12).hexdigest()
    key = f"plan-frame-{folder.name}-{digest}"
    frame: PlannedFrame | None = cache.get(key)
    if frame is None:
        tops = numbered.chosen(indexes, deepest)
        sizes = tops.query_sizes()
        more = reach - _shared(tops, indexes, reach)
        largest = np.maximum(sizes, texts)
        with_text = largest if texts <= reach else np.minimum(sizes + round(more), largest)
        is_whole = 0 < texts <= reach and int(sizes.max(initial=0)) <= texts
        frame = PlannedFrame(with_text if texts else sizes, is_whole)
        cache.set(key, frame, CACHED_SECONDS)
    return frame


def _shared(tops: Tops, indexes: Sequence[int], reach: int) -> float:
    """Number of the first `reach` documents of a query that one more ranking shares with these runs."""
    sizes = tops.query_sizes()
    queries = max(int((sizes > 0).sum()), 1)
    union, deep = float(sizes.sum()) / queries, float(tops.by_run(indexes).mean()) / queries
    shared = deep - float(tops.alone(indexes).mean()) / queries
    return min(shared + (union - shared) * max(1.0 - deep / reach, 0.0), float(reach))
