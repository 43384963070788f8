"""The elements of a JSON array, one at a time: a file of any size in the memory of its largest element."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any

from pooling.formats.bytes.nesting import (
    NestedTooDeeplyError,
    is_cut,
    problem_of,
    refuse_deeper,
    refuse_halves,
)
from pooling.formats.errors import excerpt
from pooling.formats.sources import MAX_LINE_BYTES, OutputBudget, Source

BLANKS = " \t\r\n"
REMEDY = "Export it again as JSON."


def json_elements(source: Source, member: str | None = None) -> Iterator[tuple[int, Any]]:
    """The line on which each element of the file's array begins, and the element.

    member: the array is this member of the one object in the file, whose other members are passed over.
    FormatError for what is not JSON, is cut off, or has an element of more than MAX_LINE_BYTES.
    """
    text = _Text(source)
    if member is None:
        text.expect("[", "not a JSON array")
        yield from _elements(text)
        text.end()
        return
    text.expect("{", "not a JSON object")
    has_member = False
    while text.peek() != "}":
        name = text.value()
        text.expect(":", "a name without a value")
        if name == member and text.peek() == "[" and not has_member:
            has_member = True
            text.take()
            yield from _elements(text)
        else:
            text.value()
        if text.peek() != "}":
            text.expect(",", "two members without a comma")
    text.take()
    text.end()
    if not has_member:
        raise source.error(None, f"the object has no list {excerpt(member)}", REMEDY)


def first_sign(source: Source) -> str:
    return _Text(source).peek()


def _elements(text: _Text) -> Iterator[tuple[int, Any]]:
    output = OutputBudget(text.source)
    while text.peek() != "]":
        line, value = text.line, text.value()
        output.take(text.taken)
        yield line, value
        if text.peek() != "]":
            text.expect(",", "two elements without a comma")
    text.take()


class _Text:
    def __init__(self, source: Source) -> None:
        self.source, self.line = source, 1
        self._blocks = source.blocks(1 << 18)
        self._decode = codecs.getincrementaldecoder("utf-8")()
        self._json = json.JSONDecoder()
        self._text, self._at, self._ended, self._is_blank = "", 0, False, True
        self.taken = 0  # characters of the value before
        if source.head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise source.error(1, "the file is UTF-16", "Save it as UTF-8.")

    def peek(self) -> str:
        """The next character that is not a blank; FormatError at the end of the file."""
        while True:
            rest = len(self._text)
            while self._at < rest and self._text[self._at] in BLANKS:
                self._step(self._at + 1)
            if self._at < rest:
                self._is_blank = False
                return self._text[self._at]
            if not self._more():
                if self._is_blank:
                    raise self.source.empty()
                raise self.source.error(self.line, "the file ends in the middle of the JSON", REMEDY)

    def take(self) -> None:
        self._step(self._at + 1)

    def expect(self, sign: str, problem: str) -> None:
        if self.peek() != sign:
            begins = excerpt(self._text[self._at : self._at + 20])
            raise self.source.error(self.line, f"{problem}; it goes on with {begins}", REMEDY)
        self.take()

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more():
                    ended = "the file ends in the middle of the JSON"
                    problem = ended if is_cut(error) else f"not JSON ({error.msg})"
                    raise self.source.error(self._line_of(error.pos), problem, REMEDY) from error
            except (RecursionError, ValueError) as error:
                deep = NestedTooDeeplyError() if isinstance(error, RecursionError) else error
                raise self.source.error(self.line, *problem_of(deep, REMEDY)) from None
            else:
                # A number may go on in the next block.
                if end < len(self._text) or not self._more():
                    break
        try:
            refuse_deeper(value)
            refuse_halves(value, self._text[self._at : end])
        except ValueError as error:
            raise self.source.error(self.line, *problem_of(error, REMEDY)) from None
        self.taken = end - self._at
        self._step(end)
        return value

    def end(self) -> None:
        """FormatError where something follows."""
        while True:
            if self._text[self._at :].strip(BLANKS):
                raise self.source.error(self.line, "the JSON goes on after its end", REMEDY)
            if not self._more():
                return

    def _step(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def _line_of(self, place: int) -> int:
        return self.line + self._text.count("\n", self._at, place)

    def _more(self) -> bool:
        if self._ended:
            return False
        if len(self._text) - self._at > MAX_LINE_BYTES:
            problem = f"a record of more than {MAX_LINE_BYTES:,} bytes"
            raise self.source.error(self.line, problem, "Split it.")
        block = next(self._blocks, b"")
        self._ended = not block
        try:
            decoded = self._decode.decode(block, final=self._ended)
        except UnicodeDecodeError as error:
            raise self.source.error(self.line, "the file is not UTF-8", "Save it as UTF-8.") from error
        if "\0" in decoded:
            raise self.source.error(
                self.line, "a NUL byte, so this is a binary file", "Give a text file in UTF-8."
            )
        self._text, self._at = self._text[self._at :] + decoded, 0
        return not self._ended
