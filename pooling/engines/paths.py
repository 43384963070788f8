"""Paths to the ids and scores of an answer: a small part of JSONPath, and the shape of what does not fit.

A path is names and places from the outside in: `hits.hits[*]._id`. `[*]` is every element of a list, `[0]`
the first, `['odd name']` a name with other characters than letters, digits, `_`, `-` and `@`. A `$` in front
is optional. A name with `?` may be missing, which means that nothing was found. Filters, slices and `..` are
not read: a library that reads them could not say which step of the path is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pooling.engines.templates import Json

_STEP = re.compile(r"""\.?([\w@-]+)(\?)?|\['([^']+)'\](\?)?|\[(\*|\d+)\]""")
LONGEST_SHAPE, MOST_KEYS, DEEPEST = 300, 8, 3


class PathError(ValueError):
    """A path that cannot be read, or that an answer does not have."""


@dataclass(frozen=True)
class Step:
    """A name, a place in a list, or with neither every element of it."""

    name: str | None = None
    place: int | None = None
    may_be_missing: bool = False

    @property
    def is_every(self) -> bool:
        return self.name is None and self.place is None


@dataclass(frozen=True)
class HitPath:
    """A path in two parts: to the hits, up to its last `[*]`, and within each hit."""

    hits: tuple[Step, ...]
    within: tuple[Step, ...]


def read_path(text: str) -> HitPath:
    """The path of a text; `PathError` says what is wrong with it.

    >>> read_path("$.rows[*].id").within
    (Step(name='id', place=None, may_be_missing=False),)
    """
    rest, steps = text.strip().removeprefix("$"), list[Step]()
    while rest:
        match = _STEP.match(rest)
        if match is None:
            problem = f"“{rest[:60]}” is not read. Write for instance hits.hits[*]._id."
            raise PathError(f"The path “{text[:100]}”: {problem}")
        name, optional, quoted, also_optional, place = match.groups()
        if place is not None:
            steps.append(Step() if place == "*" else Step(place=int(place[:9])))
        else:
            steps.append(Step(name or quoted, may_be_missing=bool(optional or also_optional)))
        rest = rest[match.end() :]
    last = max((number for number, step in enumerate(steps) if step.is_every), default=None)
    if last is None:
        raise PathError(f"The path “{text[:100]}” has no [*], which is the list of the hits.")
    return HitPath(tuple(steps[: last + 1]), tuple(steps[last + 1 :]))


def read_paths(ids: str, scores: str) -> tuple[HitPath, HitPath | None]:
    """The paths of ids and scores, None where there are no scores; both have to lead to the same hits."""
    of_ids, of_scores = read_path(ids), read_path(scores) if scores.strip() else None
    if of_scores is not None and of_scores.hits != of_ids.hits:
        raise PathError(
            "The paths of ids and scores differ before their last [*], so nobody could tell which score is "
            "of which id."
        )
    return of_ids, of_scores


def hits_of(answer: Json, path: HitPath) -> list[Json]:
    """The hits of an answer in its order; `PathError` shows the shape of one that has none."""
    return list(_walked(answer, path.hits, answer))


def within(hit: Json, path: HitPath) -> Json:
    """The value at the end of a path; None where the hit has nothing there."""
    for step in path.within:
        if step.name is not None:
            hit = hit.get(step.name) if isinstance(hit, dict) else None
        elif step.place is not None:
            hit = hit[step.place] if isinstance(hit, list) and step.place < len(hit) else None
    return hit


def _walked(value: Json, steps: Sequence[Step], answer: Json) -> Iterator[Json]:
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if step.is_every:
        if not isinstance(value, list):
            raise PathError(f"There is no list where the path has [*]; the answer is {shape_of(answer)}.")
        for element in value:
            yield from _walked(element, rest, answer)
        return
    inner: Json = None
    if step.name is not None:
        inner = value.get(step.name) if isinstance(value, dict) else None
    elif isinstance(value, list) and step.place is not None and step.place < len(value):
        inner = value[step.place]
    if inner is None:
        if step.may_be_missing and isinstance(value, dict):
            return
        wanted = f"“{step.name}”" if step.name is not None else f"element {step.place}"
        raise PathError(f"The answer has no {wanted} where the path has it; it is {shape_of(answer)}.")
    yield from _walked(inner, rest, answer)


def shape_of(value: Json) -> str:
    """Names and kinds of an answer, without its values.

    >>> shape_of({"took": 3, "hits": {"hits": [{"_id": "a"}, {"_id": "b"}]}})
    '{took: number, hits: {hits: [2 of {_id: text}]}}'
    """
    shape = _shape(value, DEEPEST)
    return shape if len(shape) <= LONGEST_SHAPE else shape[: LONGEST_SHAPE - 1] + "…"


def _shape(value: Json, levels: int) -> str:
    if isinstance(value, dict):
        if not levels:
            return "{…}"
        named = [f"{name[:40]}: {_shape(one, levels - 1)}" for name, one in list(value.items())[:MOST_KEYS]]
        return "{" + ", ".join([*named, *(["…"] if len(value) > MOST_KEYS else [])]) + "}"
    if isinstance(value, list):
        return f"[{len(value):,} of {_shape(value[0], max(levels - 1, 1))}]" if value else "an empty list"
    if isinstance(value, bool):
        return "true or false"
    if value is None:
        return "null"
    return "text" if isinstance(value, str) else "number"
