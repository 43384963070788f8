"""Options: what forms, serializers, commands and pages make of one declaration."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass, field
from typing import Any

import pytest
from django import forms
from rest_framework import serializers

from pooling.interface.option_fields import form_fields, serializer_fields
from pooling.options import add_option_arguments, chosen, option, option_rows, options_of, problems_of, same


@dataclass(frozen=True)
class Cast:
    """How a net is cast."""

    length: int = field(metadata=option("Length", "In metres.", int, minimum=1, initial=20))
    weights: dict[str, int] = field(
        default_factory=dict, metadata=option("Weights", kind=dict, minimum=1, flag="--weight")
    )
    mesh: str = field(default="fine", metadata=option("Mesh", choices={"fine": "2 mm", "coarse": "20 mm"}))
    share: float = field(
        default=0.5,
        metadata=option("Share", kind=float, minimum=0, maximum=1, refusal="No share: {value}."),
    )
    hauls: int | None = field(
        default=None,
        metadata=option("Hauls", "In all.", int, empty="until dark", unit="hauls", refusal="Too many."),
    )
    at_night: bool = field(default=False, metadata=option("At night", kind=bool))


@form_fields(Cast, mesh={"label": "Width"})
class CastForm(forms.Form):
    """A form with nothing else."""


@serializer_fields(Cast)
class CastSerializer(serializers.Serializer[Any]):
    """A serializer with nothing else."""


def parsed(*arguments: str, filled: bool = True) -> dict[str, Any]:
    parser = ArgumentParser()
    add_option_arguments(parser, options_of(Cast).values(), filled=filled)
    return vars(parser.parse_args(arguments))


def test_a_form_asks_for_every_option_but_numbers_by_name() -> None:
    form = CastForm({"length": "3"})
    assert list(form.fields) == ["length", "mesh", "share", "hauls", "at_night"]
    assert form.is_valid()
    assert Cast(**chosen(Cast, form.cleaned_data)) == Cast(3)
    assert (form.fields["length"].initial, form.fields["share"].initial) == (20, "0.5")
    assert (form.fields["mesh"].label, form.fields["hauls"].help_text) == (
        "Width",
        "In all. Empty: until dark.",
    )
    assert set(CastForm({"length": "0", "share": "2", "mesh": "none"}).errors) == {"length", "share", "mesh"}


def test_a_call_may_leave_out_what_has_a_default() -> None:
    body = CastSerializer(data={"length": 3, "hauls": None, "weights": {"left": 2}})
    assert body.is_valid()
    assert Cast(**body.validated_data) == Cast(3, weights={"left": 2})
    wrong = CastSerializer(data={"share": 2, "mesh": "none", "weights": {"left": 0}})
    assert not wrong.is_valid()
    assert set(wrong.errors) == {"length", "share", "mesh", "weights"}


def test_a_command_has_a_flag_for_each_option() -> None:
    given = parsed("--length", "3", "--weight", "left=2", "--weight", "right=1", "--at-night")
    assert Cast(**given) == Cast(3, weights={"left": 2, "right": 1}, at_night=True)
    assert set(parsed(filled=False).values()) == {None}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--length"),
        (("--length", "0"), "'0' is not a whole number of 1 or more"),
        (("--length", "3", "--share", "2"), "'2' is not a share between 0 and 1"),
        (("--length", "3", "--weight", "left"), "'left' is not NAME=N with a whole number of 1 or more"),
        (("--length", "3", "--mesh", "none"), "invalid choice: 'none'"),
    ],
)
def test_a_command_refuses_what_cannot_be(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parsed(*arguments)
    assert words in capsys.readouterr().err


def test_a_command_says_what_holds_without_the_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--help")
    shown = " ".join(capsys.readouterr().out.split())
    assert "--hauls N in all (default: until dark)" in shown
    assert "--share F share (default: 0.5)" in shown


def test_values_out_of_bounds_are_refused_in_the_words_of_the_option() -> None:
    assert problems_of(Cast(3)) == {}
    assert problems_of(Cast(3, share=2.0, mesh="none", hauls=2**31)) == {
        "mesh": "Unknown mesh 'none'; known are fine, coarse.",
        "share": "No share: 2.0.",
        "hauls": "Too many.",
    }


def test_a_page_shows_each_option_with_its_value() -> None:
    options = options_of(Cast).values()
    assert list(option_rows(options, Cast(3, weights={"left": 2}))) == [
        ("Length", "3, left 2"),
        ("Mesh", "fine"),
        ("Share", "0.5"),
        ("Hauls", "none: until dark"),
        ("At night", "no"),
    ]
    assert ("Hauls", "1,200 hauls") in option_rows(options, Cast(3, hauls=1200))


def test_settings_may_share_an_option_and_change_its_words() -> None:
    @dataclass(frozen=True)
    class Recast:
        length: int | None = same(None, options_of(Cast)["length"], help="Longer.")

    again = options_of(Recast)["length"]
    assert (again.title, again.help, again.default, again.minimum) == ("Length", "Longer.", None, 1)
