"""The list of a run's facts on the page of a report."""

from __future__ import annotations

from collections.abc import Container

from evaluation.fact_reports.stored import FactRow
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.table import Table


def fact_list(k: int, other: str | None, theirs: Container[tuple[str, str]]) -> Table:
    """Where each fact stands in a run; with another run, which holds `theirs` (query and fact), what only one
    of the two holds can be chosen.
    """

    def is_in_top(row: FactRow) -> bool:
        return row.place is not None and row.place <= k

    choices = [
        Choice("missed", f"Missed in the first {k}", lambda row: not is_in_top(row)),
        Choice("held", f"Held by the first {k}", is_in_top),
        Choice("all", "All facts"),
    ]

    def is_theirs(row: FactRow) -> bool:
        return (row.query_id, row.fact_id) in theirs

    if other is not None:
        choices += [
            Choice("ours", f"Held here, not by {other}", lambda row: is_in_top(row) and not is_theirs(row)),
            Choice("theirs", f"Held by {other}, not here", lambda row: is_theirs(row) and not is_in_top(row)),
        ]
    return Table(
        "report-facts",
        "fact",
        columns=(
            Column("query", "Query", "query_id", natural=True, style="id"),
            # Before the fact, whose words leave a phone no room for what is behind them.
            Column("where", "Where it stands", natural=True),
            Column("fact", "Fact", "text", template="evaluation/_fact_text.html"),
            Column("importance", "Importance"),
            Column("group", "Group", hidden=True),
            Column("place", "Place", number=True, hidden=True),
            Column("document", "Document", "document_id", hidden=True, natural=True),
            Column("others", f"Held by others’ first {k}", lambda row: ", ".join(row.others)),
        ),
        search=("query_id", "text", "fact_id"),
        search_hint="Query or words of the fact",
        filters=(Filter("show", "Show", tuple(choices), default="missed"),),
        anchor="facts",
        empty=Empty("No fact to show."),
    )
