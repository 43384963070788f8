"""The forms that pages show, read from their HTML as a browser reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from typing import Any

from django.test import Client
from django.urls import Resolver404, resolve

from tests.soundings.everywhere.one_of_each import OneOfEach
from tests.soundings.everywhere.test_who_may import ADDRESSES, ROWS, address_of

#: What a person would write into fields that are empty.
WRITTEN = {
    "email": "x@example.org",
    "number": "1",
    "password": "a new passphrase",
    "url": "https://x.example/",
}


@dataclass
class Form:
    """A form: where it leads, what its fields hold, and what may be chosen instead."""

    name: str
    address: str
    method: str
    values: dict[str, list[str]] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)

    def note(self, name: str, kind: str, value: str, is_chosen: bool) -> None:
        """Take in a field, or one of its choices."""
        if kind != "file":
            self.choices.setdefault(name, []).append(value)
            if is_chosen:
                self.values.setdefault(name, []).append(value)


class Forms(HTMLParser):
    """Collects the forms of a page."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.found: list[Form] = []
        self.by_id: dict[str | None, Form] = {}
        self.form: Form | None = None
        self.inside: tuple[Form, str, str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            action = given.get("action") or self.address
            self.form = Form(_name_of(action), action, given.get("method", "get").lower())
            self.found.append(self.form)
            if "id" in given:
                self.by_id[given["id"]] = self.form
        form = self.by_id.get(given.get("form")) or self.form
        name, kind, value = given.get("name", ""), given.get("type", ""), given.get("value", "")
        if tag == "option" and self.inside:
            self.inside[0].note(self.inside[1], tag, value, "selected" in given)
        if form is None or name in ("", "csrfmiddlewaretoken"):
            return
        if tag in ("select", "textarea"):
            self.inside = form, name, ""
        elif tag == "input" and kind in ("checkbox", "radio"):
            form.note(name, kind, value, "checked" in given)
        elif tag == "input":
            form.note(name, kind, value or ("required" in given) * WRITTEN.get(kind, "word"), True)
        elif tag == "button":
            form.note(name, kind, value, name not in form.values)

    def handle_data(self, data: str) -> None:
        if self.inside:
            form, name, text = self.inside
            self.inside = form, name, text + data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        elif tag == "textarea" and self.inside:
            form, name, text = self.inside
            form.note(name, tag, text.removeprefix("\n"), True)
        if tag in ("select", "textarea"):
            self.inside = None


def _name_of(address: str) -> str:
    try:
        return str(resolve(address.partition("?")[0].partition("#")[0]).url_name)
    except Resolver404:
        return ""


def pages(one_of_each: OneOfEach, person: int) -> Iterator[str]:
    """The addresses of pages that somebody reads; `person` is a column of the table of who may do what."""
    for name, pattern in ADDRESSES.items():
        if not name.startswith("api_") and ROWS.get(("GET", name), [""] * 5)[person] == "200":
            yield address_of(pattern, one_of_each)


@cache
def forms_of(client: Client, address: str) -> list[Form]:
    """The forms of a page that lead to this site. Each test finds the page as the one before did."""
    answer: Any = client.get(address)
    if answer.streaming:
        b"".join(answer.streaming_content)
    if "html" not in answer.get("Content-Type", ""):
        return []
    reader = Forms(address)
    reader.feed(answer.content.decode())
    return [form for form in reader.found if form.name]
