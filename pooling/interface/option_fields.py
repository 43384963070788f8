from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from django import forms

from pooling.heavy import serializers
from pooling.options import Option, options_of

FormClass = TypeVar("FormClass", bound=forms.Form)
SerializerClass = TypeVar("SerializerClass", bound="serializers.Serializer[Any]")
FORM_FIELDS: dict[type, type[forms.Field]] = {
    int: forms.IntegerField,
    float: forms.FloatField,
    str: forms.CharField,
    bool: forms.BooleanField,
}
SERIALIZER_FIELDS = {int: "IntegerField", float: "FloatField", str: "CharField", bool: "BooleanField"}


def form_fields(
    settings: type, *, but: Collection[str] = (), **changes: Mapping[str, Any]
) -> Callable[[type[FormClass]], type[FormClass]]:
    """A decorator that gives a form a field for each option of a settings class, save those in `but`.

    Fields that the form declares itself stay, and numbers by name are left to it. `changes`: by option,
    arguments of the field that are different in this form.
    """
    left_out = {one.name for one in options_of(settings).values() if one.kind in (dict, tuple)}.union(but)

    def add(form: type[FormClass]) -> type[FormClass]:
        for one in options_of(settings).values():
            if one.name not in left_out.union(form.declared_fields):
                field = form_field(one, **changes.get(one.name, {}))
                form.declared_fields[one.name] = field
        return form

    return add


def form_field(one: Option, **changes: Any) -> forms.Field:
    """The field of a form; an option with a default may be left empty."""
    shared = {
        "label": one.title,
        "help_text": one.form_help,
        "required": one.is_required,
        "initial": _initial(one),
        **_bounds(one),
        **changes,
    }
    if one.choices is None:
        return FORM_FIELDS[one.kind](**shared)
    offered = list(one.choices.items()) if isinstance(one.choices, Mapping) else one.choices
    return forms.ChoiceField(**{"choices": offered, **shared})


def _initial(one: Option) -> Any:
    """A form's initial value; a share of 0 is "0"."""
    if one.initial is not None or one.is_required:
        return one.initial
    return f"{one.default:g}" if isinstance(one.default, float) else one.default


def serializer_fields(
    settings: type,
    *,
    filled: bool = True,
    nullable: bool = True,
    bounded: bool = True,
    but: Collection[str] = (),
    **changes: Mapping[str, Any],
) -> Callable[[type[SerializerClass]], type[SerializerClass]]:
    """Fields of a serializer; `filled`, `nullable` and `bounded` as in `serializer_field`."""
    how = {"filled": filled, "nullable": nullable, "bounded": bounded}
    left_out = {one.name for one in options_of(settings).values() if one.kind is tuple}.union(but)

    def add(serializer: type[SerializerClass]) -> type[SerializerClass]:
        declared = serializer._declared_fields
        for one in options_of(settings).values():
            if one.name not in left_out.union(declared):
                declared[one.name] = serializer_field(one, **how, **changes.get(one.name, {}))
        return serializer

    return add


def serializer_field(
    one: Option, *, filled: bool = True, nullable: bool = True, bounded: bool = True, **changes: Any
) -> serializers.Field[Any, Any, Any, Any]:
    """The field of a serializer.

    filled: what a call leaves out has its default; otherwise no option is required, and what is left out
    stays out. nullable: a call may say null for an option without a value. If not `bounded`, bounds and
    choices are left to the code that takes the values.
    """
    bounds = _bounds(one) if bounded else {}
    absent = _absent(one, filled, nullable)
    shared = {"help_text": _call_help(one, bounded, nullable, absent), **absent, **changes}
    if one.kind is dict:
        return serializers.DictField(child=serializers.IntegerField(**bounds), **shared)
    if isinstance(one.choices, Mapping) and bounded:
        return serializers.ChoiceField(choices=list(one.choices.items()), **shared)
    of_kind: type[serializers.Field[Any, Any, Any, Any]] = getattr(serializers, SERIALIZER_FIELDS[one.kind])
    return of_kind(**bounds, **shared)


def _call_help(one: Option, bounded: bool, nullable: bool, absent: Mapping[str, Any]) -> str | None:
    """Beyond what the schema says by itself: choices that are not bounds, and what an absent value means."""
    parts = [one.about or one.help]
    if isinstance(one.choices, Mapping) and not bounded:
        parts.append(f"One of {', '.join(one.choices)}.")
    if one.without and absent.get("default") is None:
        parts.append(f"{'Null' if nullable else 'If absent'}: {one.without}.")
    return " ".join(filter(None, parts)) or None


def _absent(one: Option, filled: bool, nullable: bool) -> dict[str, Any]:
    if filled and one.is_required:
        return {}
    if filled and one.default is not None:
        return {"default": dict if one.kind is dict else one.default}
    null = {"allow_null": True} if nullable else {}
    return {**null, "default": None} if filled and nullable else {**null, "required": False}


def _bounds(one: Option) -> dict[str, Any]:
    bounds = {"min_value": one.minimum, "max_value": one.maximum}
    return {name: value for name, value in bounds.items() if value is not None}
