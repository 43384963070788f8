"""Options as arguments of commands; loads nothing heavy."""

from __future__ import annotations

from argparse import Action, ArgumentError, ArgumentParser, ArgumentTypeError, _ArgumentGroup
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pooling.options.option import Option

METAVARS = {int: "N", float: "F", dict: "NAME=N"}


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is not a share between 0 and 1")
    return value


class NumbersByName(Action):
    """Collects NAME=N in a dictionary."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        name, _, number = values.rpartition("=")
        try:
            given = {name: count(number)}
        except ArgumentTypeError:
            given = {}
        if not name or not given:
            raise ArgumentError(self, f"{values!r} is not {self.metavar} with a whole number of 1 or more")
        setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or {}), **given})


def add_option_arguments(
    parser: ArgumentParser | _ArgumentGroup,
    options: Iterable[Option],
    *,
    filled: bool = True,
    bounded: bool = True,
) -> None:
    """Add one argument for each option.

    What is not given has its default, and what has no default must be given; if not `filled`, it is None.
    If not `bounded`, bounds and choices are left to the code that takes the values.
    """
    for one in options:
        reading = _reading(one, bounded)
        parser.add_argument(*flags_of(one), dest=one.name, help=_help(one), **reading, **_absent(one, filled))


def flags_of(one: Option) -> list[str]:
    """What is typed before its value."""
    return one.flag.split() or [f"--{one.name.replace('_', '-')}"]


def _absent(one: Option, filled: bool) -> dict[str, Any]:
    if not filled:
        return {"default": None}
    return {"required": True} if one.is_required else {"default": one.default}


def _reading(one: Option, bounded: bool) -> dict[str, Any]:
    if one.kind is bool:
        return {"action": "store_true"}
    if isinstance(one.choices, Mapping) and bounded:
        return {"choices": tuple(one.choices)}
    metavar = {"metavar": one.metavar or METAVARS.get(one.kind)}
    if one.kind is dict:
        return {**metavar, "action": NumbersByName}
    return {**metavar, "type": _type(one) if bounded else one.kind}


def _type(one: Option) -> Callable[[str], Any]:
    if one.kind is int and (one.minimum or 0) >= 1:
        return count
    is_share = one.kind is float and one.minimum == 0 and one.maximum is not None and one.maximum <= 1
    return share if is_share else one.kind


def _help(one: Option) -> str:
    text = (one.about or one.help or one.title).removesuffix(".")
    if one.kind is dict:
        text += "; may be repeated"
    elif one.without:
        text += f" (default: {one.without})"
    return f"{text[:1].lower()}{text[1:]}".replace("%", "%%")
