from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Left

from pooling.models import Collection, Document, Pool, PoolEntry
from pooling.people.access import fetch
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.table import Table

QUERIES = Table(
    "queries",
    "query",
    nouns="queries",
    columns=(
        Column("id", "Id", "external_id", natural=True, style="mono id"),
        Column("text", "Query", template="pooling/_query_cell.html"),
        Column("tags", "Tags", sort=False),
        Column("narrative", "What counts as relevant", sort=False, hidden=True),
    ),
    sort="id",
    search=("external_id__icontains", "text__icontains", "metadata__tags__icontains"),
    search_hint="Id, words or tag",
    choose="queries",
    empty=Empty("No queries yet.", made="queries"),
)
# In the order of the import, which an index gives: sorting a million rows takes seconds.
DOCUMENTS = Table(
    "documents",
    "document",
    columns=(
        Column("id", "Id", "external_id", natural=True, style="mono id"),
        Column("title", "Title"),
        Column("text", "Text", "start", sort=False, template="pooling/_document_cell.html"),
    ),
    search=("external_id__startswith",),
    search_hint="Id starts with",
    filters=(
        Filter(
            "text",
            "Text",
            (Choice("any", "All"), Choice("missing", "Without text", Q(text__isnull=True))),
            default="any",
        ),
    ),
    choose="documents",
    empty=Empty(
        "No documents yet. Pools work without document texts, but annotators need them.", made="documents"
    ),
)


def chosen_pool(parameters: Mapping[str, str], collection: Collection) -> Pool | None:
    """The pool of the collection whose number the address has under `pool`; 404 where there is none such."""
    number = parameters.get("pool", "")
    if not (number.isdecimal() and number.isascii()):
        return None
    return fetch(Pool.objects.defer("diagnostics"), collection=collection, pk=int(number[:18]))


def documents_of(collection: Collection, pool: Pool | None) -> QuerySet[Document]:
    rows = Document.objects.listed().filter(collection=collection).order_by("pk").defer("text", "metadata")
    rows = rows.annotate(start=Left("text", 300))
    if pool:
        rows = rows.filter(Exists(PoolEntry.objects.filter(pool=pool, document=OuterRef("pk"))))
    return rows
