"""The tables of queries and documents."""

from __future__ import annotations

from django.db.models import Q

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
    empty=Empty("No queries yet."),
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
    empty=Empty("No documents yet. Pools work without document texts, but annotators need them."),
)
