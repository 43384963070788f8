"""Texts that not every database keeps: PostgreSQL has no NUL, and half a character no bytes in UTF-8."""

from __future__ import annotations

from typing import Any

REMEDY = "Remove it."
PROBLEM = f"contains a NUL or half a character. {REMEDY}"


def is_storable(text: str) -> bool:
    """Every database keeps the text.

    >>> [is_storable(text) for text in ("ü", "a\\0b", "\\ud800")]
    [True, False, False]
    """
    if text.isascii():
        return "\0" not in text
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def unstorable_in(value: Any, name: str = "") -> str | None:
    """The name of what holds such a text in a parsed JSON value, or None; keys are texts too.

    >>> unstorable_in({"name": "a", "metadata": {"note": ["\\0"]}})
    'note'
    """
    if isinstance(value, str):
        return None if is_storable(value) else name
    if isinstance(value, dict):
        inner = (
            key if not is_storable(key) else unstorable_in(each, key)
            for key, each in value.items()
            if isinstance(key, str)
        )
    elif isinstance(value, list | tuple):
        inner = (unstorable_in(each, name) for each in value)
    else:
        return None
    return next((holder for holder in inner if holder is not None), None)
