"""Documents whose source is Markdown or HTML, as sanitised HTML with the words of the query marked.

Nothing of it runs or leads anywhere: no scripts, styles, handlers or links. It loads the images that the
collection allows, and nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html import escape, unescape
from typing import Any, NamedTuple

from labeling.judging.images import with_images
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
# Sanitised HTML has tags without attributes, images with escaped ones, and "<" and ">" nowhere else.
_TAG = re.compile(r'(</?[a-z0-9]+>|<img(?: [a-z]+="[^"]*")*>)')
_HEADING = re.compile(r"<(/?)h([1-5])>")

# Tags that end no line, and so no sentence.
_INSIDE_LINES = re.compile(r"</?(?:b|code|del|em|i|kbd|s|strong)>")

Span = tuple[int, int]
Marks = Callable[[str], Sequence[Span]]
#: The span of a text that stands out as a whole, by its marks; None for none.
Strongest = Callable[[str, Sequence[Span]], Span | None]


def rich_html(
    text: str,
    metadata: Mapping[str, Any],
    marks: Marks,
    *,
    strongest: Strongest = lambda text, marks: None,
    image_hosts: Sequence[str] = (),
) -> str | None:
    """HTML of a text whose metadata name its format, with the images of `image_hosts`. What `marks` finds in
    what is read is in `<mark>`, the sentence that `strongest` finds there in a span of another class. None
    for a text that is plain or too long, or that has nothing to show.

    >>> rich_html("A *bus*.", {"format": "markdown"}, lambda text: [])
    '<p>A <em>bus</em>.</p>\\n'
    """
    kind = next((KINDS[name] for name in map(_named, map(metadata.get, NAMES)) if name in KINDS), None)
    if kind is None or len(text) > LONGEST_SOURCE:
        return None
    parts = _TAG.split(_structure(text, kind, tuple(image_hosts)))
    # Texts and the tags after them, in turn.
    pieces = list(zip(map(unescape, parts[::2]), [*parts[1::2], ""], strict=True))
    # A line ends with its element, not where the source breaks it.
    read = "".join(text.replace("\n", " ") + _end(tag) for text, tag in pieces)
    spans = list(marks(read))
    whole = "".join(text + _end(tag) for text, tag in pieces)
    painted = _Painted(whole, spans, strongest(read, spans))
    html, place = "", 0
    for text, tag in pieces:
        html += painted.html(place, place + len(text)) + tag
        place += len(text + _end(tag))
    return html if "<img" in html or _TAG.sub("", html).strip() else None


@lru_cache(maxsize=256)
def _structure(text: str, kind: str, image_hosts: tuple[str, ...]) -> str:
    """Sanitised HTML, each heading one level lower, for the title of the document is the first."""
    html = plain_html(text) if kind == "markdown" else text
    structure = with_images(safe_structure(html), image_hosts)
    return _HEADING.sub(lambda heading: f"<{heading[1]}h{int(heading[2]) + 1}>", structure)


def _named(value: object) -> str:
    return value.split(";")[0].strip().lower() if isinstance(value, str) else ""


def _end(tag: str) -> str:
    return "" if not tag or _INSIDE_LINES.fullmatch(tag) else "\n"


class _Painted(NamedTuple):
    """One text as it is shown, with ascending marks and the sentence that stands out."""

    text: str
    marks: list[Span]
    sentence: Span | None

    def html(self, start: int, end: int) -> str:
        first, last = self.sentence or (end, end)
        first, last = min(max(first, start), end), max(min(last, end), start)
        inside = self._marked(first, last)
        if not self.text[first:last].strip():
            return self._marked(start, end)
        tinted = f'<span class="judging-sentence">{inside}</span>'
        return self._marked(start, first) + tinted + self._marked(last, end)

    def _marked(self, start: int, end: int) -> str:
        pieces, position = [], start
        for place in range(bisect_right(self.marks, start, key=lambda mark: mark[1]), len(self.marks)):
            first, last = max(self.marks[place][0], start), min(self.marks[place][1], end)
            if first >= end:
                break
            pieces += [escape(self.text[position:first]), f"<mark>{escape(self.text[first:last])}</mark>"]
            position = last
        return "".join([*pieces, escape(self.text[position:end])])
