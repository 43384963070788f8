"""Common to forms: errors next to the fields they belong to, and long forms that grow."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, ClassVar, cast

from django import forms
from django.forms.boundfield import BoundField
from django.http import HttpRequest, QueryDict
from django.utils.choices import flatten_choices
from django.utils.text import Truncator
from django.utils.translation import gettext

from pooling.interface.problems import InputError

# The heading of what a form asks first.
FIRST = ""
# Characters of what somebody else stored that a refusal repeats.
MOST_REPEATED = 300


@dataclass(frozen=True)
class Figure:
    title: str
    value: str
    note: str = ""


def show_problem(form: forms.BaseForm, error: Exception) -> None:
    """Put a refusal next to the fields it names, else above the form."""
    fields = error.fields if isinstance(error, InputError) else {}
    named = {name: text for name, text in fields.items() if name in form.fields}
    for name, text in named.items():
        form.add_error(name, text)
    if not named:
        form.add_error("file" if "file" in form.fields else None, str(error))


class AddressForm(forms.Form):
    """What the address of a page chooses; `say_left_out` says what of it makes no sense."""

    def offer(self, **choices: Iterable[object]) -> None:
        for name, values in choices.items():
            self.fields[name].choices = [(value, value) for value in values]  # type: ignore[attr-defined]


def say_instead(request: HttpRequest, name: str, given: str, instead: object = "") -> None:
    """Say above the page that a value of its address means nothing, and what is displayed instead, if any."""
    words = {"given": f"{name}={Truncator(given).chars(MOST_REPEATED)}", "shown": instead}
    sentence = (
        gettext("“%(given)s” in the address means nothing here: “%(shown)s” is displayed instead.")
        if instead
        else gettext("“%(given)s” in the address means nothing here and is left out.")
    )
    request.instead = {**getattr(request, "instead", {}), sentence % words: True}  # type: ignore[attr-defined]


def say_left_out(request: HttpRequest, form: forms.BaseForm, choice: Mapping[str, object]) -> None:
    """Say which values of an address a page does not display, where `choice` has those that it does."""
    for name in form.fields:
        value, instead = form.cleaned_data.get(name), choice.get(name)
        if name in form.errors or (value and instead is not None and value != instead):
            given = ", ".join(request.GET.getlist(name))
            say_instead(request, name, given, "" if instead is None else f"{name}={instead}")


def say_missing(request: HttpRequest, name: str, there: Iterable[object]) -> None:
    """Say which of the values that an address chooses are not among those that the page has."""
    keys = set(map(str, there))
    if missing := [given for given in request.GET.getlist(name) if given not in ("", *keys)]:
        say_instead(request, name, ", ".join(missing))


def choose_runs_from_address(request: HttpRequest, form: forms.BaseForm) -> None:
    """Choose in a new form the runs that the address names, as `?runs=1&runs=2` does."""
    if form.is_bound:
        return
    runs = form.fields["runs"]
    there = {str(key): key for key in runs.initial}
    say_missing(request, "runs", there)
    runs.initial = [there[key] for key in request.GET.getlist("runs") if key in there] or runs.initial


def fill_from_address(request: HttpRequest, form: forms.BaseForm, names: Iterable[str]) -> None:
    for name in names:
        if form.is_bound or not request.GET.get(name) or name not in form.fields:
            continue
        try:
            form.fields[name].clean(request.GET[name])
            form.initial[name] = request.GET[name]
        except forms.ValidationError:
            say_instead(request, name, request.GET[name])


@dataclass(frozen=True)
class Group:
    """Fields of a form under one heading, or first without one; when_ticked: while the box is ticked."""

    heading: str
    fields: list[BoundField]
    is_open: bool = True
    when_ticked: list[BoundField] = field(default_factory=list)


class GroupedForm(forms.BaseForm):
    """A few fields, then others under headings by `_form.html`, open for an error or an unusual value."""

    #: Heading -> its fields; `FIRST` is what the form begins with. The last also has what no group names.
    GROUPS: ClassVar[Mapping[str, Sequence[str]]] = {}
    #: Heading -> the tick box without which its other fields do not matter.
    TICKS: ClassVar[Mapping[str, str]] = {}
    #: Headings that are open in any case.
    OPEN: ClassVar[Collection[str]] = ()

    @property
    def groups(self) -> list[Group]:
        """The fields that are seen, by group; groups without a field are left out."""
        fields = {bound.name: bound for bound in self if not bound.is_hidden}
        named = {heading: [one for one in names if one in fields] for heading, names in self.GROUPS.items()}
        grouped = {name for names in named.values() for name in names}
        if named:
            named[list(named)[-1]].extend(name for name in fields if name not in grouped)
        return [
            self._group(heading, [fields[name] for name in names])
            for heading, names in named.items()
            if names
        ]

    def _group(self, heading: str, fields: list[BoundField]) -> Group:
        is_open = heading in (FIRST, *self.OPEN) or any(one.errors or _is_changed(one) for one in fields)
        tick = self.TICKS.get(heading)
        if tick is None:
            return Group(heading, fields, is_open)
        ticks = [one for one in fields if one.name == tick]
        return Group(heading, ticks, is_open, [one for one in fields if one.name != tick])


def _is_changed(bound: BoundField) -> bool:
    """The field holds something else than what it holds when nobody says anything."""
    value, usual = bound.value(), bound.field.initial
    if not value and value != 0 and not bound.field.required:
        return value is False and bool(usual)
    if isinstance(bound.field, forms.FileField):
        return False
    if isinstance(bound.field, forms.ModelChoiceField | forms.MultipleChoiceField):
        return bool(bound.field.has_changed(usual, value))
    return bool(_read(bound.field, value) != _read(bound.field, usual() if callable(usual) else usual))


def _read(shape: forms.Field, value: Any) -> Any:
    try:
        return shape.to_python(value)
    except forms.ValidationError:
        return value


class EditForm(forms.BaseForm):
    """A form filled with what is stored, which it carries along: a field that its person left alone keeps
    what somebody else stored meanwhile, and one that both changed is asked about.

    A call that carries nothing along changes what it names.
    """

    def carry(self) -> None:
        for name in self.initial:
            if name in self.fields:
                self.fields[name].show_hidden_initial = True

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        for name in [name for name in values if self.fields[name].show_hidden_initial]:
            bound = self[name]
            if bound.html_initial_name not in self.data:
                continue
            hidden = self.fields[name].hidden_widget()
            seen = hidden.value_from_datadict(self.data, self.files, bound.html_initial_name)
            stored = self.get_initial_for_field(self.fields[name], name)
            before, now, wanted = (_comparable(bound.field, value) for value in (seen, stored, bound.data))
            if wanted == before:
                values[name] = _read(bound.field, stored)
            elif now not in (before, wanted):
                self._ask(bound, stored)
        return values

    def _ask(self, bound: BoundField, stored: Any) -> None:
        """Refuse this once: somebody who saves again has seen what is stored now."""
        data = cast("QueryDict", self.data).copy()
        values = stored if isinstance(stored, list) else [bound.field.prepare_value(stored)]
        data.setlist(bound.html_initial_name, ["" if value is None else str(value) for value in values])
        self.data = data
        several = stored if isinstance(stored, list) else [stored]
        words = ", ".join(_words(bound.field, one) for one in several)
        text = f"“{Truncator(words).chars(MOST_REPEATED)}”" if stored not in (None, "", []) else "nothing"
        self.add_error(bound.name, f"Somebody changed this meanwhile, to {text}. Save again to replace it.")


def _words(shape: forms.Field, value: Any) -> str:
    """A value as the form says it."""
    if isinstance(shape, forms.BooleanField):
        return "yes" if value else "no"
    choices: Iterable[tuple[Any, Any]] = flatten_choices(getattr(shape, "choices", []))
    titles = {str(key): str(title) for key, title in choices}
    return titles.get(str(shape.prepare_value(value)), str(value))


def _comparable(shape: forms.Field, value: Any) -> Any:
    """A value of a field; lines end as they do in a form that was sent."""
    read = _read(shape, value)
    if isinstance(read, list):
        return sorted(read)
    return "\n".join(read.splitlines()) if isinstance(read, str) else read


def numbered_name(word: str, taken: Container[str]) -> str:
    """The first of “Pool 1”, “Pool 2”, … that is not taken.

    >>> numbered_name("Pool", {"Pool 1", "spring"})
    'Pool 2'
    """
    return next(name for number in count(1) if (name := f"{word} {number}") not in taken)
