"""What two sets of queries are compared by: each feature puts a query into one of a few bins."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pooling.heavy import Floats, Integers, np

MOST_BINS = 10
OTHER = "other"


@dataclass(frozen=True)
class Binned:
    """A feature of the log's queries and of the set's: the names of the bins, and each query's bin."""

    name: str
    bins: tuple[str, ...]
    log: Integers
    chosen: Integers


def features(log: Sequence[str], chosen: Sequence[str], traffic: Floats) -> list[Binned]:
    """Words, first word, script and digits. Bins come from the log alone, whose queries weigh `traffic`.

    >>> from numpy import ones
    >>> found = features(["night bus", "ferry"], ["ferry 7"], ones(2))
    >>> [(one.name, one.bins, one.chosen.tolist()) for one in found][3]
    ('digits', ('none', 'some'), [1])
    """
    return [
        _words(log, chosen, traffic),
        _named("first word", log, chosen, traffic=traffic, value=_first_word),
        _named("script", log, chosen, traffic=traffic, value=script_of),
        _pair("digits", log, chosen),
    ]


def _words(log: Sequence[str], chosen: Sequence[str], traffic: Floats) -> Binned:
    """At most ten bins with equal shares of the traffic, as far as whole numbers of words allow."""
    lengths = np.array([len(text.split()) for text in log])
    order = np.argsort(lengths, kind="stable")
    below = np.cumsum(traffic[order]) / traffic.sum()
    at = np.searchsorted(below, np.arange(1, MOST_BINS) / MOST_BINS)
    edges = np.unique(lengths[order][np.minimum(at, len(order) - 1)])
    names = [_range(low, high) for low, high in zip([1, *(edges + 1)], [*edges, None], strict=True)]
    counts = np.array([len(text.split()) for text in chosen])
    return Binned("words", tuple(names), np.searchsorted(edges, lengths), np.searchsorted(edges, counts))


def _range(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} or more"
    return str(low) if low >= high else f"{low} to {high}"


def _named(
    name: str, log: Sequence[str], chosen: Sequence[str], *, traffic: Floats, value: Callable[[str], str]
) -> Binned:
    """The values with the most traffic, and all others in one bin."""
    values = [value(text) for text in log]
    shares: Counter[str] = Counter()
    for one, weight in zip(values, traffic.tolist(), strict=True):
        shares[one] += weight
    kept = sorted(shares, key=lambda one: (-shares[one], one))[: MOST_BINS - 1]
    place = {one: number for number, one in enumerate(kept)}
    return Binned(
        name,
        (*kept, OTHER),
        np.array([place.get(one, len(kept)) for one in values]),
        np.array([place.get(value(text), len(kept)) for text in chosen]),
    )


def _pair(name: str, log: Sequence[str], chosen: Sequence[str]) -> Binned:
    holds = [np.array([any(map(str.isdigit, text)) for text in texts], np.int64) for texts in (log, chosen)]
    return Binned(name, ("none", "some"), *holds)


def _first_word(text: str) -> str:
    return (text.lower().split() or [""])[0].strip("?!.,;:\"'()")


def script_of(text: str) -> str:
    """The script of most letters, by their Unicode names: Latin, Cyrillic, CJK.

    >>> script_of("ночной bus автобус"), script_of("42")
    ('cyrillic', 'no letters')
    """
    letters = Counter(unicodedata.name(letter, "?").split()[0] for letter in text if letter.isalpha())
    if not letters:
        return "no letters"
    return min(letters, key=lambda name: (-letters[name], name)).lower()
