"""Values as cells: what a page shows, and what a file holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.loader import get_template
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext

from pooling.tables.columns import Column

NOTHING = "–"


@dataclass(frozen=True)
class Cell:
    """One cell as the template shows it."""

    html: str
    title: str
    style: str
    is_heading: bool


def cells_of(columns: list[Column], row: Any, around: Mapping[str, object]) -> list[Cell]:
    """The cells of a row; the first is its heading. `around`: what templates of cells know besides it."""
    return [
        Cell(_shown(column, row, around), gettext(column.title), _style(column), place == 0)
        for place, column in enumerate(columns)
    ]


def _style(column: Column) -> str:
    return f"{'number ' if column.number else ''}{'fixed ' if column.fixed else ''}{column.style}".strip()


def _shown(column: Column, row: Any, around: Mapping[str, object]) -> str:
    value = column.of(row)
    if column.template:
        return get_template(column.template).render({**around, "row": row, "value": value})
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
    return date_format(localtime(value), form)


def _badges(value: list[object] | tuple[object, ...], _: Column) -> SafeString:
    return format_html_join(" ", '<span class="badge">{}</span>', ((one,) for one in value))


_WORDS: dict[type | tuple[type, ...], Callable[[Any, Column], str]] = {
    datetime: _time,
    date: lambda value, _: date_format(value, "j M Y"),
    (list, tuple): _badges,
}


def as_filed(value: object) -> object:
    """A value as a CSV file holds it: numbers in full, times in ISO 8601."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return value.isoformat() if isinstance(value, date) else value
