"""Comparison of two sides' ids, and changes that would make ids meet that do not. No id is changed."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pooling.heavy import pl

#: Below this share of known ids something may be wrong with all of them.
LOW = 0.5
EXAMPLES = 3
#: So many ids of one side are tried, and of the other side looked at.
TRIED, LOOKED_AT = 5_000, 500_000
#: What is offered makes this share of the ids meet, and this many times as many as before.
WORTH, TIMES = 0.2, 2
SEPARATORS = ("#", "::", ":", "_", "-", "/", "|", "%", ".", "@")

#: How a command says that chunks count as their documents.
COLLAPSE = "With `--collapse-chunks {}`"

Change = Callable[[str], str]


class Side(NamedTuple):
    """Ids, distinct or not, and what sentences call them: `documents of run bm25`."""

    name: str
    ids: pl.Series


class Offer(NamedTuple):
    words: str
    share: float


def shared_fraction(side: Side, other: Side) -> float:
    """The share of a side's distinct ids that the other side has; 1 for a side without any."""
    ids = side.ids.unique()
    return 1.0 if ids.is_empty() else int(ids.is_in(other.ids.unique().implode()).sum()) / len(ids)


def sentence_on(side: Side, other: Side, *, chunks: str = "") -> str:
    r"""Number of ids of a side that the other has, examples of both, and what would make more of them meet.

    chunks: how to say that chunks count as their documents, with `{}` for the separator of their ids.

    >>> hits, labelled = pl.Series(["D1", "D2"]), pl.Series(["d1", "d2"])
    >>> sentences = sentence_on(Side("documents of run bm25", hits), Side("labels", labelled))
    >>> print(sentences.replace(". ", ".\n"))
    0 of the 2 documents of run bm25 are among the labels: “D1”, “D2” here, “d1”, “d2” there.
    Ignoring upper and lower case, 100 % would match.
    """
    ids, others = side.ids.unique(maintain_order=True), other.ids.unique(maintain_order=True)
    is_shared = ids.is_in(others.implode())
    examples = f"{examples_of(ids.filter(~is_shared))} here, {examples_of(others)} there"
    count = f"{is_shared.sum():,} of the {len(ids):,} {side.name} are"
    if len(ids) == 1:
        count = f"The only one of the {side.name} is{'' if is_shared.all() else ' not'}"
    start = f"{count} among the {other.name}: {examples}."
    offer = offered(ids, others, chunks=chunks)
    return start if offer is None else f"{start} {offer.words}, {100 * offer.share:.0f} % would match."


def no_query_in_common(run: str, ids: pl.Series, other: str, others: pl.Series) -> ValueError:
    """The error of a run whose queries the other side does not have, with what would make them meet."""
    sentence = sentence_on(Side(f"queries of run {run}", ids), Side(f"queries of {other}", others))
    return ValueError(f"Run {run} has no query in common with {other}. {sentence}")


def runs_apart(queries: Mapping[str, pl.Series]) -> list[str]:
    """A sentence for each run whose queries no other has, of two the second. queries: distinct, by run."""
    if len(queries) < 2:
        return []
    every = pl.concat(queries.values())
    shared = every.filter(every.is_duplicated()).implode()
    apart = [name for name, ids in queries.items() if len(ids) and not ids.is_in(shared).any()]
    return [
        sentence_on(
            Side(f"queries of run {name}", queries[name]),
            Side("queries of the other runs", pl.concat(ids for one, ids in queries.items() if one != name)),
        )
        for name in apart[len(queries) == 2 :]
    ]


def examples_of(ids: pl.Series) -> str:
    """The first three, in quotation marks."""
    return ", ".join(f"“{one[:60]}”" for one in ids.head(EXAMPLES)) or "none"


def offered(ids: pl.Series, others: pl.Series, *, chunks: str = "") -> Offer | None:
    """The change after which most of some distinct ids are among others; None where none is worth it."""
    tried = ids.gather_every(-(-len(ids) // TRIED)).to_list() if len(ids) else []
    there = others.head(LOOKED_AT).to_list()

    def met(change: Change, change_there: Change) -> float:
        ids_there = set(map(change_there, there)) - {""}
        return sum(change(one) in ids_there for one in tried) / max(len(tried), 1)

    least = max(WORTH, TIMES * met(str, str))
    offers = [Offer(words, met(*both)) for words, *both in _changes(tried, there, chunks)]
    return max((one for one in offers if one.share >= least), key=lambda one: one.share, default=None)


def _changes(ids: Sequence[str], others: Sequence[str], chunks: str) -> Iterator[tuple[str, Change, Change]]:
    """Tried changes: the words for each, and the change of each side."""
    yield "Ignoring spaces around ids", str.strip, str.strip
    yield "Ignoring upper and lower case", str.lower, str.lower
    yield "In one Unicode form (NFC)", _composed, _composed
    yield "Without “.0” at the end", _without_end(".0"), _without_end(".0")
    yield "Without zeros at the beginning", _without_zeros, _without_zeros
    starts = _common_start(ids), _common_start(others)
    ends = _common_start([one[::-1] for one in ids]), _common_start([one[::-1] for one in others])
    if start := _beyond(*starts):
        yield f"Without “{start[:40]}” before the ids here", _without_start(start), str
    if start := _beyond(*reversed(starts)):
        yield f"Without “{start[:40]}” before the ids there", str, _without_start(start)
    if end := _beyond(*ends)[::-1]:
        yield f"Without “{end[:40]}” after the ids here", _without_end(end), str
    if end := _beyond(*reversed(ends))[::-1]:
        yield f"Without “{end[:40]}” after the ids there", str, _without_end(end)
    for separator in SEPARATORS if chunks else ():
        yield chunks.format(separator), _before_last(separator), str


def _common_start(ids: Sequence[str]) -> str:
    if len(set(ids)) < 2:
        return ""
    first, last = min(ids), max(ids)  # whatever these two share, all share
    length = 0
    while first[: length + 1] == last[: length + 1] and length < len(first):
        length += 1
    return first[:length]


def _beyond(start: str, other: str) -> str:
    """The part of a start of ids before the start of the others: `doc/` of `doc/d` and `d1`."""
    overlap = next(
        length for length in range(len(start), -1, -1) if other.startswith(start[len(start) - length :])
    )
    return start[: len(start) - overlap]


def _without_start(start: str) -> Change:
    return lambda one: one.removeprefix(start)


def _without_end(end: str) -> Change:
    return lambda one: one.removesuffix(end)


def _composed(one: str) -> str:
    return unicodedata.normalize("NFC", one)


def _without_zeros(one: str) -> str:
    return one.lstrip("0")


def _before_last(separator: str) -> Change:
    return lambda one: one.rpartition(separator)[0]
