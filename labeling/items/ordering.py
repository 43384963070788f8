"""The order in which a queue's items are shown: computed once from ids and a seed, and stored.

A query's documents are cut into *stretches* of 20 to 40, and the stretches are laid in rounds: the first
of every query, then the second of every query that has one. Anyone who takes stretch after stretch stays
with a query for one of them and then moves on, and many people spread over the queries. Keys are
`stretch * STRETCH_KEYS + place`, so that a range of keys is a stretch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

#: In this many parts is a sample judged, each a random part of every stratum.
PARTS = 4

# More than the longest stretch: 40 and what is left of a block that stays together.
STRETCH_KEYS = 64
LONGEST_STRETCH = 40
LONGEST_BLOCK = 20
# This many documents begin a stretch as a mixture, two or three of them likely relevant.
OPENING = 5
LEAST_LIKELY = 2
# What `str.split` takes for white space in ASCII.
_WHITE = b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "


class Candidate(NamedTuple):
    """A pair by its external ids, with what the order may know and nobody is shown.

    `position` is its place in the pool's order within the query; documents with equal `text`, a
    fingerprint, stay together.
    """

    query: str
    document: str
    position: int = 0
    text: bytes = b""


Block = list[int]


def fingerprint(title: str, text: str) -> bytes:
    """Equal for texts that differ in case and blanks alone, empty without text; MinHash takes too long."""
    letters = f"{title} {text}".casefold()
    if letters.isascii():
        written = letters.encode().translate(None, _WHITE)
    else:
        written = "".join(letters.split()).encode(errors="replace")
    return blake2b(written, digest_size=8).digest() if written else b""


def order_keys(pairs: Sequence[Candidate], seed: int, *, opinion: int = 1, after: int = 0) -> list[int]:
    """The key of each pair, parallel to `pairs`, behind the stretch `after`; another `opinion` gives another
    order of everything.

    The order hangs on ids, seed and what `Candidate` holds, not on the order of `pairs`.
    """
    secret = f"{seed} {opinion}".encode()
    by_query = _by_query(pairs, seed, opinion)
    return _keys_in_rounds([_stretches(pairs, members, secret) for members in by_query], len(pairs), after)


def _by_query(pairs: Sequence[Candidate], seed: int, opinion: int) -> list[Block]:
    """The pairs of each query, the queries in the order of a round."""
    by_query = defaultdict(list)
    for index, pair in enumerate(pairs):
        by_query[pair.query].append(index)
    return [by_query[query] for query in query_order(by_query, seed, opinion=opinion)]


def _keys_in_rounds(stretches: Sequence[list[Block]], count: int, after: int) -> list[int]:
    """The keys of `count` pairs: a stretch of each query in every round, behind the stretch `after`."""
    keys = [0] * count
    in_rounds = (stretch for round in zip_longest(*stretches) for stretch in round if stretch)
    for number, stretch in enumerate(in_rounds, start=after + 1):
        for place, index in enumerate(stretch):
            keys[index] = number * STRETCH_KEYS + place
    return keys


def order_keys_in_parts(
    pairs: Sequence[Candidate], parts: Sequence[int], seed: int, *, opinion: int = 1
) -> list[int]:
    """As `order_keys`, with everything of a lower part (parallel to `pairs`) before anything of a higher."""
    keys, last = [0] * len(pairs), 0
    for part in sorted(set(parts)):
        inside = [index for index, one in enumerate(parts) if one == part]
        theirs = order_keys([pairs[index] for index in inside], seed, opinion=opinion, after=last)
        for index, key in zip(inside, theirs, strict=True):
            keys[index] = key
        last = max(map(stretch_of, theirs))
    return keys


def ranked_order_keys(
    pairs: Sequence[Candidate], in_sample: Sequence[bool], seed: int, *, opinion: int = 1, after: int = 0
) -> list[int]:
    """As `order_keys`, with each query's stretches in the order of `position`, behind the stretch `after`.

    Which pairs come first hangs on the position; within a stretch they are shuffled, so that nobody who
    judges can read it there. in_sample (parallel to `pairs`) marks what was drawn at random: it is spread
    evenly over a query's stretches, wherever its position is, so that how much of it is judged says nothing
    of that.
    """
    secret = f"{seed} {opinion}".encode()
    stretches = []
    for of_query in _by_query(pairs, seed, opinion):
        members = _spread(pairs, of_query, in_sample, secret)
        count = -(-len(members) // LONGEST_STRETCH)
        ends = [len(members) * number // count for number in range(count + 1)]
        stretches.append(
            [
                _with_mixed_opening(pairs, _shuffled_blocks(pairs, members[start:end], secret), secret)
                for start, end in pairwise(ends)
            ]
        )
    return _keys_in_rounds(stretches, len(pairs), after)


def query_order(queries: Iterable[str], seed: int, *, opinion: int = 1) -> list[str]:
    """Queries in the order in which a round goes through them."""
    secret = f"{seed} {opinion}".encode()
    return sorted(queries, key=lambda query: _draw(secret, query))


def display_order(pairs: Sequence[Candidate], seed: int, *, opinion: int = 1) -> list[int]:
    """The order in which documents of one query that were chosen together are shown: drawn, near-duplicates
    one after the other, a mixture first. Says nothing of the order in which they were chosen."""
    secret = f"{seed} {opinion}".encode()
    return _with_mixed_opening(pairs, _shuffled_blocks(pairs, range(len(pairs)), secret), secret)


def stretch_of(key: int) -> int:
    """The stretch that a key belongs to; they count from 1."""
    return key // STRETCH_KEYS


def _draw(secret: bytes, *ids: str) -> bytes:
    digest = _drawing(secret).copy()
    digest.update("\0".join(ids).encode())
    return digest.digest()


@lru_cache(maxsize=8)
def _drawing(secret: bytes) -> blake2b:
    return blake2b(key=secret[:64], digest_size=8)


def _spread(
    pairs: Sequence[Candidate], members: Sequence[int], in_sample: Sequence[bool], secret: bytes
) -> list[int]:
    """A query's pairs by position, with those that were drawn spread evenly among them, in drawn order."""
    ranked = sorted(
        (index for index in members if not in_sample[index]), key=lambda index: pairs[index].position
    )
    sampled = sorted(
        (index for index in members if in_sample[index]),
        key=lambda index: _draw(secret, pairs[index].query, pairs[index].document),
    )
    placed = [
        ((place + 0.5) / len(some), index) for some in (ranked, sampled) for place, index in enumerate(some)
    ]
    return [index for _, index in sorted(placed)]


