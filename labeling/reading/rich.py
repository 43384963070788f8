"""Documents whose source is Markdown or HTML, as sanitised HTML with the words of the query marked.

Nothing of it runs, loads or leads anywhere: no scripts, styles, handlers, pictures or links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html import escape, unescape
from typing import Any

from pooling.interface.markdown import plain_html, safe_structure

#: Characters of the longest source that is shown as more than text: a batch of them is made for each claim.
LONGEST_SOURCE = 20_000
KINDS = {
    "markdown": "markdown",
    "md": "markdown",
    "text/markdown": "markdown",
    "html": "html",
    "text/html": "html",
}
#: Names in a document's metadata that say what its text is written in.
NAMES = ("format", "content_type", "mime_type")
# Sanitised HTML has tags without attributes alone, and "<" and ">" nowhere else.
_TAG = re.compile(r"(</?[a-z0-9]+>)")
_HEADING = re.compile(r"<(/?)h([1-5])>")

Marks = Callable[[str], Sequence[tuple[int, int]]]


def rich_html(text: str, metadata: Mapping[str, Any], marks: Marks) -> str | None:
    """HTML of a text whose metadata name its format, with what `marks` finds in its texts in `<mark>`; None
    for one that is plain or too long, or that has nothing to show.

    >>> rich_html("A *bus*.", {"format": "markdown"}, lambda text: [])
    '<p>A <em>bus</em>.</p>\\n'
    """
    kind = next((KINDS[name] for name in map(_named, map(metadata.get, NAMES)) if name in KINDS), None)
    if kind is None or len(text) > LONGEST_SOURCE:
        return None
    parts = _TAG.split(_structure(text, kind))
    html = "".join(part if _TAG.fullmatch(part) else _marked(unescape(part), marks) for part in parts)
    return html if _TAG.sub("", html).strip() else None


@lru_cache(maxsize=256)
def _structure(text: str, kind: str) -> str:
    """Sanitised HTML, each heading one level lower, for the title of the document is the first."""
    html = plain_html(text) if kind == "markdown" else text
    return _HEADING.sub(lambda found: f"<{found[1]}h{int(found[2]) + 1}>", safe_structure(html))


def _named(value: object) -> str:
    return value.split(";")[0].strip().lower() if isinstance(value, str) else ""


def _marked(text: str, marks: Marks) -> str:
    pieces, position = [], 0
    for start, end in marks(text):
        pieces += [escape(text[position:start]), f"<mark>{escape(text[start:end])}</mark>"]
        position = end
    return "".join([*pieces, escape(text[position:])])
