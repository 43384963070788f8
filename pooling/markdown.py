"""The one place where Markdown that people wrote becomes HTML: rendered, then sanitised."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

TAGS = {
    *(
        "a",
        "b",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "kbd",
    ),
    *("li", "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}


def render_markdown(text: str) -> SafeString:
    """HTML of a Markdown text: no scripts, styles, images or raw HTML; links do not tell where from."""
    import nh3

    html = nh3.clean(
        _parser().render(text),
        tags=TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
    return mark_safe(html)  # noqa: S308  cleaned in the line above


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
