"""Requests with places for what changes from query to query: `{{query}}`, `{{k}}` and `{{vector}}`.

A body is read as JSON before anything is put in, so no query can end a string or add a field. In an address,
what is put in is percent-encoded. A place outside a string is a whole value: `"size": {{k}}` is a number.
`{{query|json}}` is the query as a JSON string with its quotes, for a language within a string, as GraphQL.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

# Up to the next pair of braces, so that no character is looked at more than twice. A possessive `*+` around
# these finds nothing in early versions of Python 3.11, such as Debian 12's.
_IN_PLACE = r"(?<!\{)\{\{(\{*(?:[^{}]|\{(?!\{)|\}(?!\}))*)\}\}"
PLACE = re.compile(_IN_PLACE)
# A JSON string, which is left alone also where it has no end, or a place outside of one.
_STRING_OR_PLACE = re.compile(rf'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|{_IN_PLACE}', re.DOTALL)
IN_ADDRESS = ("query", "k")
IN_BODY = ("query", "query|json", "k", "vector")
# What is a credential in an address, whatever its value.
SECRET_NAMES = re.compile(r"(?i)^(api[-_]?key|key|token|access[-_]?token|auth|password|secret|sig)$")

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class TemplateError(ValueError):
    """A template that cannot be used; the message says why and what to write."""


@dataclass(frozen=True)
class Question:
    text: str
    k: int
    vector: Sequence[float] | None = None


def places_in(template: str) -> list[str]:
    """Names of the places of a template, in their order.

    >>> places_in("https://host/find?q={{ query }}&n={{k}}")
    ['query', 'k']
    """
    return [place.strip() for place in PLACE.findall(template)]


def checked_address(template: str) -> str:
    """The template of an address without surrounding space; `TemplateError` for what will not do."""
    template = template.strip()
    bare = PLACE.sub("0", template)
    try:
        parts = urlsplit(bare)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), 0
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise TemplateError("An address begins with https:// or http:// and names a host.")
    if origin_of(bare) != origin_of(template):
        raise TemplateError("The host of an address cannot depend on the query.")
    if parts.username or parts.password:
        raise TemplateError("The address contains a user name or password. Save the key in its own field.")
    if any(ord(character) <= 32 or ord(character) > 126 for character in bare):
        raise TemplateError("The address contains a space or a non-ASCII character. Percent-encode it.")
    if parts.fragment:
        raise TemplateError("An address has no # part. Remove it.")
    for pair in parts.query.split("&"):
        if SECRET_NAMES.match(name := pair.partition("=")[0]):
            raise TemplateError(
                f"“{name}” in the address looks like a key. Save it in the field for the key."
            )
    _check_places(template, IN_ADDRESS, "an address")
    return template


def origin_of(address: str) -> str:
    """Scheme, host and port of an address: where a key goes."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}".lower()


def filled_address(template: str, question: Question) -> str:
    """The address for a question, each value percent-encoded.

    >>> filled_address("http://host/find?q={{query}}&n={{k}}", Question("a & b/c", 10))
    'http://host/find?q=a%20%26%20b%2Fc&n=10'
    """
    values = {"query": question.text, "k": str(question.k)}
    return PLACE.sub(lambda place: quote(values[place[1].strip()], safe=""), template)


def checked_body(template: str) -> str:
    """The template of a body; `TemplateError` for what is not JSON around its places."""
    template = template.strip()
    if template:
        _check_places(template, IN_BODY, "a body")
        if not any("query" in place or place == "vector" for place in places_in(template)):
            raise TemplateError("The body has no {{query}}, so every query would be the same request.")
        parsed_body(template)
    return template


def parsed_body(template: str) -> Json:
    quoted = _STRING_OR_PLACE.sub(
        lambda match: match[0] if match[1] is None else json.dumps(match[0]), template
    )
    try:
        parsed: Json = json.loads(quoted)
    except RecursionError:
        raise TemplateError("The body is nested too deeply.") from None
    except ValueError as error:
        raise TemplateError(f"The body is not JSON: {error}.") from None
    return parsed


def filled_body(parsed: Json, question: Question) -> bytes:
    """The bytes of a body for a question; `TemplateError` where it wants a vector that the query lacks.

    >>> filled_body({"q": "{{query}}", "n": "{{k}}"}, Question('say "hi"', 10))
    b'{"q": "say \\\\"hi\\\\"", "n": 10}'
    """
    return json.dumps(_filled(parsed, question), ensure_ascii=False).encode(errors="replace")


def _filled(value: Json, question: Question) -> Json:
    if isinstance(value, str):
        whole = PLACE.fullmatch(value)
        if whole:
            return _whole(whole[1].strip(), question)
        return PLACE.sub(lambda one: _text(one[1].strip(), question), value)
    if isinstance(value, list):
        return [_filled(one, question) for one in value]
    if isinstance(value, dict):
        return {name: _filled(one, question) for name, one in value.items()}
    return value


def _whole(place: str, question: Question) -> Json:
    """A value that is a place and nothing else keeps its type."""
    if place == "k":
        return question.k
    if place == "vector":
        return list(_vector(question))
    return _text(place, question)


def _text(place: str, question: Question) -> str:
    if place == "vector":
        return json.dumps(list(_vector(question)))
    if place == "query|json":
        return json.dumps(question.text, ensure_ascii=False)
    return question.text if place == "query" else str(question.k)


def _vector(question: Question) -> Sequence[float]:
    if question.vector is None:
        raise TemplateError("The query has no vector: a list of numbers under “vector” in its metadata.")
    return question.vector


def _check_places(template: str, allowed: Sequence[str], where: str) -> None:
    strange = next((place for place in places_in(template) if place not in allowed), None)
    if strange is not None:
        places = ", ".join(f"{{{{{place}}}}}" for place in allowed)
        raise TemplateError(f"“{{{{{strange[:60]}}}}}” has no value in {where}; it can hold {places}.")
