"""The queries of a report as a table: searched, filtered and sorted as columns, described by page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from evaluation.failures.page import query_string
from evaluation.failures.stored_queries import (
    PER_PAGE,
    QueryRow,
    QuerySelection,
    depth_of,
    query_rows,
    query_table,
)
from evaluation.measures import titled
from evaluation.models import Report
from pooling.heavy import pl
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.rows import ArrangedRows
from pooling.tables.shown import TableView
from pooling.tables.state import State
from pooling.tables.table import Table

SHOW = Filter(
    "show",
    "Show",
    (
        Choice("all", "All"),
        Choice("missed", "With something missed"),
        Choice("zero", "At 0"),
        Choice("unscored", "Not scored"),
    ),
    default="all",
)


@dataclass(frozen=True)
class QueryLine:
    """A query as the table shows it. address: of its page; at: the K at which documents are
    found or missed; rule: how the release settled disagreements.
    """

    query: QueryRow
    run: str
    address: str
    at: int
    rule: str


class QueriesOfRun(ArrangedRows):
    """The queries of a report for one run, in the order asked for."""

    def __init__(self, report: Report, selection: QuerySelection) -> None:
        self._report = report
        self._selection = selection

    @cached_property
    def _table(self) -> pl.DataFrame:
        return query_table(self._report, self._selection)

    def arranged(self, state: State) -> QueriesOfRun:
        """The queries that the state of the table asks for."""
        sort = f"{'-' if state.is_descending else '+'}{state.sorted_by}"
        selection = replace(
            self._selection,
            search=state.search,
            show=state.filters.get(SHOW.key, SHOW.default),
            sort="worst" if sort == "+value" else sort,
        )
        return self if selection == self._selection else QueriesOfRun(self._report, selection)

    def __len__(self) -> int:
        return self._table.height

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, slice):
            return self[place : place + 1 or None][0]
        rows = query_rows(self._report, self._selection, self._table[place])
        at, run = depth_of(self._report, self._selection.k), self._selection.run
        page = reverse("report_query", args=[self._report.pk])
        return [
            QueryLine(
                query=row,
                run=run,
                address=f"{page}?{query_string({'query': row.query_id, 'b': run, 'k': at})}",
                at=at,
                rule=self._report.release.rule,
            )
            for row in rows
        ]


def table_of_queries(request: HttpRequest, report: Report, selection: QuerySelection) -> TableView:
    """The queries of a run, the worst first until the address asks for another order.

    `InputError` where the report has no such group.
    """
    title = titled(selection.measure, selection.k)
    cell = "evaluation/_query_{}.html".format
    table = Table(
        "report-queries",
        "query",
        nouns="queries",
        columns=(
            Column("query", "Query", "query.query_id", natural=True, template=cell("name"), style="named"),
            Column("text", "Text", "query.text", sort=False, hidden=True),
            Column("value", title, "query.value", number=True, template=cell("value")),
            Column("missed", "Missed", "query.missed.count", template=cell("missed"), style="missed-cell"),
            Column("relevant", "Relevant", "query.relevant", number=True),
            Column("found", "Found", "query.found", number=True),
            Column("tags", "Tags", "query.tags", sort=False),
            Column("weight", "Weight", _weight, number=True),
        ),
        sort="value",
        search=("query", "text"),
        search_hint="Words or id of a query",
        filters=(SHOW,),
        caption=f"{title} of {selection.run} by query",
        empty=Empty("This report has no such queries."),
        per_page=PER_PAGE,
    )
    return table.shown(request, QueriesOfRun(report, selection), report.collection)


def _weight(line: QueryLine) -> str | None:
    return weight_in_words(line.query.weight) or None


def weight_in_words(weight: float | None) -> str:
    """With no more digits than it needs."""
    return "" if weight is None else f"{weight:,.6g}"
