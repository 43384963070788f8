"""Serializers from typed classes."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict
from uuid import UUID

from rest_framework import serializers

from pooling.interface.results import PAGE_ONLY
from pooling.interface.shapes import shape, shape_of


class Finder(NamedTuple):
    """Who found it."""

    run: str
    rank: int | None


class Found(TypedDict):
    """What was found."""

    finders: list[Finder]
    best: Finder | None
    share: Annotated[float | None, "Of all."]
    grade: Annotated[str, Literal["good", "poor"]]
    day: Annotated[str | None, date]
    why: Annotated[str, {"allow_blank": True}]
    cells: list[tuple[float, float]]
    options: dict[str, Any]
    rows: list[list[object]]
    note: NotRequired[str]
    words: NotRequired[Annotated[str, PAGE_ONLY]]


def test_a_serializer_has_the_keys_of_its_class_and_what_annotations_say() -> None:
    fields = shape(Found)().fields
    assert list(fields) == [
        "finders", "best", "share", "grade", "day", "why", "cells", "options", "rows", "note",
    ]  # fmt: skip
    assert isinstance(fields["finders"], serializers.ListSerializer)
    assert (fields["best"].allow_null, list(fields["best"].fields)) == (True, ["run", "rank"])
    assert (fields["share"].allow_null, fields["share"].help_text) == (True, "Of all.")
    assert list(fields["grade"].choices) == ["good", "poor"]
    assert (type(fields["day"]), fields["day"].allow_null) == (serializers.DateField, True)
    assert fields["why"].allow_blank
    assert not fields["note"].required
    assert type(fields["cells"].child.child) is serializers.FloatField


def test_it_serializes_dicts_and_tuples_alike() -> None:
    given: Found = {
        "finders": [Finder("alpha", 1)],
        "best": None,
        "share": 0.5,
        "grade": "good",
        "day": "2026-01-02",
        "why": "",
        "cells": [(0.0, 1.0)],
        "options": {"a": 1},
        "rows": [["a", 1, None]],
        "words": "for the page",
    }
    assert shape(Found)(given).data == {
        "finders": [{"run": "alpha", "rank": 1}],
        **{key: given[key] for key in ("best", "share", "grade", "day", "why", "options", "rows")},
        "cells": [[0.0, 1.0]],
    }


def test_a_class_has_one_serializer_under_one_name() -> None:
    assert shape(Finder, "Place") is shape(Finder)
    assert (shape(Found).__name__, shape(Found).__doc__) == ("FoundSerializer", "What was found.")


class Leased(TypedDict):
    """What is held."""

    lease: Annotated[str, UUID]
    state: Annotated[str, {"choices": [("", "nothing yet"), ("done", "Done")]}]
    left: NotRequired[Annotated[int, {"required": True}]]


def test_choices_have_labels_and_a_key_that_is_added_later_may_be_promised() -> None:
    fields = shape(Leased)().fields
    assert type(fields["lease"]) is serializers.UUIDField
    assert fields["state"].choices == {"": "nothing yet", "done": "Done"}
    assert fields["left"].required


class Verdict:
    """Stands for a model."""


@shape_of(Verdict)
class VerdictSerializer(serializers.Serializer[Any]):
    """What somebody said."""


class Label(NamedTuple):
    """Something that a label is."""

    relevance: Annotated[int | None, {"allow_null": False}]
    verdict: Verdict

    @property
    def is_relevant(self) -> Annotated[bool, "Whether it counts."]:
        """Whether it does."""
        return bool(self.relevance)


def test_properties_are_keys_where_they_are_named_and_models_have_one_shape() -> None:
    fields = shape(Label, more=["is_relevant"])().fields
    assert list(fields) == ["relevance", "verdict", "is_relevant"]
    assert not fields["relevance"].allow_null
    assert fields["is_relevant"].help_text == "Whether it counts."
    assert type(fields["verdict"]) is VerdictSerializer