def _stretches(pairs: Sequence[Candidate], members: Sequence[int], secret: bytes) -> list[list[int]]:
    """Shuffle a query's documents, cut them into stretches of about equal length, and mix each opening."""
    count = -(-len(members) // LONGEST_STRETCH)
    stretches: list[list[Block]] = [[]]
    length = 0
    for block in _shuffled_blocks(pairs, members, secret):
        if length * count >= len(members) * len(stretches):
            stretches.append([])
        stretches[-1].append(block)
        length += len(block)
    return [_with_mixed_opening(pairs, blocks, secret) for blocks in stretches]


def _shuffled_blocks(pairs: Sequence[Candidate], members: Iterable[int], secret: bytes) -> list[Block]:
    """Documents in drawn order, each with its near-duplicates behind it."""
    shuffled = sorted(members, key=lambda index: _draw(secret, pairs[index].query, pairs[index].document))
    blocks: dict[object, Block] = {}
    for index in shuffled:
        same: object = pairs[index].text or index
        if len(blocks.setdefault(same, [])) == LONGEST_BLOCK:
            blocks[same, index] = blocks.pop(same)
            blocks[same] = []
        blocks[same].append(index)
    return list(blocks.values())


def _with_mixed_opening(pairs: Sequence[Candidate], blocks: list[Block], secret: bytes) -> list[int]:
    """Begin with documents from both ends of the pool's order: likely relevant ones and likely not.

    So nobody is primed by a wall of one kind. How many of each, and in which order, is drawn and so tells
    nothing. The end of the order is where the audit sample reaches.
    """
    if len(blocks) > OPENING:
        likely = LEAST_LIKELY + _draw(secret, *(pairs[block[0]].document for block in blocks))[0] % 2
        best_first = sorted(blocks, key=lambda block: pairs[block[0]].position)
        opening = best_first[:likely] + best_first[likely - OPENING :]
        first = {block[0] for block in opening}
        blocks = sorted(blocks, key=lambda block: block[0] not in first)
    return [index for block in blocks for index in block]


def parts_of_draw(provenance: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """The part of PARTS for each pair of an audit by scores, with as much of each stratum; else nothing."""
    parts = {}
    for stratum in provenance.get("drawn", ()):
        for place, (query, document) in enumerate(stratum):
            parts[query, document] = PARTS * place // len(stratum)
    return parts
