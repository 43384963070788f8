"""The one place where Markdown that people wrote becomes HTML: rendered, then sanitised."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

#: Characters of the longest text that is rendered. The parser fills up the rows of tables, and takes more
#: than twice as long for twice the text: 88,000 characters kept a page waiting for seconds.
LONGEST_MARKDOWN = 40_000
#: Texts whose HTML is kept in memory, a megabyte each at the most.
KEPT_TEXTS = 32

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

_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")

_HEADING = re.compile(r"#{1,6}[ \t]")

LINKS = {"a": {"href", "title"}, "ol": {"start"}}
PICTURE = {"img": {"src", "alt"}}


def render_markdown(text: str, *, pictures: bool = False) -> SafeString:
    """HTML of a Markdown text: no scripts, styles or raw HTML; links do not tell where from.

    pictures: show images too, for texts of ours; those of others could tell a stranger who reads them.
    A process renders a text once; one of more than `LONGEST_MARKDOWN` characters is shown as it is.
    """
    return _rendered(text, pictures) if len(text) <= LONGEST_MARKDOWN else format_html("<pre>{}</pre>", text)


def beginning_of(text: str, most: int) -> str:
    """The first paragraphs of a Markdown text: at most `most` characters, but at least one paragraph, and no
    heading whose text is cut off.

    >>> beginning_of("# Rules\\n\\nHelp.\\n\\nMore.", 15)
    '# Rules\\n\\nHelp.'
    """
    text = text.strip()
    ends = [match.start() for match in _BLANK_LINES.finditer(text)]
    if len(text) <= most or not ends:
        return text
    beginning = text[: max((end for end in ends if end <= most), default=ends[0])]
    return _without_last_headings(beginning)


def _without_last_headings(text: str) -> str:
    lines = text.split("\n")
    while len(lines) > 1 and (_HEADING.match(lines[-1]) or not lines[-1].strip()):
        lines.pop()
    return "\n".join(lines).rstrip()


@lru_cache(maxsize=KEPT_TEXTS)
def _rendered(text: str, pictures: bool) -> SafeString:
    import nh3

    html = nh3.clean(
        _parser().render(text),
        tags=TAGS | PICTURE.keys() if pictures else TAGS,
        attributes=LINKS | PICTURE if pictures else LINKS,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
    return mark_safe(html)  # noqa: S308  cleaned in the line above


def plain_html(text: str) -> str:
    """HTML of a Markdown text, before `safe_structure` has sanitised it."""
    html: str = _parser().render(text)
    return html


def safe_structure(html: str) -> str:
    """Headings, paragraphs, lists, tables and code of any HTML; of images address and alternative text."""
    import nh3

    tags = TAGS - {"a"} | PICTURE.keys()
    return nh3.clean(html, tags=tags, attributes={"*": set(), **PICTURE}, url_schemes={"https"})


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
