"""Every pair of sets whose Jaccard similarity reaches a threshold; exact at any size.

By prefixes, as in Chaudhuri, Ganti and Kaushik, "A primitive operator for similarity joins in data
cleaning" (2006), and Bayardo, Ma and Srikant, "Scaling up all pairs similarity search" (2007): with the
elements of each set in one order, the rarest first, two sets that are so similar share one of their first
elements. Only pairs that do are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pooling.heavy import Floats, Integers, np, sparse
from pooling.texts.shingles import ShingleSets, distinct

# So many pairs, or elements of them, are looked at together.
_AT_ONCE = 4_000_000
#: More pairs would take several GB.
MOST_PAIRS = 30_000_000
# Products of a threshold with a size lie this close to the whole number that they should be.
_ROUNDING = 1e-9


class AlikePairs(NamedTuple):
    """(p,) pairs of sets, the first before the second, in that order, and the Jaccard similarity of each."""

    first: Integers
    second: Integers
    jaccard: Floats


def alike_pairs(sets: ShingleSets, threshold: float) -> AlikePairs:
    """The pairs with a Jaccard similarity of `threshold`, above 0 and at most 1, or more.

    An empty set is like no other.

    >>> import numpy as np
    >>> sets = ShingleSets(np.array([0, 1, 2, 1, 2, 3]), np.array([0, 3, 6]))
    >>> [one.tolist() for one in alike_pairs(sets, 0.5)]
    [[0], [1], [0.5]]
    """
    count, many = len(sets.sizes), int(sets.shingles.max(initial=-1)) + 1
    ordered = _rarest_first(sets, many)
    pairs: list[Integers] = []
    for some in _candidates(ordered, threshold):
        pairs.append(distinct(some))
        if sum(map(len, pairs)) > MOST_PAIRS:
            raise ValueError(
                f"More than {MOST_PAIRS:,} pairs of texts may be near-identical, too many to compare. Raise "
                "--threshold, or name --pool for the documents of a pool alone."
            )
    candidates = distinct(np.concatenate(pairs)) if pairs else np.zeros(0, dtype=np.int64)
    first, second = np.divmod(candidates, max(count, 1))
    jaccard = _jaccard(sets, first, second, many)
    is_alike = jaccard >= threshold
    return AlikePairs(first[is_alike], second[is_alike], jaccard[is_alike])


def _texts_of(sets: ShingleSets) -> Integers:
    """(m,) the set that each element is in."""
    return np.repeat(np.arange(len(sets.sizes)), sets.sizes)


def _rarest_first(sets: ShingleSets, many: int) -> ShingleSets:
    """The same sets with elements numbered by how many sets have them."""
    rank = np.empty(many, dtype=np.int64)
    rank[np.argsort(np.bincount(sets.shingles, minlength=many), kind="stable")] = np.arange(many)
    keys = np.sort(_texts_of(sets) * max(many, 1) + rank[sets.shingles])
    return ShingleSets(keys % max(many, 1), sets.start)


def _candidates(ordered: ShingleSets, threshold: float) -> Iterator[Integers]:
    """Pairs that share one of their first elements and are near enough in size, as first · n + second."""
    sizes = ordered.sizes
    prefix = sizes - np.ceil(threshold * sizes - _ROUNDING).astype(np.int64) + 1
    text = _texts_of(ordered)
    at = np.flatnonzero(np.arange(len(text)) - ordered.start[text] < prefix[text])
    element, text = ordered.shingles[at], text[at]
    # Beside each other stand those with the same element, the smallest set first.
    order = np.lexsort((text, sizes[text], element))
    element, text = element[order], text[order]
    step = int(sizes.max(initial=0)) + 1
    largest = np.minimum(np.floor(sizes[text] / threshold + _ROUNDING), step - 1).astype(np.int64)
    end = np.searchsorted(element * step + sizes[text], element * step + largest, side="right")
    partners = end - np.arange(len(text)) - 1
    for rows in _blocks(partners):
        many = partners[rows]
        one = np.repeat(rows, many)
        other = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(many) - many, many)
        low, high = np.minimum(text[one], text[other]), np.maximum(text[one], text[other])
        yield low * len(sizes) + high


def _jaccard(sets: ShingleSets, first: Integers, second: Integers, many: int) -> Floats:
    """(p,) similarity of each pair."""
    sizes = sets.sizes
    ones = np.ones(len(sets.shingles), dtype=np.int32)
    rows = sparse.csr_matrix((ones, sets.shingles, sets.start), shape=(len(sizes), max(many, 1)))
    shared = np.zeros(len(first), dtype=np.int64)
    for some in _blocks(sizes[first] + sizes[second]):
        both = rows[first[some]].multiply(rows[second[some]])
        shared[some] = np.diff(both.tocsr().indptr)
    jaccard: Floats = shared / np.maximum(sizes[first] + sizes[second] - shared, 1)
    return jaccard


def _blocks(work: Integers) -> Iterator[Integers]:
    """Rows in turn, their work about `_AT_ONCE` each time; those without any are left out."""
    rows = np.flatnonzero(work)
    total = np.cumsum(work[rows])
    for number in range(int(total[-1]) // _AT_ONCE + 1 if len(rows) else 0):
        begin, end = np.searchsorted(total, [number * _AT_ONCE, (number + 1) * _AT_ONCE], side="right")
        # What crosses the end of a block belongs to the next.
        if begin < end:
            yield rows[begin:end]
