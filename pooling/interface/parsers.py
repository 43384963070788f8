"""Bodies of the HTTP interface: what no database keeps is refused before any call sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.http import QueryDict
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import JSONParser

from pooling.formats.bytes.nesting import DEEPEST, NestedTooDeeplyError, refuse_deeper
from pooling.formats.bytes.storable import PROBLEM, unstorable_in

Context = Mapping[str, Any]


class ShallowJSONParser(JSONParser):
    """Refuses what could be read, but not checked or stored."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Context | None = None
    ) -> Any:
        """The body; `ParseError` (400) where it is no JSON or has more than `DEEPEST` levels."""
        try:
            value = super().parse(stream, media_type, parser_context)
            refuse_deeper(value)
        except (RecursionError, NestedTooDeeplyError):
            raise ParseError(f"The JSON is nested too deeply; it has more than {DEEPEST} levels.") from None
        # Of a list each element is checked by itself: one that is refused leaves the others alone.
        return value if isinstance(value, list) else storable(value)


def storable(body: Any) -> Any:
    """The body itself; `ValidationError` (400) names the field that holds a NUL or half a character."""
    name = unstorable_in(dict(body.lists()) if isinstance(body, QueryDict) else body)
    if name is not None:
        raise ValidationError({name: f"This {PROBLEM}"} if name else f"This {PROBLEM}")
    return body
