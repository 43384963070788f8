"""Comparison of a file's documents with those of a collection, and what would make their ids meet."""

from __future__ import annotations

from pooling.formats.wording import counted, plural
from pooling.heavy import pl
from pooling.models import Collection
from pooling.ranking.shared_ids import EXAMPLES, LOOKED_AT, LOW, offered

#: So many documents of a run are looked up, spread over all of them.
LOOKED_UP, BATCH = 20_000, 1_000
COLLAPSE = "With chunks collapsed at “{}”"


def notes_on_documents(collection: Collection, frame: pl.DataFrame, *, if_few: bool = False) -> list[str]:
    """Sentences on documents that the collection lacks; if_few: only where it has less than half of them."""
    external_ids = collection.documents.values_list("external_id", flat=True)
    theirs = external_ids.order_by("pk")
    if not (some := list(theirs[:EXAMPLES])):
        return []
    distinct = frame["document_id"].unique(maintain_order=True)
    # An id with a NUL is refused by whoever stores it, and PostgreSQL is not asked for one.
    ids = [one for one in distinct.gather_every(-(-len(distinct) // LOOKED_UP)) if "\0" not in one]
    existing_ids = {
        one
        for start in range(0, len(ids), BATCH)
        for one in external_ids.filter(external_id__in=ids[start : start + BATCH])
    }
    missing = [one for one in ids if one not in existing_ids]
    if not missing:
        return []
    looked_up = counted(len(ids), "document") + (" that were looked up" if len(ids) < len(distinct) else "")
    examples = _quoted(missing[:EXAMPLES])
    note = (
        f"{len(missing):,} of its {looked_up} {plural(len(missing), 'is', 'are')} not in the "
        f"collection, such as {examples}."
    )
    if len(existing_ids) >= LOW * len(ids):
        return [] if if_few else [note]
    offer = offered(pl.Series(ids), pl.Series(list(theirs[:LOOKED_AT])), chunks=COLLAPSE)
    would = f" {offer.words}, {100 * offer.share:.0f} % would match." if offer else ""
    return [f"{note} The collection has {_quoted(some)}.{would}"]


def _quoted(ids: list[str]) -> str:
    return ", ".join(f"“{one[:60]}”" for one in ids)
