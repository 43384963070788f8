"""Recall@K of ranked lists as programs have them: no file, frame, score or tie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan, nan
from numbers import Integral
from typing import Any, TypeAlias
from uuid import UUID

from evaluation.scoring.arrays import recall_of_arrays
from evaluation.scoring.inputs import cutoffs_array
from pooling.heavy import np

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
