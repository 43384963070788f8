"""Turns of phrase that may not come back; the section "Voice" of CONTRIBUTING.md says what to write instead.

A new place is one line of `PLACES`; a new phrase is one line of `PHRASES`. At the end: how long lines of
templates may be.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from docs.rooms import PACKAGES, ROOT, modules, tree_of

PLACES = [
    "README.md",
    "CONTRIBUTING.md",
    "templates/docs/*.md",
    "templates/*.html",
    "templates/*/*.html",
    "static/**/*.js",
    "pooling/**/*.py",
    "labeling/**/*.py",
    "evaluation/**/*.py",
    "soundings/**/*.py",
]

# What was found, as a pattern, and what to write.
PHRASES = {
    r"\bthis is no\b": "not a …",
    r"\banew\b": "again",
    r"\bwhoever\b": "the person who, anyone who",
    r"\bheld against\b": "checked, compared, measured",
    r"\bhangs? on (it|them|this)\b": "depends on",
    r"\bparted (by|into)\b": "separated by, split into",
    r"\b(a|an|any|another|no) [\w-]+ of (its|their|your|his|her|one's) own\b": "its own …, a separate …",
    r"\bbehind your back\b": "in the background",
    r"\b(take|takes|taken) away\b": "download, remove",
    r"\bso many\b": "that many, up to …",
    r"\b(is|are|was|were) told\b": "say who tells: the page shows, you see, see …",
    r"\bit is said\b": "say who says it",
    r"\bbeside\b": "next to, with",
    r"\bstands? (there|under|beside|with every)\b": "is, is shown, is listed",
    r"\bunless you say otherwise\b": "by default",
    r"\bwhere nothing (else )?is said\b": "by default",
    r"\bas ever\b": "as always, or leave it out",
    r"\bthe way of the data\b": "from runs to a report",
}
# All begin with a word, so nothing else is tried at the places between.
FORBIDDEN = re.compile(rf"\b(?:{'|'.join(PHRASES)})", re.IGNORECASE)
# Not text that people read: code, template tags, and the examples of the voice itself.
UNREAD = re.compile(r"`[^`\n]*`|\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|^\| \d+\. .*$", re.MULTILINE | re.DOTALL)

# A line of a template. It may be longer where it is one sentence, with this much around it: a sentence ends
# at the tag of a block or before the next sentence, and whatever is between {% and %} does not end it.
LINE, AROUND_A_SENTENCE = 160, 60
UNBROKEN = re.compile(r"\{% blocktranslate.*?endblocktranslate %\}|\{[%{#].*?[}%#]\}")
BLOCKS = "caption|d[dlt]|details|div|fieldset|fig\\w+|form|h\\d|li|nav|[ou]l|option|p|section|select|summary"
ENDS = re.compile(rf"</?(?:{BLOCKS}|t(?:able|body|d|h|head|r))\b[^>]*>|(?<=[.!?]) (?=[A-Z“])")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of what people read in a file: all of a template or page, the strings of a module."""
    if path.suffix == ".py":
        for node in nodes_of(str(path.relative_to(ROOT))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.lineno, node.value
    else:
        yield 1, path.read_text(encoding="utf-8")


@cache
def nodes_of(path: str) -> list[ast.AST]:
    return list(ast.walk(tree_of(path)))


def found_in(text: str) -> list[tuple[int, str]]:
    """Line, from 0, and words of each forbidden phrase in a text."""
    read = UNREAD.sub(lambda unread: "\n" * unread[0].count("\n"), text)
    flat = read.replace("\n", " ")
    return [(read.count("\n", 0, match.start()), match[0]) for match in FORBIDDEN.finditer(flat)]


@pytest.mark.parametrize("place", PLACES)
def test_texts_are_plain_english(place: str) -> None:
    paths = sorted(path for path in ROOT.glob(place) if "migrations" not in path.parts)
    assert paths
    assert [
        f"{path.relative_to(ROOT)}:{first + line}: {words}"
        for path in paths
        for first, text in texts(path)
        for line, words in found_in(text)
    ] == []


def test_a_forbidden_phrase_is_found_across_lines_and_not_in_code() -> None:
    assert found_in("The order is\nmade anew. A run with a depth of\nits own.") == [
        (1, "anew"),
        (1, "a depth of its own"),
    ]
    assert found_in("`anew` {% beside %}\n| 5. “Again”, not “anew”. | anew | again |") == []


# A number with the sign right after it, and the format that writes it so; widths of HTML and SVG are no text.
TIGHT_PERCENT = re.compile(r"(?<![\w.#%])\d[\d.,]*%(?![\w%(\"';])|\{[^{}]*:[,.\d]*%\}")


@pytest.mark.parametrize("place", PLACES)
def test_a_blank_is_before_the_sign_of_percent(place: str) -> None:
    paths = sorted(path for path in ROOT.glob(place) if path.suffix in (".md", ".html", ".py"))
    assert [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in paths
        for match in TIGHT_PERCENT.finditer(path.read_text(encoding="utf-8"))
    ] == []


# A name is a noun for a thing. These verbs are in columns, stored and sent keys and their components alone.
VERBS = {"asked", "told", "said", "held"}
KEYS = {
    *("asked", "asked_at", "asked_by", "asked_from", "asked_until", "facts_asked"),
    *("held", "said_at", "told_at", "AskedMemberSerializer", "LeftTold"),
}


def names_of(nodes: list[ast.AST]) -> Iterator[str]:
    """What a module calls its variables, arguments, attributes, functions and classes."""
    for node in nodes:
        for part in ("id", "arg", "attr", "name"):
            if isinstance(name := getattr(node, part, None), str):
                yield name


@cache
def words_of(name: str) -> frozenset[str]:
    return frozenset(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().split("_"))


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_nouns(package: str) -> None:
    assert [
        f"{path}: {name}"
        for path in modules()
        if path.startswith(f"{package}/")
        for name in sorted(set(names_of(nodes_of(path))) - KEYS)
        if VERBS & words_of(name)
    ] == []


# So are these verbs, but as members of classes that are columns, stored and sent keys or, as `shown`, what a
# table does.
MORE_VERBS = {"found", "known", "shown", "drawn"}
MEMBERS = {
    *("drawn", "drawn_anew", "drawn_at", "found", "found_by", "get_found_by", "is_known", "is_shown"),
    *("known", "of_found", "relevant_drawn", "shown"),
}
# Components of what is sent, and what the client of Python raises, keep their names.
OTHERS = {
    *("Found", "FoundKindSerializer", "NotFound", "ShownDocument", "ShownFact", "ShownPage"),
    *("ShownPageSerializer", "ShownQuery"),
}


def own_names(nodes: list[ast.AST]) -> Iterator[tuple[str, bool]]:
    """Each name that a module gives to something, and True for a member of a class."""
    members = {
        id(part)
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for line in node.body
        for part in (line, getattr(line, "target", None), *getattr(line, "targets", ()))
    }
    for node in nodes:
        is_use = isinstance(getattr(node, "ctx", None), ast.Load)
        if not is_use and not isinstance(node, ast.Attribute | ast.keyword | ast.alias):
            for part in ("id", "arg", "name"):
                if isinstance(name := getattr(node, part, None), str):
                    yield name, id(node) in members


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_found_is_named_by_what_it_is(package: str) -> None:
    assert [
        f"{path}: {name}"
        for path in modules()
        if path.startswith(f"{package}/")
        for name, is_member in sorted(set(own_names(nodes_of(path))))
        if MORE_VERBS & words_of(name) and name not in (MEMBERS if is_member else OTHERS)
    ] == []


def is_too_long(line: str) -> bool:
    whole = UNBROKEN.sub(lambda found: "x" * len(found[0]), line.strip())
    return len(line) > LINE and len(whole) - max(map(len, ENDS.split(whole))) > AROUND_A_SENTENCE


def test_a_long_line_of_a_template_is_one_sentence() -> None:
    sentence = f"A {'word ' * 40}{{% if more %}}and more{{% endif %}}."
    assert not is_too_long(f'<p class="quiet">{sentence}</p>')
    assert is_too_long(f"<p>{sentence} {sentence}</p>")
    assert is_too_long(f"<tr>{'<td>1</td>' * 20}</tr>")
    paths = sorted((ROOT / "templates").rglob("*.html"))
    lines = [(path, line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    assert [f"{path.relative_to(ROOT)}: {line.strip()}" for path, line in lines if is_too_long(line)] == []
