"""Many ids without a string for each, read eight bytes at a time: keys find candidates, bytes decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from pooling.heavy import Integers, np, npt, pl

Codes: TypeAlias = "npt.NDArray[np.uint8]"
Words: TypeAlias = "npt.NDArray[np.uint64]"

WORD = 8
#: What must follow the last id in its text, so that eight bytes can be read from its last one.
PADDING = bytes(WORD)
_ODD = 0x9E3779B97F4A7C15  # odd numbers have an inverse: ids of one word never share a key
_WHOLE = (1 << 64) - 1


def words_at(codes: Codes, start: Integers) -> Words:
    """The eight bytes from each start on, as one number with the first byte lowest."""
    everywhere: Words = np.ndarray((len(codes) - WORD + 1,), "<u8", codes, strides=(1,))
    return everywhere[start]


def codes_of(*texts: bytes) -> Codes:
    """The bytes of the texts one after the other, padded as `Ids` needs it."""
    return np.frombuffer(b"".join((*texts, PADDING)), dtype=np.uint8)


@dataclass(frozen=True)
class Ids:
    """(n,) ids: each is `length` bytes of UTF-8 from `start` on; `codes` goes on for eight bytes at least.

    strings: the same ids as a column, where they came as one.
    """

    codes: Codes
    start: Integers
    length: Integers
    strings: pl.Series | None = None

    @classmethod
    def of(cls, strings: pl.Series) -> Ids:
        length = strings.str.len_bytes().to_numpy().astype(np.int64)
        text = strings.str.join("").item() if len(strings) else ""
        return cls(codes_of((text or "").encode()), np.cumsum(length) - length, length, strings)

    @classmethod
    def join(cls, parts: Sequence[Ids]) -> Ids:
        size = np.array([len(part.codes) for part in parts])
        start = np.concatenate([part.start for part in parts])
        start += np.repeat(np.cumsum(size) - size, [len(part) for part in parts])
        codes = np.concatenate([part.codes for part in parts])
        return cls(codes, start, np.concatenate([part.length for part in parts]))

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, rows: Integers) -> Ids:
        return Ids(self.codes, self.start[rows], self.length[rows])

    def take(self, rows: Integers) -> Ids:
        """As `ids[rows]`, and the column goes along."""
        return replace(self[rows], strings=None if self.strings is None else self.strings.gather(rows))

    def series(self) -> pl.Series:
        return pl.Series(self.to_list(), dtype=pl.String) if self.strings is None else self.strings

    def to_list(self) -> list[str]:
        content = self.codes.tobytes()
        ends = (self.start + self.length).tolist()
        return [content[at:end].decode() for at, end in zip(self.start.tolist(), ends, strict=True)]

    def words(self) -> Iterator[tuple[Integers | slice, Words]]:
        """Rows and words: the first eight bytes of all ids, the next of longer ones, …; past an end, zero."""
        rows: Integers | slice = slice(None)
        start, left = self.start, self.length
        while len(start):
            words = words_at(self.codes, start)
            if left.min() < WORD:
                unused = np.maximum(WORD - left, 0).astype(np.uint64) * np.uint64(8)
                words = (words << unused) >> unused
                words[left <= 0] = 0
            yield rows, words
            longer = np.flatnonzero(left > WORD)
            rows = longer if isinstance(rows, slice) else rows[longer]
            start, left = start[longer] + WORD, left[longer] - WORD

    @cached_property
    def keys(self) -> Words:
        """(n,) a number for each id, the same for equal ids, different for nearly all others."""
        keys = np.zeros(len(self), dtype=np.uint64)
        factor = _ODD
        for rows, words in self.words():
            if isinstance(rows, slice):
                np.multiply(words, np.uint64(factor), out=keys)
            else:
                keys[rows] += words * np.uint64(factor)
            factor = factor * _ODD & _WHOLE
        return keys

    def compare(self, others: Ids) -> npt.NDArray[np.int8]:
        """(n,) -1, 0 or 1: whether each id is below, equal to or above the other one, compared bytewise."""
        result: npt.NDArray[np.int8] = np.sign(self.length - others.length).astype(np.int8)
        common = np.minimum(self.length, others.length)
        open_rows = np.arange(len(self))
        mine, theirs = (Ids(ids.codes, ids.start, common).words() for ids in (self, others))
        decided = np.zeros(len(self), dtype=np.bool_)
        for (rows, left), (_, right) in zip(mine, theirs, strict=True):
            chosen = open_rows[rows]
            differ = (left != right) & ~decided[chosen]
            at = chosen[differ]
            result[at] = np.where(left[differ].byteswap() > right[differ].byteswap(), 1, -1)
            decided[at] = True
        return result

    def rank(self) -> Integers:
        """The rows in rising order of their ids, compared bytewise; equal ids stay in their order."""
        columns = []
        for rows, words in self.words():
            column = np.zeros(len(self), dtype=np.uint64)
            column[rows] = words.byteswap()
            columns.append(column)
        return np.lexsort([self.length, *reversed(columns)]) if columns else np.zeros(0, dtype=np.int64)


def pair_keys(queries: Ids, counts: Integers, documents: Ids) -> Words:
    """(n,) a key for each pair of query and document; `counts` are the documents of each query, in order."""
    return documents.keys + np.repeat(queries.keys * np.uint64(_ODD) >> np.uint64(3), counts)


def first_rows(ids: Ids) -> Integers:
    """The rows whose id is not that of the row before; eight bytes and the length decide most at once."""
    words, length = words_at(ids.codes, ids.start), ids.length
    maybe = (words[1:] != words[:-1]) | (length[1:] != length[:-1]) | (length[1:] > WORD)
    rows = np.flatnonzero(maybe) + 1
    changed = rows[ids[rows].compare(ids[rows - 1]) != 0]
    return np.concatenate((np.zeros(min(len(ids), 1), dtype=np.int64), changed))


class Index:
    """Finds keys: where each of many stands among those that were given."""

    def __init__(self, keys: Words) -> None:
        self._keys = keys
        bits = max(8, min(24, len(keys).bit_length() + 4))
        self._shift = np.uint64(64 - bits)
        number = np.arange(len(keys), dtype=np.int32)
        slots = keys >> self._shift
        self._table = np.full(1 << bits, -1, dtype=np.int32)
        self._table[slots] = number
        # Of keys that fall into one slot the table holds the last; the others are searched.
        others = np.flatnonzero(self._table[slots] != number)
        self._others = others[np.argsort(keys[others])]
        self._shared = np.zeros(len(keys), dtype=np.bool_)
        self._shared[self._table[slots[others]]] = True

    def find(self, keys: Words) -> tuple[Integers, Integers]:
        """All (row of `keys`, row of the index) with the same key."""
        number = self._table[keys >> self._shift]
        rows = np.flatnonzero(number >= 0)
        number = number[rows]
        same = np.flatnonzero(self._keys[number] == keys[rows])
        crowded = rows[self._shared[number]]
        places, others = self._search(keys[crowded])
        return np.concatenate((rows[same], crowded[places])), np.concatenate((number[same], others))

    def _search(self, keys: Words) -> tuple[Integers, Integers]:
        other_keys = self._keys[self._others]
        first = np.searchsorted(other_keys, keys)
        count = np.searchsorted(other_keys, keys, side="right") - first
        return np.repeat(np.arange(len(keys)), count), self._others[ranges(first, count)]


def any_twice(keys: Words) -> bool:
    """True where a key may be there again: never False for equal ids, and rarely True for others.

    Each key is written to a slot that its first bits name, so that only keys which lost theirs to another
    are left to be sorted: a quarter of the time that sorting all of them takes.
    """
    bits = max(8, min(24, len(keys).bit_length() + 3))
    slots = keys >> np.uint64(64 - bits)
    number = np.arange(len(keys), dtype=np.int32)
    table = np.empty(1 << bits, dtype=np.int32)
    table[slots] = number
    holder = table[slots]
    lost = np.flatnonzero(holder != number)
    left = np.sort(keys[lost])
    return bool((keys[lost] == keys[holder[lost]]).any() or (left[1:] == left[:-1]).any())


def same_ids(ids: Ids, index: Index, indexed: Ids) -> tuple[Integers, Integers]:
    """All (row of `ids`, row of `indexed`) with the same id; `index` is that of `indexed`."""
    rows, others = index.find(ids.keys)
    same = ids[rows].compare(indexed[others]) == 0
    return rows[same], others[same]


def ranges(first: Integers, count: Integers) -> Integers:
    """The numbers from each `first` on, as many as `count` says, one range after the other."""
    return np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
