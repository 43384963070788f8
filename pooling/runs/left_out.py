"""Documents that were archived or deleted: pools to come leave them out of their runs."""

from __future__ import annotations

from pooling.heavy import pl
from pooling.models import Collection, Document
from pooling.tidying.kept import ARCHIVED_OR_DELETED


def documents_left_out(collection: Collection) -> list[str]:
    rows = Document.everything.filter(ARCHIVED_OR_DELETED, collection=collection).order_by("pk")
    return list(rows.values_list("external_id", flat=True))


def without_documents(top: pl.DataFrame, documents: list[str]) -> pl.DataFrame:
    """The top of a run without some documents; what is left moves up."""
    if not documents:
        return top
    gone = pl.DataFrame({"document_id": documents}, schema={"document_id": pl.String})
    return top.join(gone, on="document_id", how="anti", maintain_order="left")
