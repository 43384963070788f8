"""Every regular expression of the code takes time in proportion to the text, whatever people write."""

from __future__ import annotations

import ast
import re
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from types import FrameType
from typing import Any

import pytest

from docs.rooms import ROOT, modules, tree_of

LENGTH = 50_000
#: After a beginning, and for pairs: long enough for a quadratic pattern to take a second.
SHORTER = 20_000
#: Of the processor's time: a linear pattern takes some milliseconds, a quadratic one far more.
SECONDS = 0.25
#: What a text repeats besides the literals of the pattern itself.
UNITS = ("a", "0", " ", "\n", ".", "-", "é", "あ")
FUNCTIONS = ("sub", "match", "search", "fullmatch", "findall", "finditer", "split")
#: What all others but these two do with a text: look for the pattern at every place.
ANCHORED = {"match", "fullmatch"}
#: Where patterns are put together from what is no text of people, or are theirs.
PUT_TOGETHER = {
    "labeling/prelabels/model_answers.py",  # the names of two fields
    "labeling/prelabels/client.py",  # the names of options
    "labeling/prelabels/prompting.py",  # the name of a prompt
    "pooling/logs/rows.py",  # the pattern of a log, given on the command line
}


class TooSlowError(Exception):
    """A pattern took more than `SECONDS` of the processor's time."""


@cache
def patterns() -> dict[re.Pattern[Any], set[str]]:
    """Each pattern of the code, and the functions that it is used with."""
    used: dict[re.Pattern[Any], set[str]] = defaultdict(set)
    named: dict[str, re.Pattern[Any]] = {}
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in modules()}
    for path, text in texts.items():
        if not re.search(r"^import re\b", text, flags=re.MULTILINE):
            continue
        tree = tree_of(path)
        module = import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        named |= {name: value for name, value in vars(module).items() if isinstance(value, re.Pattern)}
        assigned = [one for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign)]
        of_names = {call for one in assigned for call in ast.walk(one)}
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "re":
                if call.func.attr in FUNCTIONS:
                    used[written_in(call, vars(module))].add(call.func.attr)
                elif call.func.attr == "compile":
                    assert call in of_names or path in PUT_TOGETHER, f"{path}, line {call.lineno}"
    use = re.compile(rf"\b({'|'.join(named)})\s*\.\s*({'|'.join(FUNCTIONS)})\b")
    for text in texts.values():
        for name, function in use.findall(text):
            used[named[name]].add(function)
    return {pattern: used.get(pattern) or set(FUNCTIONS) for pattern in (*named.values(), *used)}


def written_in(call: ast.Call, names: dict[str, Any]) -> re.Pattern[Any]:
    """The pattern that stands in a call of a function of `re`; what is put in stands for a word."""
    first = call.args[0]
    pattern = "".join(
        str(part.value) if isinstance(part, ast.Constant) else "word"
        for part in (first.values if isinstance(first, ast.JoinedStr) else [first])
        if not isinstance(part, ast.Name)
    )
    if isinstance(first, ast.Name):
        pattern = names[first.id]
    flags = [ast.unparse(one.value) for one in call.keywords if one.arg == "flags"]
    flags += [told for one in call.args[1:] if (told := ast.unparse(one)).startswith("re.")]
    return re.compile(pattern, int(eval(" | ".join(flags) or "0", {"re": re})))


def literals(pattern: re.Pattern[Any]) -> list[str]:
    """The texts that stand in a pattern as they are, and each of their characters."""
    written = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    parts = list(_runs(re._parser.parse(written, pattern.flags)))  # type: ignore[attr-defined]
    return list(dict.fromkeys([*parts, *(sign for text in parts for sign in text)]))


def _runs(parsed: Iterable[Any]) -> Iterator[str]:
    """Characters next to each other, at every level of a parsed pattern."""
    text = ""
    for element in parsed:
        is_pair = isinstance(element, tuple) and len(element) == 2
        if is_pair and str(element[0]) in ("LITERAL", "NOT_LITERAL"):
            text += chr(element[1])
            continue
        if text:
            yield text
        text = ""
        if isinstance(element, tuple | list) or hasattr(element, "data"):
            yield from _runs(element)
    if text:
        yield text


def texts_for(pattern: re.Pattern[Any]) -> Iterator[str]:
    """Each unit over and over, after each literal of the pattern, with an end that does not fit."""
    of_pattern = literals(pattern)
    heads, units = of_pattern[:4], list(dict.fromkeys((*of_pattern, *UNITS)))
    for unit in units:
        yield unit * (LENGTH // len(unit)) + "!"
        yield from (head + unit * (SHORTER // len(unit)) + "!" for head in heads)
    for first in of_pattern:
        yield (first + " ") * (LENGTH // (len(first) + 1)) + "!"
    for first in heads:
        for second in heads:
            yield (first + second) * (SHORTER // len(first + second)) + "!"


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooSlowError


ALL = patterns()


def test_the_patterns_of_the_code_are_found() -> None:
    assert len(ALL) > 60
    assert any(pattern.search("{{query}}") for pattern in ALL)


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: str(pattern.pattern)[:40])
def test_a_pattern_is_linear(pattern: re.Pattern[Any]) -> None:
    before = signal.signal(signal.SIGVTALRM, _stop)
    functions = {name if name in ANCHORED else "sub" for name in ALL[pattern]}
    try:
        for text in texts_for(pattern):
            given: Any = text if isinstance(pattern.pattern, str) else text.encode()
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            try:
                for name in functions:
                    getattr(pattern, name)(*((given[:0], given) if name == "sub" else (given,)))
            except TooSlowError:
                raise AssertionError(f"{pattern.pattern!r} is too slow for {text[:20]!r}…") from None
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)
