"""CBOR as ranx writes it: lists of numbers by query, and nothing else that CBOR has.

Its tags make decimals and fractions of a few kilobytes, which take minutes to compute; here none is.

The format: RFC 8949.
"""

from __future__ import annotations

import struct

_WHOLE, _NEGATIVE, _TEXT, _MAP, _OTHER = 0, 1, 3, 5, 7
#: What follows the first byte: of lengths and whole numbers, and of floating-point numbers.
_LENGTHS, _FLOATS = {24: ">B", 25: ">H", 26: ">I", 27: ">Q"}, {25: ">e", 26: ">f", 27: ">d"}


def numbers_by_query(content: bytes) -> dict[str, dict[str, float]]:
    """Query -> document -> number; `ValueError` for anything else."""
    try:
        lists = _Reader(content).lists()
    except (IndexError, struct.error) as error:
        raise ValueError("it is cut off") from error
    return lists


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def lists(self) -> dict[str, dict[str, float]]:
        scores = {}
        for _ in range(self._size(_MAP)):
            query = self._text()
            scores[query] = {self._text(): self._number() for _ in range(self._size(_MAP))}
        if self._at != len(self._content):
            raise ValueError("something follows the lists")
        return scores

    def _head(self) -> tuple[int, int]:
        """The kind of the next value, and what else its first byte says."""
        first = self._content[self._at]
        self._at += 1
        return first >> 5, first & 31

    def _unpacked(self, form: str) -> float:
        value: float = struct.unpack_from(form, self._content, self._at)[0]
        self._at += struct.calcsize(form)
        return value

    def _length(self, head: int) -> int:
        if head < 24:
            return head
        if head not in _LENGTHS:
            raise ValueError("a length that is not told")
        return int(self._unpacked(_LENGTHS[head]))

    def _size(self, expected: int) -> int:
        kind, head = self._head()
        if kind != expected:
            raise ValueError("not what ranx writes")
        return self._length(head)

    def _text(self) -> str:
        end = self._size(_TEXT) + self._at
        if end > len(self._content):
            raise ValueError("it is cut off")
        text, self._at = self._content[self._at : end].decode(), end
        return text

    def _number(self) -> float:
        kind, head = self._head()
        if kind == _OTHER and head in _FLOATS:
            return self._unpacked(_FLOATS[head])
        if kind not in (_WHOLE, _NEGATIVE):
            raise ValueError("not a number")
        return self._length(head) if kind == _WHOLE else -1 - self._length(head)
