"""Groups of documents by a key of their metadata: texts as they are, numbers and dates in up to 5 parts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from math import isfinite
from typing import Any

#: Parts of numbers and dates, and groups of texts, at most.
MOST_PARTS, MOST_GROUPS = 5, 50
#: Dates within this many months are cut by month, others by year.
MONTHS_OF_TWO_YEARS = 24
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2})(?:[T ].*)?)?")
_TEXTS = {"title", "text", "url"}

Metadata = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Cut:
    """Groups of documents by a key: names and each document's place. in_order: old to new or few to many."""

    key: str
    names: tuple[str, ...]
    place: Mapping[str, int]
    in_order: bool = False


def cut_documents(key: str, metadata: Metadata) -> Cut:
    """Every document of `metadata` (its id -> what is known of it, perhaps nothing) in one group.

    Numbers are cut into at most five parts with about as many documents each; dates by year, or by month
    where all are within two years, also into five at most. The last group is of documents without the key.
    ValueError for a key that no document has, and for texts with more than 50 values.

    >>> found = cut_documents("year", {"a": {"year": 2019}, "b": {"year": 2024}, "c": {}})
    >>> found.names, found.place
    (('2019', '2024', 'without year'), {'a': 0, 'b': 1, 'c': 2})
    """
    values = {id: facts[key] for id, facts in metadata.items() if as_text(facts.get(key)) is not None}
    if not values:
        others = offered_keys(metadata.values())
        hint = f"the documents can be grouped by {', '.join(others)}" if others else "nor under any other key"
        raise ValueError(f"No document says anything under metadata.{key}; {hint}.")
    names, in_order = _named(values)
    if len(set(names.values())) > MOST_GROUPS:
        many = len(set(names.values()))
        raise ValueError(f"There are {many:,} values of metadata.{key}; at most {MOST_GROUPS} can be groups.")
    ordered = list(dict.fromkeys(names[id] for id in _by_value(values, names, in_order=in_order)))
    rest = f"without {key}"
    if len(values) < len(metadata):
        ordered.append(rest)
    place = {name: number for number, name in enumerate(ordered)}
    return Cut(key, tuple(ordered), {id: place[names.get(id, rest)] for id in metadata}, in_order)


def offered_keys(metadata: Iterable[Mapping[str, Any]]) -> list[str]:
    """The keys that can make groups: numbers and dates, and texts with 50 values at most."""
    values: dict[str, dict[str, Any]] = {}
    for facts in metadata:
        for key in facts.keys() - _TEXTS:
            text = as_text(facts[key])
            if text is not None:
                values.setdefault(key, {})[text] = facts[key]
    return sorted(key for key, by_text in values.items() if len(by_text) <= MOST_GROUPS or _named(by_text)[1])


def as_text(value: object) -> str | None:
    """A single value of the metadata as the name of a group; None for lists, objects and nothing.

    >>> as_text("how"), as_text(3), as_text(True), as_text(["a"]), as_text("")
    ('how', '3', 'true', None, None)
    """
    if isinstance(value, str):
        return value or None
    return json.dumps(value) if isinstance(value, bool | int | float) else None


def _named(values: Mapping[str, Any]) -> tuple[dict[str, str], bool]:
    """The name of each document's group, and whether the groups have an order."""
    months = {id: _month(value) for id, value in values.items()}
    if None not in months.values():
        units = {id: month for id, month in months.items() if month is not None}
        if max(units.values()) - min(units.values()) < MONTHS_OF_TWO_YEARS:
            return _parts(units, lambda month: f"{month // 12:04}-{month % 12 + 1:02}"), True
        return _parts({id: month // 12 for id, month in units.items()}, lambda year: f"{year:04}"), True
    if all(_is_number(value) for value in values.values()):
        return _parts(
            dict(values), lambda number: f"{number:.6g}" if isinstance(number, float) else str(number)
        ), True
    return {id: str(as_text(value)) for id, value in values.items()}, False


def _by_value(values: Mapping[str, Any], names: Mapping[str, str], *, in_order: bool) -> list[str]:
    return sorted(values, key=values.__getitem__ if in_order else names.__getitem__)


def _parts(units: Mapping[str, Any], in_words: Callable[[Any], str]) -> dict[str, str]:
    """At most five parts with about as many documents; equal units stay together."""
    counts = sorted(Counter(units.values()).items())
    parts: dict[int, list[Any]] = {}
    before = 0
    for number, (unit, count) in enumerate(counts):
        # Where there are few units each is a part; else the part that holds the middle of its documents.
        middle = MOST_PARTS * (2 * before + count) // (2 * len(units))
        parts.setdefault(number if len(counts) <= MOST_PARTS else middle, []).append(unit)
        before += count
    names = {
        unit: in_words(part[0]) if len(part) == 1 else f"{in_words(part[0])} to {in_words(part[-1])}"
        for part in parts.values()
        for unit in part
    }
    return {id: names[unit] for id, unit in units.items()}


def _month(value: object) -> int | None:
    """The month of an ISO date or time, counted from year 0; None for anything else.

    >>> _month("2024-03-05") == _month("2024-03-05T10:00:00Z") == 2024 * 12 + 2, _month("2024-13")
    (True, None)
    """
    match = _DATE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        date(year, month, day)
    except ValueError:
        return None
    return year * 12 + month - 1


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
