"""The user guide: Markdown files in templates/docs/, in one order."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

PAGES = {
    "start": "Start here",
    "pooling": "Pooling",
    "strategies": "Strategies",
    "judging": "Judging",
    "adaptive": "Adaptive queues",
    "extending": "Extending a pool",
    "quality": "Quality",
    "prelabels": "Pre-labels",
    "qrels": "Qrels",
    "recall": "Honest recall",
    "indexes": "Approximate indexes",
    "canaries": "Canaries",
    "people": "People",
    "scale": "Large runs",
    "commands": "Commands",
    "api": "HTTP interface",
    "settings": "Settings",
    "words": "Words",
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
