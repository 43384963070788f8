"""Query metadata by which measures are broken down: tags, and how often a query is asked. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

# Under either name; the first one that is there counts.
WEIGHT_KEYS = ("weight", "frequency")


def tags_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The tags of a query, from its metadata: a list under `tags`, or one text.

    >>> tags_of({"tags": ["short", "bus"]}), tags_of({"tags": "short"}), tags_of({})
    (('short', 'bus'), ('short',), ())
    """
    tags = metadata.get("tags")
    if isinstance(tags, str):
        return (tags,) if tags else ()
    return tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()


def weight_of(metadata: Mapping[str, Any]) -> float | None:
    """Frequency of a query, in any unit that is the same for all; None if the metadata does not say.

    A number under `weight` or `frequency`, as a number or, as in tables, written as text. ValueError for
    what is no finite number above 0.

    >>> weight_of({"weight": 3}), weight_of({"frequency": "0.5"}), weight_of({"weight": None})
    (3.0, 0.5, None)
    """
    for key in WEIGHT_KEYS:
        value = metadata.get(key)
        if value is None or value == "":
            continue
        number = _number(value)
        if number is None or not (0 < number < math.inf):
            raise ValueError(f"the {key} {_shortened(value)} is not a number above 0")
        return number
    return None


def weight_in(metadata: Mapping[str, Any]) -> float | None:
    """`weight_of` for queries that were stored before weights were checked: what is none counts as absent."""
    try:
        return weight_of(metadata)
    except ValueError:
        return None


def represented_weight(metadata: Mapping[str, Any]) -> float | None:
    """How often what a query stands for is asked: its weight, by the probability with which it was drawn
    where it was drawn from a log.

    >>> represented_weight({"frequency": 3, "sampling": {"pi": 0.25}})
    12.0
    """
    weight, sampling = weight_in(metadata), metadata.get("sampling")
    chance = _number(sampling.get("pi")) if isinstance(sampling, Mapping) else None
    return weight if weight is None or not chance or not 0 < chance <= 1 else weight / chance


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
