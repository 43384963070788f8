"""One entry of a ranked list: an id, an id with its score, or a document of another library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pooling.formats.errors import excerpt
from pooling.formats.names import HIT_ID, HIT_SCORE, QUERY, RELEVANCE, column_named
from pooling.heavy import np
from pooling.inputs.given import QRELS, Reading, described

# Attributes of documents: LlamaIndex has a `node` around them, LangChain `metadata`, Haystack `meta`.
_ID_ATTRIBUTES = ("node_id", "doc_id", "document_id", "docno", "id")
_METADATA = ("metadata", "meta", "payload")


class Hit(NamedTuple):
    """A document's id as it came, its score or relevance if any, and whether that may be a distance."""

    id: Any
    value: Any = None
    may_be_distance: bool = False


def hit_of(entry: Any, reading: Reading) -> Hit:
    """ValueError for an entry without an id."""
    if isinstance(entry, str | int | np.integer) or type(entry).__name__ == "UUID":
        return Hit(entry)
    if isinstance(entry, Mapping):
        return _of_record(entry, reading)
    if isinstance(entry, list | tuple) and not hasattr(entry, "_fields"):
        if len(entry) != 2 or isinstance(entry[0], list | tuple):
            problem = (
                f"has {excerpt(repr(entry))} in a list of documents. Give ids, or pairs of id and score."
            )
            raise reading.error(problem)
        inner, score = entry
        hit = hit_of(inner, reading)
        return Hit(hit.id, score, not isinstance(inner, str | int | np.integer))
    return _of_object(entry, reading)


def _of_record(entry: Mapping[Any, Any], reading: Reading) -> Hit:
    names = [name for name in entry if isinstance(name, str)]
    value = column_named(names, (*RELEVANCE, "_score") if reading.kind == QRELS else HIT_SCORE)
    score = None if value is None else entry[value]
    key = reading.keys.id_key
    if key is not None:
        inner = _metadata([entry.get(name) for name in _METADATA]) or {}
        if callable(key):
            return Hit(key(entry), score)
        if key not in entry and key not in inner:
            raise _no_key(key, [*names, *map(str, inner)], reading)
        return Hit(entry[key] if key in entry else inner[key], score)
    name = column_named(names, HIT_ID)
    if name is None:
        problem = (
            f"has a dict without an id among {excerpt(', '.join(names), 80)}. Name its key with id_key=."
        )
        raise reading.error(problem)
    return Hit(entry[name], score)


def _of_object(entry: Any, reading: Reading) -> Hit:
    document = getattr(entry, "node", entry)
    metadata = _metadata([getattr(document, name, None) for name in _METADATA])
    value = getattr(entry, "score", None)
    if value is None and reading.kind == QRELS:
        value = next((label for name in RELEVANCE if (label := getattr(entry, name, None)) is not None), None)
    key = reading.keys.id_key
    if callable(key):
        return Hit(key(document), value)
    if key is not None:
        if metadata is not None and key in metadata:
            return Hit(metadata[key], value)
        if (id := getattr(document, key, None)) is not None:
            return Hit(id, value)
        raise _no_key(key, list(map(str, metadata or ())), reading)
    id = next((id for name in _ID_ATTRIBUTES if (id := getattr(document, name, None)) is not None), None)
    if id is not None:
        return Hit(id, value)
    if metadata is None:
        problem = (
            f"has {described(entry)} in a list of documents. Give ids, pairs of id and score, or documents."
        )
        raise reading.error(problem)
    keys = excerpt(", ".join(map(str, metadata)), 80) if metadata else "none"
    raise reading.error(
        f"has {described(entry)} without an id. Name the key of its metadata that holds the id with id_key=; "
        f"the keys are {keys}."
    )


def _metadata(parts: Sequence[Any]) -> Mapping[Any, Any] | None:
    return next((one for one in parts if isinstance(one, Mapping)), None)


def _no_key(key: str, keys: Sequence[str], reading: Reading) -> ValueError:
    there = f"its keys are {excerpt(', '.join(keys), 80)}" if keys else "it has no keys"
    return reading.error(f"has a document without {key!r}; {there}. Name another key with id_key=.")


def inside(answer: Any) -> Any:
    """The list inside the answer of a Haystack component or of Elasticsearch."""
    for key in ("hits", "documents"):
        if isinstance(answer, Mapping) and isinstance(answer.get(key), list | tuple | Mapping):
            return inside(answer[key])
    return answer


def names_query(entry: Any) -> bool:
    """The entry is a whole row, with a query's id in it."""
    if isinstance(entry, Mapping):
        names = [name for name in entry if isinstance(name, str)]
        return column_named(names, QUERY) is not None and column_named(names, HIT_ID) is not None
    return any(hasattr(entry, name) for name in ("query_id", "qid")) and any(
        hasattr(entry, name) for name in ("document_id", "doc_id", "docno", "docid")
    )
