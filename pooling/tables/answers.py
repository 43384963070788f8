"""Responses of a view with tables: the page, a table as a file, or the way back to the page."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import translation

from pooling.interface.downloads import streamed
from pooling.tables.shown import TableView
from pooling.tables.state import column_names
from pooling.tables.table import remember_columns

CSV = "text/csv; charset=utf-8"


def answer(request: HttpRequest, template: str, context: Mapping[str, object]) -> HttpResponseBase:
    """The page with the tables in `context`, or the file or the columns of one that the address asks for."""
    for table in context.values():
        if not isinstance(table, TableView):
            continue
        if table.state.wants_file:
            translation.activate(settings.LANGUAGE_CODE)  # a file is the same for everybody
            return streamed(table.lines(), f"{table.look.name}.csv", CSV)
        if table.names["remember"] in request.GET:
            chosen = _chosen(request, table)
            remember_columns(request, table.look.name, chosen)
            return redirect(request.path + table.state.with_columns(chosen).address())
    return render(request, template, dict(context))


def _chosen(request: HttpRequest, table: TableView) -> tuple[str, ...]:
    names = table.state.names
    chosen = names.columns_among(column_names(request.GET, names))
    return () if chosen == names.by_default else chosen
