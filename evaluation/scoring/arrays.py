"""Hits at K for integer arrays: ranked document numbers, or labels predicted per instance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaluation.measures import Floats, Integers, share
from evaluation.scoring.inputs import cutoffs_array
from pooling.heavy import np, npt

_CELLS_AT_ONCE = 1 << 17  # ranks compared at a time: small enough for a core's cache


def recall_of_arrays(
    ranked: npt.NDArray[np.integer[Any]], relevant: npt.NDArray[np.integer[Any]], k: int | Iterable[int]
) -> Floats:
    """Recall@K per row, (Q, C) for the distinct cutoffs in rising order; NaN where nothing is relevant.

    ranked: (Q, D) distinct ids best first, negative where a list is shorter than D. relevant: (Q, R) distinct
    ids, negative where a row has fewer than R. For multi-label classification: predicted and true labels.

    >>> recall_of_arrays(np.array([[7, 3, 5]]), np.array([[5, 7, 9, -1]]), k=(1, 3)).round(3)
    array([[0.333, 0.667]])
    """
    cutoffs = cutoffs_array(k)
    relevant_count = np.count_nonzero(relevant >= 0, axis=1)
    hits = hits_of_arrays(ranked, relevant, cutoffs)
    if bool((hits[:, -1] > relevant_count).any()):
        raise ValueError("A row retrieves the same relevant id more than once; keep the first of equal ids.")
    return share(hits, relevant_count[:, None])


def hits_of_arrays(
    ranked: npt.NDArray[np.integer[Any]], relevant: npt.NDArray[np.integer[Any]], cutoffs: Integers
) -> Integers:
    """(Q, C) relevant ids among each row's first K; the arrays as for `recall_of_arrays`, cutoffs rising.

    Every rank is compared with every relevant id of its row, a cache-sized block at a time; the outcomes
    become one bit each, and the bits up to K are counted 64 at a time.
    """
    queries, depth = ranked.shape
    masks = _prefix_masks(cutoffs, depth)
    hits = np.empty((queries, len(cutoffs)), dtype=np.int64)
    step = max(1, _CELLS_AT_ONCE // max(depth, 1))
    for start in range(0, queries, step):
        rows = slice(start, start + step)
        words = _match_bits(ranked[rows], relevant[rows], masks.shape[1])
        for column, mask in enumerate(masks):
            hits[rows, column] = np.bitwise_count(words & mask).sum(axis=1)
    return hits


def _match_bits(
    ranked: npt.NDArray[Any], relevant: npt.NDArray[Any], word_count: int
) -> npt.NDArray[np.uint64]:
    """(q, words) one bit per rank: whether its id is among the row's relevant ids."""
    matches = np.zeros((len(ranked), word_count * 64), dtype=np.bool_)
    seen = matches[:, : ranked.shape[1]]
    equal = np.empty_like(seen)
    for column in relevant.T:
        np.equal(ranked, column[:, None], out=equal)
        seen |= equal
    seen &= ranked >= 0
    return np.packbits(matches, axis=1, bitorder="little").view(np.uint64)


def _prefix_masks(cutoffs: Integers, depth: int) -> npt.NDArray[np.uint64]:
    """(C, words) the first K bits set, K at most the depth."""
    words = max(1, -(-depth // 64))
    bits = np.arange(words * 64) < np.minimum(cutoffs, depth)[:, None]
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
