"""A table as a template shows it, with the addresses of everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Page
from django.template.loader import get_template
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext

from pooling.formats.cells import table_lines
from pooling.formats.wording import counted
from pooling.models import Collection
from pooling.tables.at_work import SENTENCES, jobs_at_work
from pooling.tables.columns import BulkAction, Column, Empty
from pooling.tables.rows import Rows, in_batches
from pooling.tables.state import State

# Values as cells: what a page shows, and what a file holds.


NOTHING = "–"


@dataclass(frozen=True)
class Cell:
    html: str
    title: str
    style: str
    is_heading: bool


def cells_of(columns: list[Column], row: Any, around: Mapping[str, object]) -> list[Cell]:
    """The cells of a row; the first is its heading. `around`: what templates of cells know besides it."""
    return [
        Cell(_cell_text(column, row, around), gettext(column.title), _style(column), place == 0)
        for place, column in enumerate(columns)
    ]


def _style(column: Column) -> str:
    return f"{'number ' if column.number else ''}{'fixed ' if column.fixed else ''}{column.style}".strip()


def _cell_text(column: Column, row: Any, around: Mapping[str, object]) -> str:
    value = column.of(row)
    if column.template:
        html = get_template(column.template).render({**around, "row": row, "value": value})
        # Nothing but blanks is an empty cell, which a card on a phone leaves out with its title.
        return SafeString(html.strip())
    text = as_text(value, column)
    return format_html('<a href="{}">{}</a>', column.link(row), text) if column.link and text else text


def as_text(value: object, column: Column) -> str:
    """A value in the words of a page, escaped where it is shown."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.{column.decimals}f}"
    if isinstance(value, int):
        return str(intcomma(value))
    for kind, words in _WORDS.items():
        if isinstance(value, kind):
            return words(value, column)
    return NOTHING if value is None else str(value)


def _time(value: datetime, column: Column) -> str:
    form = gettext("j M Y, H:i") if column.to_the_minute else gettext("j M Y")
    return _date(date_format(localtime(value), form))


def _date(words: str) -> SafeString:
    """In one line, however narrow its column."""
    return format_html('<span class="date">{}</span>', words)


def _badges(value: list[object] | tuple[object, ...], _: Column) -> SafeString:
    return format_html_join(" ", '<span class="badge">{}</span>', ((one,) for one in value))


_WORDS: dict[type | tuple[type, ...], Callable[[Any, Column], str]] = {
    datetime: _time,
    date: lambda value, _: _date(date_format(value, "j M Y")),
    (list, tuple): _badges,
}


def as_filed(value: object) -> object:
    """A value as a CSV file holds it: numbers in full, times in ISO 8601."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return value.isoformat() if isinstance(value, date) else value


class Header(NamedTuple):
    """The head of a column: the address that sorts by it, if any, and what `aria-sort` says."""

    key: str
    title: str
    style: str
    address: str
    order: str


class Chip(NamedTuple):
    """One choice of a filter; `is_chosen` is how the table is shown now."""

    title: str
    address: str
    is_chosen: bool


class ChipGroup(NamedTuple):
    title: str
    chips: list[Chip]


class ColumnChoice(NamedTuple):
    key: str
    title: str
    is_shown: bool


class Action(NamedTuple):
    title: str
    address: str


class TableRow(NamedTuple):
    """A row: its key for the checkbox, the name that the checkbox is called by, and its cells."""

    key: str
    name: str
    cells: list[Cell]
    row: Any


@dataclass(frozen=True)
class Look:
    """The shown parts of a table's declaration: names and sentences."""

    name: str
    noun: str
    nouns: str
    counts: Callable[[int], str] | None
    caption: str
    search_hint: str
    empty: Empty
    anchor: str
    choose: str


