"""Bounds on JSON from outside: nested no deeper than what reads it can go, and texts in whole characters."""

from __future__ import annotations

import json
import re
from typing import Any

DEEPEST = 100
TOO_DEEP = "nested too deeply"
#: Half of a surrogate pair can only come as an escape: bytes that stand for one are not UTF-8.
HALF = re.compile(r"\\u[dD][89a-fA-F]")


class NestedTooDeeplyError(ValueError):
    """JSON with more than `DEEPEST` lists and objects within each other."""

    def __init__(self) -> None:
        super().__init__(TOO_DEEP)


class HalfCharacterError(ValueError):
    """A text in JSON with an escape of half a character, which no file and no database can hold."""

    def __init__(self) -> None:
        super().__init__("contains half a character")


def loads(text: str, **options: Any) -> Any:
    """`json.loads`, for which text from outside may be nested as deeply as it likes.

    >>> loads("[" * 101 + "]" * 101)
    Traceback (most recent call last):
    ...
    pooling.formats.bytes.nesting.NestedTooDeeplyError: nested too deeply
    """
    try:
        value = json.loads(text, **options)
    except RecursionError:
        raise NestedTooDeeplyError from None
    # Hardly any text has this many brackets, and these are counted quickly.
    if text.count("[") + text.count("{") > DEEPEST:
        refuse_deeper(value)
    refuse_halves(value, text)
    return value


def refuse_halves(value: Any, text: str) -> None:
    """`HalfCharacterError` where a key or a text of what `text` was parsed to holds half a character."""
    if not HALF.search(text):
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise HalfCharacterError from None


def refuse_deeper(value: Any) -> None:
    """`NestedTooDeeplyError` where a parsed value is too deep."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    if any(isinstance(inner, list | dict) for inner in level):
        raise NestedTooDeeplyError


def problem_of(error: ValueError, remedy: str) -> tuple[str, str]:
    """Error and remedy for a text that `loads` refused; `remedy` where it is not JSON.

    >>> problem_of(HalfCharacterError(), "Write one object per line.")
    ('contains half a character', 'Fix the program that wrote it.')
    """
    if isinstance(error, HalfCharacterError):
        return str(error), "Fix the program that wrote it."
    return f"not JSON ({reason_of(error)})", remedy


def reason_of(error: ValueError) -> str:
    """Why a text is no JSON; Python also refuses whole numbers of more than a few thousand digits.

    >>> try:
    ...     loads('{"q1": {"d1": 2.5, "d')
    ... except ValueError as error:
    ...     reason_of(error)
    'it ends in the middle'
    """
    if isinstance(error, json.JSONDecodeError):
        return "it ends in the middle" if is_cut(error) else error.msg
    return TOO_DEEP if isinstance(error, NestedTooDeeplyError) else "a number with too many digits"


def is_cut(error: json.JSONDecodeError) -> bool:
    """The text ended too early."""
    return error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated")
