"""The state of a table in the address, so that it can be shared; wrong values count as absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from django.http import QueryDict

from pooling.tables.columns import Column, Filter

#: Longer searches are cut.
LONGEST_SEARCH = 200
#: Of other things in the address, at most this many characters are kept.
LONGEST_KEPT = 2000
OWN = ("sort", "q", "columns", "page", "format", "remember")


@dataclass(frozen=True)
class Names:
    """Parameters of a table in an address, and their defaults."""

    columns: tuple[Column, ...]
    filters: tuple[Filter, ...]
    sort: str
    prefix: str = ""
    choose: str = ""
    #: Whether a database sorts the rows.
    is_stored: bool = True

    def sorts(self, column: Column) -> bool:
        return column.sort is not False and (column.order is not None or not self.is_stored)

    @property
    def by_default(self) -> tuple[str, ...]:
        return tuple(column.key for column in self.columns if not column.hidden)

    def columns_among(self, keys: list[str]) -> tuple[str, ...]:
        """The columns of those names in the table's order, with those that are always there; or none."""
        if not {column.key for column in self.columns} & set(keys):
            return ()
        always = {self.columns[0].key, *(column.key for column in self.columns if column.fixed)}
        return tuple(column.key for column in self.columns if column.key in always.union(keys))


@dataclass(frozen=True)
class State:
    names: Names
    sort: str
    search: str = ""
    filters: Mapping[str, str] = field(default_factory=dict)
    #: Chosen in the address, which wins over what a person's account remembers; empty where it says nothing.
    columns: tuple[str, ...] = ()
    page: str = "1"
    wants_file: bool = False
    #: Everything else in the address, which belongs to the page around the table.
    kept: tuple[tuple[str, str], ...] = ()

    @property
    def sorted_by(self) -> str:
        """The column that the rows are sorted by, or nothing."""
        return self.sort.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        return self.sort.startswith("-")

    @property
    def is_narrowed(self) -> bool:
        """Somebody asked for less than the table shows at first."""
        return bool(self.search) or any(
            self.filters.get(one.key, one.default) != one.default for one in self.names.filters
        )

    def pairs(self) -> list[tuple[str, str]]:
        """Names and values of the address, without what holds by default."""
        pairs: list[tuple[str, str]] = []
        if self.sort != self.names.sort:
            pairs.append(("sort", self.sort))
        if self.search:
            pairs.append(("q", self.search))
        pairs += [
            (one.key, self.filters[one.key])
            for one in self.names.filters
            if self.filters.get(one.key, one.default) != one.default
        ]
        if self.columns:
            pairs.append(("columns", ",".join(self.columns)))
        if self.page != "1":
            pairs.append(("page", self.page))
        return [*self.kept, *((self.names.prefix + name, value) for name, value in pairs)]

    def address(self, *more: tuple[str, str]) -> str:
        """The query string of this state, with its question mark."""
        return "?" + urlencode([*self.pairs(), *((self.names.prefix + name, value) for name, value in more)])

    def sorted(self, sort: str) -> State:
        return replace(self, sort=sort, page="1")

    def on_page(self, number: int) -> State:
        return replace(self, page=str(number))

    def narrowed(self, name: str, choice: str) -> State:
        return replace(self, filters={**self.filters, name: choice}, page="1")

    def with_columns(self, columns: tuple[str, ...]) -> State:
        return replace(self, columns=columns)

    def whole(self) -> State:
        """Without search words and filters."""
        return replace(self, search="", filters={}, page="1")


def read_state(parameters: QueryDict, names: Names) -> State:
    """The state that an address asks for; what it cannot mean is left out."""

    def value_of(name: str) -> str:
        return str(parameters.get(names.prefix + name, ""))

    sort = value_of("sort")
    sortable = {column.key for column in names.columns if names.sorts(column)}
    filters = {one.key: choice.key for one in names.filters if (choice := one.chosen(value_of(one.key)))}
    own = {names.prefix + name for name in (*OWN, *(one.key for one in names.filters))} | {names.choose}
    kept = [(name, value) for name, values in parameters.lists() if name not in own for value in values]
    return State(
        names,
        sort=sort if sort.removeprefix("-") in sortable else names.sort,
        search=value_of("q").strip()[:LONGEST_SEARCH],
        filters=filters,
        columns=names.columns_among(column_names(parameters, names)),
        page=page[:9] if (page := value_of("page")).isdecimal() and int(page[:9]) else "1",
        wants_file=value_of("format") == "csv",
        kept=tuple(kept) if len(urlencode(kept)) <= LONGEST_KEPT else (),
    )


def meaningless(parameters: QueryDict, state: State) -> Iterator[tuple[str, str, str]]:
    """Name and value of what an address asks for in vain, and what holds instead, if anything."""
    names = state.names
    filters = {one.key: state.filters.get(one.key, "") for one in names.filters}
    holds = {"sort": state.sort, "page": state.page, **filters}
    for name, value in holds.items():
        if (given := str(parameters.get(names.prefix + name, ""))) not in ("", value):
            yield names.prefix + name, given, value and f"{names.prefix}{name}={value}"
    for name in {*column_names(parameters, names)} - {"", *(column.key for column in names.columns)}:
        yield f"{names.prefix}columns", name, ""


def column_names(parameters: QueryDict, names: Names) -> list[str]:
    return ",".join(parameters.getlist(f"{names.prefix}columns")).split(",")
