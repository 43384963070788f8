"""Finds of search that no run had: relevant documents per hundred added, and per hundred searches."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated

from django.core.cache import cache

from labeling.qrels.labels import judged_labels
from pooling.formats.wording import counted, plural
from pooling.heavy import pl
from pooling.models import Collection, Pool, PoolEntry
from pooling.runs.stored import read_stored_run
from pooling.search_models import DocumentSearch
from pooling.storage.frames import PAIR_IDS, rows_frame

PAIR = ["query_id", "document_id"]
KEPT_SECONDS = 600


@dataclass(frozen=True)
class SearchFinds:
    """Finds of search that no run had."""

    searches: int
    added: int
    labelled: int
    relevant: int
    # However deep the list of the query is.
    unfound: Annotated[int, "Relevant, and in no run's list."]

    @property
    def sentence(self) -> str:
        begin = f"{counted(self.added, 'document')} added in {self.searches:,} searches"
        if not self.labelled:
            return f"{begin}; none has a label yet."
        per = 100 * self.unfound / self.labelled
        return (
            f"{begin}, {self.labelled:,} with a label, {self.relevant:,} relevant, {self.unfound:,} of these "
            f"in no run: {per:.0f} {plural(round(per), 'relevant document')} per 100 added that no run found."
        )


def search_finds(collection: Collection) -> SearchFinds:
    rows = PoolEntry.objects.filter(pool__collection=collection, pool__strategy=Pool.SEARCH)
    added = rows_frame(rows.order_by("pk"), **PAIR_IDS)
    searches = DocumentSearch.objects.filter(collection=collection).count()
    if added.is_empty():
        return SearchFinds(searches, added=0, labelled=0, relevant=0, unfound=0)
    labels = judged_labels(collection)
    labelled = added.join(labels, on=PAIR)
    relevant = labelled.filter(pl.col("relevance") >= 1).select(PAIR)
    return SearchFinds(
        searches=searches,
        added=added.height,
        labelled=labelled.height,
        relevant=relevant.height,
        unfound=_unfound(collection, relevant),
    )


def _unfound(collection: Collection, relevant: pl.DataFrame) -> int:
    """Of these pairs, those in no run; runs do not change, so that what was looked up once is kept."""
    if relevant.is_empty():
        return 0
    runs = list(collection.runs.all())
    state = repr([[(run.pk, run.sha256) for run in runs], relevant.rows()])
    key = f"unfound-{collection.pk}-{hashlib.sha256(state.encode()).hexdigest()}"
    kept: int | None = cache.get(key)
    if kept is None:
        left = relevant
        for run in runs:
            left = left.join(read_stored_run(run), on=PAIR, how="anti")
        kept = left.height
        cache.set(key, kept, KEPT_SECONDS)
    return kept
