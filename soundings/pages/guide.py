"""The user guide: Markdown files in templates/docs/, in one order.

Its pages are open to everybody, since they say nothing about anybody's collection.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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
    "settings": "Settings",
    "operating": "Operating a site",
    "words": "Words",
    "architecture": "Architecture",
}


@dataclass(frozen=True)
class GuidePage:
    """One page of the guide: its name in the address, its title, its Markdown."""

    name: str
    title: str
    text: str


def guide_page(name: str) -> GuidePage:
    """Read a page of the guide; `KeyError` for a name that is none of `PAGES`."""
    title = PAGES[name]
    path = settings.ASSETS_DIR / "templates" / "docs" / f"{name}.md"
    return GuidePage(name, title, path.read_text(encoding="utf-8"))


def with_anchors(html: SafeString) -> SafeString:
    """The page with an id on each heading, made from its words, so that links can lead to it."""
    return mark_safe(  # noqa: S308  only ids are added, of letters, digits and hyphens
        re.sub(
            r"<(h[23])>(.*?)</h",
            lambda found: f'<{found[1]} id="{slugify(strip_tags(found[2]))}">{found[2]}</h',
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
    """One page of the guide next to the list of all; without a name, go to the first."""
    if not page:
        return redirect("guide_page", "start")
    if page not in PAGES:
        raise Http404(f"The guide has no page “{page}”.")
    shown = guide_page(page)
    html = with_focus(with_anchors(render_markdown(shown.text, pictures=True)))
    context = {"page": shown, "pages": PAGES, "html": html}
    return render(request, "soundings/guide.html", context)
