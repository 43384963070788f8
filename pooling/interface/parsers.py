"""How the HTTP interface reads bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from pooling.formats.bytes.nesting import DEEPEST, NestedTooDeeplyError, refuse_deeper


class ShallowJSONParser(JSONParser):
    """Refuses what is nested so deeply that it could be read, but not checked or stored."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """The body; `ParseError` (400) where it is no JSON or has more than `DEEPEST` levels."""
        try:
            value = super().parse(stream, media_type, parser_context)
            refuse_deeper(value)
        except (RecursionError, NestedTooDeeplyError):
            raise ParseError(f"The JSON is nested too deeply; it has more than {DEEPEST} levels.") from None
        return value
