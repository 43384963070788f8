"""Serializers from the classes that say already what an answer holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from rest_framework import serializers

from pooling.interface.results import PAGE_ONLY

Field = serializers.Field[Any, Any, Any, Any]
Written = TypeVar("Written", bound=type[serializers.Serializer[Any]])

_SCALARS: dict[type, type[Field]] = {
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    str: serializers.CharField,
    date: serializers.DateField,
    datetime: serializers.DateTimeField,
    UUID: serializers.UUIDField,
}
shapes: dict[type, type[serializers.Serializer[Any]]] = {}


def shape(kind: type, name: str = "", more: Sequence[str] = ()) -> type[serializers.Serializer[Any]]:
    """The serializer of a TypedDict, NamedTuple or dataclass, always the same one.

    name: of the component in the schema, else that of the class. more: properties of it. `Annotated` adds to
    a key a help text (a string), options of its field (a dict; one with `choices` makes it a choice), or the
    type, `Literal` or serializer in place of its own.
    """
    if kind not in shapes:
        hints = get_type_hints(kind, include_extras=True)
        for key in more:
            hints[key] = get_type_hints(getattr(kind, key).fget, include_extras=True)["return"]
        fields = {
            key: _field(hint, {})
            for key, hint in hints.items()
            if all(PAGE_ONLY not in get_args(one) for one in (hint, *get_args(hint)))
        }
        attributes = {"__doc__": kind.__doc__, "__module__": kind.__module__}
        shapes[kind] = type(
            f"{name or kind.__name__}Serializer", (serializers.Serializer,), attributes | fields
        )
    return shapes[kind]


def shape_of(kind: type) -> Callable[[Written], Written]:
    """The decorated serializer is the shape of `kind`, a model say, wherever a class has one."""

    def kept(serializer: Written) -> Written:
        shapes[kind] = serializer
        return serializer

    return kept


def _field(hint: Any, options: dict[str, Any]) -> Field:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        kind, *added = inner
        for one in added:
            if isinstance(one, str):
                options["help_text"] = one
            elif isinstance(one, dict):
                options |= one
            else:
                kind = one | None if NoneType in get_args(kind) else one
        return _field(kind, options)
    if origin is NotRequired:
        return _field(inner[0], options | {"required": False})
    if origin in (Union, UnionType):
        (kept,) = [one for one in inner if one is not NoneType]
        return _field(kept, {"allow_null": True} | options)
    if "choices" in options:
        return serializers.ChoiceField(**options)
    if origin is Literal:
        return serializers.ChoiceField(choices=list(inner), **options)
    if origin in (list, tuple, Sequence):
        child = _kind(inner[0])
        if child in (Any, object):
            return serializers.ListField(**options)
        if child in _SCALARS or get_origin(child):
            return serializers.ListField(child=_field(inner[0], {}), **options)
        return _serializer(child)(many=True, **options)
    if origin in (dict, Mapping):
        has_any = inner[1] in (Any, object)
        return serializers.DictField(**options if has_any else {"child": _field(inner[1], {}), **options})
    return (_SCALARS.get(hint) or _serializer(hint))(**options)


def _kind(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _serializer(kind: type) -> type[serializers.Serializer[Any]]:
    return kind if issubclass(kind, serializers.Serializer) else shape(kind)
