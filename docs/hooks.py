"""What MkDocs is told while it builds the guide: its pages and their order, and the reference for Python."""

from __future__ import annotations

import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import evaluation
import soundings
from docs.draw_map import PICTURE
from soundings.pages.guide import PAGES

FIRST = next(iter(PAGES))
LINK = re.compile(r"\]\(\.\./(\w+)/(#[\w-]+)?\)")


def on_config(config: MkDocsConfig) -> None:
    """Take the order of the pages from the site."""
    config.nav = [{title: _file(name)} for name, title in PAGES.items()] + [{"Python": "python.md"}]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Make the first page the site's own first page, and add the reference and the map."""
    first = files.src_uris[f"{FIRST}.md"]
    files.remove(first)
    files.append(File.generated(config, "index.md", content=first.content_string))
    files.append(File.generated(config, "python.md", content=reference()))
    files.append(File.generated(config, PICTURE.name, abs_src_path=str(PICTURE)))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to pages name their files, so that MkDocs finds those that lead nowhere."""
    linked = LINK.sub(lambda found: f"]({_file(found[1])}{found[2] or ''})", markdown)
    return linked.replace(f"../../static/{PICTURE.name}", PICTURE.name)


def _file(name: str) -> str:
    return "index.md" if name == FIRST else f"{name}.md"


def reference() -> str:
    """The page with every public name; MkDocs puts the docstrings in."""
    parts = ["# Python", "Functions for programs and notebooks; they need no site and no database."]
    shown = {"__version__"}
    for package in (soundings, evaluation):
        names = [name for name in package.__all__ if name not in shown]
        shown.update(names)
        parts += [f"## `{package.__name__}`", *(f"::: {package.__name__}.{name}" for name in names)]
    return "\n\n".join(parts) + "\n"
