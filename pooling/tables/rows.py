"""Rows narrowed down, searched, sorted and cut into pages, by the database or in memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from typing import Any, TypeAlias

from django.core.paginator import Page, Paginator
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import Combinable

from pooling.tables.columns import Column
from pooling.tables.natural import NaturalKey, natural_key
from pooling.tables.state import State

PER_PAGE = 50
#: Rows of a file that are made at once.
AT_ONCE = 1000
#: A database sorts more rows than this bytewise where it can: natural order looks at each of them.
MOST_NATURAL = 100_000

Rows: TypeAlias = "QuerySet[Any] | Sequence[Any]"


class ArrangedRows(Sequence[Any]):
    """Rows that filter, search and sort themselves; only the slice of one page is made."""

    @abstractmethod
    def arranged(self, state: State) -> ArrangedRows:
        """The rows that search words and filters leave, in the order that the state says."""


def narrowed(rows: Rows, state: State, search: Sequence[str]) -> Rows:
    """Rows that filters and all search words leave; search: lookups of the database, or columns."""
    if isinstance(rows, ArrangedRows):
        return rows.arranged(state)
    for one in state.names.filters:
        chosen = one.chosen(state.filters.get(one.key, ""))
        if chosen and chosen.condition is not None:
            rows = _where(rows, chosen.condition)
    for word in state.search.split():
        if isinstance(rows, QuerySet):
            rows = rows.filter(_any(search, word))
        else:
            columns = [column for column in state.names.columns if column.key in search]
            rows = [row for row in rows if _is_in(word.casefold(), columns, row)]
    return rows


def _where(rows: Rows, condition: Q | Callable[[Any], bool]) -> Rows:
    if isinstance(rows, QuerySet):
        assert isinstance(condition, Q), "rows of the database are filtered by Q"
        return rows.filter(condition)
    assert callable(condition), "rows in memory are filtered by a function"
    return [row for row in rows if condition(row)]


def _any(lookups: Sequence[str], word: str) -> Q:
    condition = Q(pk__in=[])
    for lookup in lookups:
        condition |= Q(**{lookup: word})
    return condition


def _is_in(word: str, columns: Iterable[Column], row: Any) -> bool:
    return any(word in str(column.of(row)).casefold() for column in columns)


def in_order(rows: Rows, state: State, count: int) -> Rows:
    """The rows sorted as the state says, what has no value last; as they came where it says nothing."""
    column = next((one for one in state.names.columns if one.key == state.sorted_by), None)
    if column is None or isinstance(rows, ArrangedRows):
        return rows
    if isinstance(rows, QuerySet):
        return _by_database(rows, column, state.is_descending, count)
    with_value = [row for row in rows if column.of(row) is not None]
    with_value.sort(key=lambda row: _sortable(column.of(row)), reverse=state.is_descending)
    return [*with_value, *(row for row in rows if column.of(row) is None)]


def _by_database(rows: QuerySet[Any], column: Column, is_descending: bool, count: int) -> QuerySet[Any]:
    if column.order is None:
        return rows
    by = F(column.order) if isinstance(column.order, str) else column.order
    keys: list[Combinable] = [by]
    if column.natural and count <= MOST_NATURAL:
        keys.insert(0, NaturalKey(by))
    # An index serves only an order that says nothing of nulls.
    last = {"nulls_last": True} if _may_be_null(rows, column.order) else {}
    order = [key.desc(**last) if is_descending else key.asc(**last) for key in keys]  # type: ignore[attr-defined]
    return rows.order_by(*order, "-pk" if is_descending else "pk")


def _may_be_null(rows: QuerySet[Any], order: str | Combinable) -> bool:
    own = {field.name: field for field in rows.model._meta.concrete_fields}
    return not isinstance(order, str) or order not in own or own[order].null


def _sortable(value: object) -> tuple[int, Any]:
    """A key that compares values of one kind with each other, and kinds among themselves."""
    if isinstance(value, bool | int | float):
        return 0, value
    if isinstance(value, date):
        return 1, value
    if isinstance(value, list | tuple):
        return 2, natural_key(", ".join(map(str, value)))
    return 2, natural_key(str(value))


def number_of(rows: Rows) -> int:
    return rows.count() if isinstance(rows, QuerySet) else len(rows)


def page_of_rows(rows: Rows, number: str, count: int, per_page: int = PER_PAGE) -> Page[Any]:
    """The page of that number, or the nearest one. The database sorts keys, and then fetches whole rows."""
    if not isinstance(rows, QuerySet):
        return Paginator(rows, per_page).get_page(number)
    pages: Paginator[Any] = Paginator(rows.values_list("pk", flat=True), per_page)
    pages.count = count  # counted already
    page = pages.get_page(number)
    keys = list(page.object_list)
    rows_by_key = rows.order_by().in_bulk(keys)
    page.object_list = [rows_by_key[key] for key in keys if key in rows_by_key]
    return page


def only(rows: Rows, keys: Sequence[str], key_of: Callable[[Any], object]) -> Rows:
    if isinstance(rows, QuerySet):
        return rows.filter(pk__in=[int(key) for key in keys if key.isdecimal() and len(key) < 19])
    return [row for row in rows if str(key_of(row)) in keys]


def in_batches(rows: Rows) -> Iterator[list[Any]]:
    """All rows, some at a time, without holding them all where they come from the database."""
    if not isinstance(rows, QuerySet):
        yield from (list(rows[start : start + AT_ONCE]) for start in range(0, len(rows), AT_ONCE))
        return
    every = rows.iterator(chunk_size=AT_ONCE)
    while batch := [row for _, row in zip(range(AT_ONCE), every, strict=False)]:
        yield batch
