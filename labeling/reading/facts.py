"""What the metadata of a document say about it that helps to judge it: when, from whom, from where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Under which names metadata have it, in the order in which it is shown. Nothing else is: metadata may hold
#: ranks, scores or answers.
FACTS: dict[str, tuple[str, ...]] = {
    "Date": ("date", "published", "published_at"),
    "Source": ("source", "site", "publisher"),
    "Author": ("author", "authors"),
    "URL": ("url",),
}
LONGEST_FACT = 300


def facts_of(metadata: Mapping[str, Any]) -> list[str]:
    """Date, source, author and URL, as far as they are known, as plain text.

    >>> facts_of({"url": "https://example.org", "date": "2026-03-04", "score": 3})
    ['2026-03-04', 'https://example.org']
    """
    found = (
        next((text for name in names if (text := _text(metadata.get(name)))), "") for names in FACTS.values()
    )
    return [text for text in found if text]


def _text(value: object) -> str:
    if isinstance(value, list):
        value = ", ".join(one for one in value if isinstance(one, str))
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_FACT else f"{text[:LONGEST_FACT]} …"
