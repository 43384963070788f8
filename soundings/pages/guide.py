"""The user guide: Markdown files of templates/docs/ in one order, open to everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.html import strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from pooling.interface.markdown import render_markdown

PAGES = {
    "start": "Start here",
    "inputs": "What goes in",
    "pooling": "Pooling",
    "strategies": "Strategies",
    "judging": "Judging",
    "adaptive": "Adaptive queues",
    "extending": "Extending a pool",
    "quality": "Quality",
    "prelabels": "Pre-labels",
    "qrels": "Qrels",
    "recall": "Honest recall",
    "facts": "Facts",
    "chunks": "Chunks",
    "log": "From the log to the report",
    "interleaving": "Interleaving",
    "notebooks": "Python and notebooks",
    "indexes": "Approximate indexes",
    "engines": "Engines",
    "canaries": "Canaries",
    "people": "People",
    "scale": "Large runs",
    "commands": "Commands",
    "api": "HTTP interface",
    "ci": "In CI",
    "settings": "Settings",
    "upkeep": "Back up and upgrade",
    "operating": "Operating a site",
    "words": "Words",
    "architecture": "Architecture",
}


@dataclass(frozen=True)
class GuidePage:
    name: str
    title: str
    text: str


def guide_page(name: str) -> GuidePage:
    """Read a page of the guide; `KeyError` for a name that is none of `PAGES`."""
    title = PAGES[name]
    path = settings.ASSETS_DIR / "templates" / "docs" / f"{name}.md"
    return GuidePage(name, title, path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Section:
    """A part of a page under its own heading, as plain text; `anchor` is empty where the page begins."""

    page: str
    heading: str
    anchor: str
    text: str

    def excerpt(self, words: list[str], length: int) -> str:
        """About `length` characters of the text, from the sentence on that has one of `words` first."""
        places = [at for word in words if (at := self.text.casefold().find(word)) >= 0]
        start = self.text.rfind(". ", 0, min(places)) + 1 if places else 0
        rest = self.text[start:].strip()
        return rest if len(rest) <= length else f"{rest[:length].rpartition(' ')[0]} …"


@cache
def sections() -> tuple[Section, ...]:
    return tuple(section for name in PAGES for section in _sections_of(guide_page(name)))


def _sections_of(page: GuidePage) -> Iterator[Section]:
    # Code is indented, so a line that begins with two signs is a heading.
    beginning, *parts = re.split(r"^###? ", page.text, flags=re.MULTILINE)
    yield Section(page.name, page.title, "", _plain(beginning.partition("\n")[2]))
    for part in parts:
        heading, _, text = part.partition("\n")
        yield Section(page.name, _plain(heading), slugify(_plain(heading)), _plain(text))


def _plain(markdown: str) -> str:
    """The words without the signs of Markdown: links, code, emphasis, tables."""
    words = re.sub(r"\]\([^()\n]*\)|[`*\[]", "", markdown)
    return " ".join(re.sub(r"\||^[#>-]+ |-{3,}", " ", words, flags=re.MULTILINE).split())


def with_anchors(html: SafeString) -> SafeString:
    """The page with an id on each heading, made from its words, so that links can lead to it."""
    return mark_safe(  # noqa: S308  only ids are added, of letters, digits and hyphens
        re.sub(
            r"<(h[23])>(.*?)</h",
            lambda match: f'<{match[1]} id="{slugify(strip_tags(match[2]))}">{match[2]}</h',
            html,
        )
    )


def with_focus(html: SafeString) -> SafeString:
    """Code and tables are reached by the keyboard, to scroll what is wider than the page."""
    page = html.replace("<pre>", '<pre tabindex="0">')
    page = page.replace("<table>", '<div class="table-wrap" tabindex="0"><table>')
    return mark_safe(page.replace("</table>", "</table></div>"))  # noqa: S308  only markup of ours is added


@require_safe
def guide(request: HttpRequest, page: str = "") -> HttpResponse:
    if not page:
        return redirect("guide_page", "start")
    if page not in PAGES:
        raise Http404(f"The guide has no page “{page}”.")
    content = guide_page(page)
    html = with_focus(with_anchors(render_markdown(content.text, pictures=True)))
    context = {"page": content, "pages": PAGES, "html": html}
    return render(request, "soundings/guide.html", context)
