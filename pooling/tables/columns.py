"""Declarations of a table: its columns, what narrows it down, and what can be done with chosen rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from django.db.models import Q
from django.db.models.expressions import Combinable


@dataclass(frozen=True)
class Column:
    """A column: where its value comes from, how it is shown, and by what the database sorts it.

    `value` is a path such as `imported_by.username` (attributes or keys), or a function of the row; without
    one it is the key. What a database sorts by is the same path, `sort` (a path or an expression) where the
    value is a function, or nothing with `sort=False`. Rows in memory are sorted by their values.
    """

    key: str
    title: str
    value: str | Callable[[Any], object] = ""
    sort: str | Combinable | bool = True
    #: Right-aligned, and sorted from the top at the first click.
    number: bool = False
    decimals: int = 3
    #: q2 before q10.
    natural: bool = False
    #: Shown once somebody chooses it.
    hidden: bool = False
    #: Holds buttons and the like: it cannot be left out and is not downloaded.
    fixed: bool = False
    admin_only: bool = False
    #: With the time of day, where the value is a time.
    to_the_minute: bool = False
    #: The address that the value leads to, of the row.
    link: Callable[[Any], str] | None = None
    #: A template of `row`, `value` and `collection`, where a value needs more than its text.
    template: str = ""
    #: Classes of the style sheet, such as `quiet` or `mono id`.
    style: str = ""

    def of(self, row: Any) -> object:
        """The value of a row; None where a step of the path leads nowhere."""
        if callable(self.value):
            return self.value(row)
        return reduce(_step, (self.value or self.key).split("."), row)

    @property
    def order(self) -> str | Combinable | None:
        """The expression that a database sorts by, or None."""
        if self.sort is True:
            return None if callable(self.value) else (self.value or self.key).replace(".", "__")
        return None if self.sort is False else self.sort


def own_page(row: Any) -> str:
    return str(row.get_absolute_url())


def _step(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


@dataclass(frozen=True)
class Choice:
    """One way to narrow a table down; `condition` is a `Q` for rows of the database, else a function."""

    key: str
    title: str
    condition: Q | Callable[[Any], bool] | None = None


@dataclass(frozen=True)
class Filter:
    """Choices of which one holds: `default`, or none and thus every row, until another is asked for."""

    key: str
    title: str
    choices: tuple[Choice, ...]
    default: str = ""

    def chosen(self, key: str) -> Choice | None:
        """The choice of that name, or the default where there is none such."""
        by_key = {choice.key: choice for choice in self.choices}
        return by_key.get(key) or by_key.get(self.default)


@dataclass(frozen=True)
class BulkAction:
    """An action on chosen rows: a page that gets them as `?NAME=KEY`, NAME being `choose`, and asks first."""

    name: str
    title: str
    #: Name of the address, whose one argument is the collection's short name.
    view: str
    admin_only: bool = True


@dataclass(frozen=True)
class Empty:
    """In place of a table without rows: a sentence, and for admins the one thing to do."""

    sentence: str
    title: str = ""
    #: An address of the collection, as in `BulkAction`.
    view: str = ""
    #: What jobs of the collection make that is listed here, as in `at_work.MAKING`.
    made: str = ""