@dataclass(frozen=True)
class TableView:
    """One table of a page: `rows` are those of the page, `all_rows` those that search and filters leave."""

    look: Look
    state: State
    columns: list[Column]
    page: Page[Any]
    all_rows: Rows
    collection: Collection | None
    actions: list[BulkAction]
    prepare: Callable[[list[Any]], None]
    key_of: Callable[[Any], object]
    #: What templates of cells know besides the row.
    around: Mapping[str, object]

    @property
    def id(self) -> str:
        """The id of the element; what belongs to the table begins with it."""
        return f"table-{self.look.name}"

    @property
    def is_admin(self) -> bool:
        return getattr(self.collection, "role", None) == "admin"

    @property
    def count(self) -> int:
        return self.page.paginator.count

    @property
    def is_empty(self) -> bool:
        """No row at all, whatever is asked for."""
        return not self.count and not self.state.is_narrowed

    @property
    def counted(self) -> str:
        """Number of rows, or of rows found, in words."""
        look = self.look
        rows = look.counts(self.count) if look.counts else counted(self.count, look.noun, look.nouns)
        return gettext("{rows} found").format(rows=rows) if self.state.is_narrowed else rows

    @cached_property
    def headers(self) -> list[Header]:
        return [self._header(column) for column in self.columns]

    def _header(self, column: Column) -> Header:
        is_sorted = self.state.sorted_by == column.key
        other_way = f"{'' if self.state.is_descending else '-'}{column.key}"
        first = f"{'-' if column.number else ''}{column.key}"
        wanted = self.state.sorted(other_way if is_sorted else first)
        address = self._at(wanted) if self.state.names.sorts(column) else ""
        order = ("descending" if self.state.is_descending else "ascending") if is_sorted else ""
        style = f"{'number ' if column.number else ''}{column.style}".strip()
        return Header(column.key, gettext(column.title), style, address, order)

    def _at(self, state: State, *more: tuple[str, str]) -> str:
        return state.address(*more) + (f"#{self.look.anchor}" if self.look.anchor and not more else "")

    @cached_property
    def rows(self) -> list[TableRow]:
        objects = list(self.page.object_list)
        self.prepare(objects)
        name = self.columns[0]
        return [
            TableRow(str(self.key_of(row)), str(name.of(row)), cells_of(self.columns, row, self.around), row)
            for row in objects
        ]

    @property
    def filters(self) -> list[ChipGroup]:
        return [
            ChipGroup(
                gettext(one.title),
                [
                    Chip(
                        gettext(choice.title),
                        self._at(self.state.narrowed(one.key, choice.key)),
                        self.state.filters.get(one.key, "") == choice.key,
                    )
                    for choice in one.choices
                ],
            )
            for one in self.state.names.filters
        ]

    @property
    def choices(self) -> list[ColumnChoice]:
        """The columns that can be left out; none where there is nothing to choose."""
        visible = {column.key for column in self.columns}
        can = [column for column in self.state.names.columns[1:] if not column.fixed]
        return [ColumnChoice(column.key, gettext(column.title), column.key in visible) for column in can]

    @property
    def offered(self) -> list[Action]:
        if self.collection is None:
            return []
        slug = self.collection.slug
        return [
            Action(one.title, reverse(one.view, args=[slug]))
            for one in self.actions
            if self.is_admin or not one.admin_only
        ]

    @property
    def names(self) -> Mapping[str, str]:
        """Parameters of this table in an address, by their part: search words, columns and so on."""
        return {name: self.state.names.prefix + name for name in ("q", "columns", "format", "remember")}

    def _pairs_without(self, *names: str) -> list[tuple[str, str]]:
        without = {self.state.names.prefix + name for name in (*names, "page")}
        return [(name, value) for name, value in self.state.pairs() if name not in without]

    @property
    def pairs_without_search(self) -> list[tuple[str, str]]:
        return self._pairs_without("q")

    @property
    def pairs_without_columns(self) -> list[tuple[str, str]]:
        return self._pairs_without("columns")

    @property
    def whole_address(self) -> str:
        return self._at(self.state.whole())

    @property
    def file_address(self) -> str:
        """All rows that were found, as CSV."""
        return self._at(self.state.on_page(1), ("format", "csv"))

    @property
    def previous_address(self) -> str:
        has = self.page.has_previous()
        return self._at(self.state.on_page(self.page.previous_page_number())) if has else ""

    @property
    def next_address(self) -> str:
        has = self.page.has_next()
        return self._at(self.state.on_page(self.page.next_page_number())) if has else ""

    @property
    def last_address(self) -> str:
        return self._at(self.state.on_page(self.page.paginator.num_pages))

    @property
    def empty_address(self) -> str:
        empty = self.look.empty
        if not (empty.view and self.collection and self.is_admin):
            return ""
        return reverse(empty.view, args=[self.collection.slug])

    @cached_property
    def at_work(self) -> Action | None:
        """The first job that makes what is listed here."""
        made = self.look.empty.made
        if not (made and self.collection):
            return None
        job = jobs_at_work(made).filter(collection=self.collection).first()
        return Action(SENTENCES[made], job.get_absolute_url()) if job else None

    def lines(self) -> Iterator[str]:
        """The table as CSV, as it is shown, with the rows of every page."""
        columns = [column for column in self.columns if not column.fixed]
        return table_lines([column.title for column in columns], self._filed(columns))

    def _filed(self, columns: list[Column]) -> Iterator[list[object]]:
        for batch in in_batches(self.all_rows):
            self.prepare(batch)
            for row in batch:
                yield [as_filed(column.of(row)) for column in columns]
