"""Large JSON, one element at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping


def element(value: object) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def object_with(lists: Mapping[str, Iterable[object]], **others: object) -> Iterator[str]:
    """An object of `others`, and of lists with a line for each element."""
    yield "{\n"
    parts = [iter([f"{element(name)}: {element(value)}"]) for name, value in others.items()]
    parts += [_list(name, elements) for name, elements in lists.items()]
    for number, part in enumerate(parts):
        yield ",\n" if number else ""
        yield from part
    yield "\n}\n"


def _list(name: str, elements: Iterable[object]) -> Iterator[str]:
    yield f"{element(name)}: [\n"
    yield from separated(map(element, elements))
    yield "\n]"


def mapping(name: str, entries: Iterable[tuple[str, object]]) -> Iterator[str]:
    """A name and an object with a line for each entry."""
    yield f"{element(name)}: {{\n"
    yield from separated(f"{element(key)}: {element(value)}" for key, value in entries)
    yield "\n}"


def separated(parts: Iterable[str]) -> Iterator[str]:
    for number, part in enumerate(parts):
        yield f",\n{part}" if number else part
