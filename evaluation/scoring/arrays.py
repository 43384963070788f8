"""Recall@K of ranked lists as programs have them: no file, frame, score or tie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan, nan
from numbers import Integral
from typing import Any, TypeAlias
from uuid import UUID

from evaluation.measures import Floats, Integers, share
from evaluation.scoring.inputs import cutoffs_array
from pooling.heavy import np, npt

Ids: TypeAlias = Iterable[Any]


def recall_at_k(
    retrieved: Ids | Iterable[Ids] | Mapping[Any, Ids],
    relevant: Ids | Iterable[Ids] | Mapping[Any, Ids],
    k: int,
) -> float:
    """The share of the relevant documents among the first `k` retrieved; over many queries, the mean.

    - For one query, `retrieved` is a list or array of document ids, best first, and `relevant` a set, list or
      array.
    - For many queries, give one of these for each, in two dicts by query id, or in two lists (or arrays of
      two dimensions) in the same order.

    In arrays of whole numbers, negative ids are empty places. A whole number and its text are the same id.

    A query without a relevant document has no recall: NaN by itself, and left out of the mean. In dicts, a
    query that `retrieved` does not answer counts 0, and one that `relevant` does not know is left out. These
    are the defaults of `evaluate`, which also takes scores and grades and says how far to trust the result.
    Raises ValueError for what has no order, for ids that are no text or whole numbers, for a document that
    comes twice in a list, and for a `k` that is not a whole number of at least 1.

    >>> recall_at_k(["a", "x", "b"], {"a", "b", "c", "d"}, k=3)
    0.5
    >>> recall_at_k({"q1": ["a", "x"], "q2": ["y"]}, {"q1": {"a"}, "q2": {"b"}}, k=2)
    0.5
    """
    if _is_many(k):
        raise ValueError(f"K is {k}; give one K here, or use evaluate for more.")
    (cutoff,) = cutoffs_array(k).tolist()
    if isinstance(retrieved, Mapping) and isinstance(relevant, Mapping):
        return _mean(
            [_of_one(*lists, cutoff) for lists in _by_query(_by_text(retrieved), _by_text(relevant))]
        )
    if isinstance(retrieved, Mapping) or isinstance(relevant, Mapping):
        raise ValueError("One of retrieved and relevant is a dict; give both by query, or neither.")
    for ids in (retrieved, relevant):
        _refuse_no_list(ids)
    _refuse_unordered(retrieved)
    first, second = _places(retrieved), _places(relevant)
    if not any(map(_is_many, (*first, *second))):
        return _of_one(first, second, cutoff)
    if len(first) != len(second):
        raise ValueError(
            f"There are {len(first)} lists of retrieved and {len(second)} of relevant documents; "
            "give one of each for every query."
        )
    if _is_table(first) and _is_table(second):
        return _mean(recall_of_arrays(first, second, cutoff)[:, 0].tolist())
    return _mean([_of_one(*lists, cutoff) for lists in zip(first, second, strict=True)])


def _by_query(retrieved: Mapping[Any, Any], relevant: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    if retrieved and relevant and not retrieved.keys() & relevant.keys():
        raise ValueError("No query of retrieved is one of relevant; compare the query ids of both.")
    return [(retrieved.get(query, ()), ids) for query, ids in relevant.items()]


def _of_one(retrieved: Any, relevant: Any, k: int) -> float:
    for ids in (retrieved, relevant):
        _refuse_no_list(ids)
    _refuse_unordered(retrieved)
    documents, wanted = _alike(_places(retrieved), _places(relevant))
    if len(set(documents)) < len(documents):
        twice = next(one for place, one in enumerate(documents) if one in documents[:place])
        raise ValueError(f"Document {twice!r} is retrieved twice for a query; keep the better place.")
    return len(wanted.intersection(documents[:k])) / len(wanted) if wanted else nan


def _alike(retrieved: Sequence[Any], relevant: Sequence[Any]) -> tuple[Sequence[Any], set[Any]]:
    """Both as they are where their ids are of one type, else both as text."""
    kinds = {type(one): one for one in (*retrieved, *relevant)}
    _refuse_no_ids(kinds, "document")
    if len(kinds) > 1:
        return list(map(str, retrieved)), set(map(str, relevant))
    return retrieved, set(relevant)


def _by_text(lists: Mapping[Any, Any]) -> Mapping[Any, Any]:
    _refuse_no_ids({type(query): query for query in lists}, "query")
    return lists if all(type(query) is str for query in lists) else {str(one): lists[one] for one in lists}


def _places(ids: Any) -> Any:
    """A table of whole numbers as it is; else a list, without the empty places of an array."""
    if not _is_whole(ids):
        return list(ids)
    return ids[ids >= 0].tolist() if ids.ndim == 1 else ids


def _is_whole(ids: Any) -> bool:
    return isinstance(ids, np.ndarray) and np.issubdtype(ids.dtype, np.integer)


def _is_table(ids: Any) -> bool:
    return _is_whole(ids) and ids.ndim == 2


def _refuse_no_list(ids: Any) -> None:
    is_frame = hasattr(ids, "columns")
    if is_frame or isinstance(ids, Mapping) or not _is_many(ids):
        value = f"A {type(ids).__name__}" if is_frame else repr(ids)
        raise ValueError(f"{value} is not a list of document ids; for scores and grades use evaluate.")


def _refuse_no_ids(kinds: Mapping[type, Any], of: str) -> None:
    """What `evaluate` takes for no id either; kinds: type -> one of its values."""
    for kind, one in kinds.items():
        if issubclass(kind, bool) or not issubclass(kind, str | Integral | UUID):
            raise ValueError(f"{one!r} is a {of} id of the type {kind.__name__}. Write ids as text.")


def _refuse_unordered(retrieved: Any) -> None:
    if isinstance(retrieved, set | frozenset):
        raise ValueError("retrieved is a set, which has no order; give a list with the best document first.")


def _is_many(ids: Any) -> bool:
    return isinstance(ids, Iterable) and not isinstance(ids, str | bytes)


def _mean(values: Sequence[float]) -> float:
    defined = [value for value in values if not isnan(value)]
    return sum(defined) / len(defined) if defined else nan


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
