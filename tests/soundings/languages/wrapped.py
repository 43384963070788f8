"""A language for tests, in which every translated string stands in brackets, and what is found outside."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import polib

ROOT = Path(__file__).resolve().parents[3]
#: A language that the site has, for Django knows its names of months and days.
LANGUAGE = "de"
OPEN, CLOSE = "⟦", "⟧"
WORD = re.compile(r"[A-Za-z][a-z’']+")
SAID_IN = ("alt", "aria-label", "placeholder", "title")
WITHOUT_END = {"br", "img", "input", "link", "meta", "hr", "wbr"}
# Keys, code, what people wrote and names of languages.
NOT_OURS = {"kbd", "code", "script", "style", "bdi", "q", "datalist"}


def write_catalogues(folder: Path) -> None:
    """Catalogues in which each string is itself, in brackets."""
    for name in ("django", "djangojs"):
        catalogue = polib.pofile(str(ROOT / "locale" / LANGUAGE / "LC_MESSAGES" / f"{name}.po"))
        for entry in catalogue:
            if entry.msgid_plural:
                entry.msgstr_plural = {0: wrapped(entry.msgid), 1: wrapped(entry.msgid_plural)}
            else:
                entry.msgstr = wrapped(entry.msgid)
        target = folder / LANGUAGE / "LC_MESSAGES"
        target.mkdir(parents=True, exist_ok=True)
        catalogue.save_as_mofile(str(target / f"{name}.mo"))


def wrapped(text: str) -> str:
    return f"{OPEN}{text}{CLOSE}"


def left_outside(page: str, data: set[str]) -> list[str]:
    """Words that a page shows or says outside of brackets, and that are not words of `data`."""
    reader = _Reader()
    reader.feed(page)
    known = {word for text in data for word in WORD.findall(text)}
    return [text for text in reader.outside if set(WORD.findall(text)) - known]


class _Reader(HTMLParser):
    """What is read of a page, without what stands in brackets, which may go over several elements."""

    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self._depth = 0
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        self.outside += [_without_brackets(known[name] or "") for name in SAID_IN if name in known]
        is_theirs = tag in NOT_OURS or "dir" in known or ("lang" in known and tag != "html")
        if tag not in WITHOUT_END and (self._skipped or is_theirs):
            self._skipped.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._skipped and self._skipped[-1] == tag:
            self._skipped.pop()

    def handle_data(self, data: str) -> None:
        text = ""
        for character in data:
            self._depth += (character == OPEN) - (character == CLOSE)
            text += "" if self._depth or self._skipped or character == CLOSE else character
        self.outside.append(text.strip())


def _without_brackets(text: str) -> str:
    while (shorter := re.sub(rf"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}", "", text)) != text:
        text = shorter
    return text
