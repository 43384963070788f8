"""One option: its title, help, bounds, choices and default, written down where the option is.

Settings are frozen dataclasses, and each field carries its option:

    seed: int = setting(0, "Seed", "Draws the audit.", int)

Form fields and serializer fields (`pooling.interface.option_fields`), command options
(`add_option_arguments`), the settings that a page shows (`option_rows`) and the checks of what Python
calls pass (`problems_of`) all come from it.
"""

from __future__ import annotations

from argparse import Action, ArgumentError, ArgumentParser, ArgumentTypeError, _ArgumentGroup
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

# What the database can count; no run is as deep.
MOST = 2**31 - 1
LARGEST_SEED = 2**63 - 1
OPTION = "option"
# The default of an option that has none.
REQUIRED: Any = object()
METAVARS = {int: "N", float: "F", dict: "NAME=N"}

#: Value -> how a form names it; or a function of what a form offers, where that is slow to load.
Choices: TypeAlias = Mapping[str, str] | Callable[[], Iterable[Any]]
Number: TypeAlias = int | float


@dataclass(frozen=True)
class Option:
    """An option of some settings.

    help: what a form says below the title. about: what calls and commands say, where the help needs the
    title. kind: int, float, bool, str, dict for numbers by name, or tuple for what each place reads in its
    own way. empty: what happens without a value, where the default does not say it. unit: what a page writes
    behind the value. minimum, maximum: the bounds, which forms and the HTTP interface state; without a
    maximum, `limit` is what can be stored. refusal: the sentence for a number out of bounds or a word that is
    no choice. initial: what a form starts with, where that is not the default. flag (or several, separated by
    spaces), metavar: of the command, where they are not made from name and kind. name, default: of the field.
    """

    title: str
    help: str = ""
    kind: type = str
    about: str = ""
    empty: str = ""
    unit: str = ""
    minimum: Number | None = None
    maximum: Number | None = None
    limit: int = MOST
    refusal: str = ""
    choices: Choices | None = None
    initial: Any = None
    flag: str = ""
    metavar: str = ""
    name: str = ""
    default: Any = REQUIRED

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    @property
    def form_help(self) -> str:
        can_be_empty = self.default is None and self.initial is None
        return f"{self.help} Empty: {self.empty}.".strip() if self.empty and can_be_empty else self.help

    @property
    def without(self) -> str:
        """Meaning of an absent value; "" if a call or a command has to give one."""
        has_words = self.kind not in (bool, dict) and self.default not in (None, REQUIRED)
        default = f"{self.default:g}" if isinstance(self.default, float) else f"{self.default}"
        return self.empty or (default if has_words else "")

    def problem(self, value: Any) -> str | None:
        """A sentence if a number is out of bounds, or a word is not among the choices."""
        if isinstance(self.choices, Mapping):
            unknown = self.refusal or f"Unknown {self.name} {{value!r}}; known are {', '.join(self.choices)}."
            return None if value in self.choices else unknown.format(value=value)
        if not self.refusal or not isinstance(value, int | float):
            return None
        least = -self.limit - 1 if self.minimum is None else self.minimum
        most = self.limit if self.maximum is None else self.maximum
        return None if least <= value <= most else self.refusal.format(value=value)

    def words(self, value: Any) -> str:
        if value is None:
            return f"none: {self.empty}" if self.empty else "none"
        if self.kind is dict:
            return ", ".join(f"{name} {number}" for name, number in value.items())
        if self.kind is bool:
            return "yes" if value else "no"
        return f"{value:,} {self.unit}" if self.unit else str(value)


def option(title: str, help: str = "", kind: type = str, **rest: Any) -> dict[str, Option]:
    """The `metadata` of a dataclass field; the arguments are the fields of `Option`."""
    return {OPTION: Option(title, help, kind, **rest)}


def setting(default: Any, title: str, help: str = "", kind: type = str, **rest: Any) -> Any:
    """A dataclass field with its default and its option; the other arguments are the fields of `Option`."""
    return field(default=default, metadata=option(title, help, kind, **rest))


def same(default: Any, other: Option, **changes: Any) -> Any:
    """The field of an option that other settings have too, with what is different here."""
    return field(default=default, metadata={OPTION: replace(other, **changes)})


def options_of(settings: type) -> dict[str, Option]:
    """The options of a settings class by name, in the order of its fields."""
    return {
        one.name: replace(one.metadata[OPTION], name=one.name, default=_default(one))
        for one in fields(settings)
        if OPTION in one.metadata
    }


def chosen(settings: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Of `values`, from a form or a command, those that a settings class takes and that are not empty."""
    given = {name: values.get(name) for name in options_of(settings)}
    return {name: value for name, value in given.items() if value not in (None, "", {})}


def _default(one: Field[Any]) -> Any:
    if one.default_factory is not MISSING:
        return one.default_factory()
    return REQUIRED if one.default is MISSING else one.default


def problems_of(settings: Any) -> dict[str, str]:
    """Name -> a sentence, for each option whose value is out of bounds or not among its choices."""
    problems = {
        one.name: one.problem(getattr(settings, one.name)) for one in options_of(type(settings)).values()
    }
    return {name: problem for name, problem in problems.items() if problem}


def option_rows(options: Iterable[Option], values: Any) -> Iterator[tuple[str, str]]:
    """Title and value of each option as a page shows them; numbers by name stand behind the option before."""
    rows: list[list[str]] = []
    for one in options:
        words = one.words(getattr(values, one.name))
        if one.kind is not dict:
            rows.append([one.title, words])
        elif words:
            rows[-1][1] += f", {words}"
    return ((title, words) for title, words in rows)


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


def add_file(
    parser: ArgumentParser | _ArgumentGroup,
    name: str,
    help: str,
    *,
    metavar: str | tuple[str, ...] = "FILE",
    **more: Any,
) -> None:
    """Add an argument that takes paths; more: as `add_argument` takes it."""
    parser.add_argument(name, metavar=metavar, type=Path, help=help, **more)


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
