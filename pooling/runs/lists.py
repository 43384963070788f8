from __future__ import annotations

from pooling.tables.columns import BulkAction, Column, Empty, own_page
from pooling.tables.table import Table

RUNS = Table(
    "runs",
    "run",
    columns=(
        Column("name", "Run", natural=True, link=own_page, style="id"),
        Column("queries", "Queries", "query_count", number=True),
        Column("depth", "Depth", number=True),
        Column("rows", "Rows", "row_count", number=True),
        Column("tag", "Tag", natural=True, style="quiet id"),
        Column("imported", "Imported", "imported_at", style="quiet"),
        Column("by", "Imported by", "imported_by.username", hidden=True),
        Column("file", "File", "source_name", natural=True, hidden=True, style="id"),
        Column("sha256", "SHA-256", sort=False, hidden=True, style="mono id"),
    ),
    sort="name",
    search=("name__icontains", "tag__icontains"),
    search_hint="Name or tag",
    actions=(BulkAction("compare", "Compare", "report_new"), BulkAction("pool", "Build a pool", "pool_new")),
    choose="runs",
    empty=Empty(
        "No runs yet. A run is one retriever's ranked list for each query.",
        "Import runs",
        "run_import",
        made="runs",
    ),
)
