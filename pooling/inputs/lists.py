"""Dicts by query, lists of rows, and ranked lists or arrays with one row per query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.kinds.ranx import lists_inside
from pooling.formats.names import DOCUMENT, QUERY, RELEVANCE, SCORE, column_named
from pooling.formats.values import BadValueError
from pooling.formats.wording import counted
from pooling.heavy import np, pl
from pooling.inputs.checks import PAIR, numbers, refuse_merged_queries, text_ids
from pooling.inputs.columns import Columns, frame_of_columns, is_frame
from pooling.inputs.given import POOL, QRELS, RUN, Reading, described
from pooling.inputs.hits import hit_of, inside, names_query


class Lists:
    """Rows by query; `ranked` is False after a dict, which has no order. by_order: no note on the order."""

    def __init__(self, reading: Reading, *, by_order: bool = False) -> None:
        self.reading, self.by_order = reading, by_order
        self.queries: list[Any] = []
        self.documents: list[Any] = []
        self.values: list[Any] = []
        self.places: list[int] = []
        self.ranked, self.may_be_distance = True, False

    def add(self, query: Any, documents: Any, scores: Any = None) -> None:
        """Add a query's documents: a dict by document, a set, a ranked list, or a search engine's list."""
        documents = inside(documents)
        if isinstance(documents, Mapping):
            self.ranked = False
            self._extend(query, list(documents), list(documents.values()))
        elif isinstance(documents, set | frozenset):
            if self.reading.kind == RUN:
                raise self.reading.error(
                    f"has a set for query {excerpt(query)}, which has no order. Give a list, the best first."
                )
            self._extend(query, list(documents), [1] * len(documents))
        elif isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
            raise self.reading.error(
                f"has {described(documents)} for query {excerpt(query)}. Give a list of documents, the best "
                "first, or a dict of documents and numbers."
            )
        else:
            self._add_list(query, documents, scores)

    def _add_list(self, query: Any, documents: Iterable[Any], scores: Any) -> None:
        entries = documents.tolist() if isinstance(documents, np.ndarray) else list(documents)
        values = None if scores is None else np.asarray(scores).tolist()
        if values is not None and len(values) != len(entries):
            raise self.reading.error(
                f"has {counted(len(entries), 'document')} and {counted(len(values), 'score')} for query "
                f"{excerpt(query)}. Give as many of each."
            )
        if isinstance(documents, np.ndarray) and documents.dtype.kind == "i":  # negative: an empty place
            kept = [place for place, entry in enumerate(entries) if entry >= 0]
            entries = [entries[place] for place in kept]
            values = None if values is None else [values[place] for place in kept]
        if values is None and all(type(entry) is str for entry in entries):
            self._extend(query, entries, [None] * len(entries))
            return
        hits = [hit_of(entry, self.reading) for entry in entries]
        self.may_be_distance |= values is not None or any(hit.may_be_distance for hit in hits)
        self._extend(query, [hit.id for hit in hits], values or [hit.value for hit in hits])

    def _extend(self, query: Any, documents: Sequence[Any], values: Sequence[Any]) -> None:
        self.queries += [query] * len(documents)
        self.documents += self._named(documents)
        self.values += values
        self.places += range(1, len(documents) + 1)

    def _named(self, documents: Sequence[Any]) -> Sequence[Any]:
        """Numbers as the ids they stand for, where these are given."""
        ids = self.reading.keys.document_ids
        if ids is None or self.reading.kind != RUN:
            return documents
        return [
            self._id_at(one) if isinstance(one, int | np.integer) and not isinstance(one, bool) else one
            for one in documents
        ]

    def _id_at(self, number: Any) -> Any:
        ids = self.reading.keys.document_ids or ()
        there = number in ids if isinstance(ids, Mapping) else 0 <= number < len(ids)
        if not there:
            raise self.reading.error(
                f"has the document number {number}, and document_ids has {counted(len(ids), 'id')}. "
                "Give the ids of all documents of the index, in its order."
            )
        return ids[number]

    def frame(self) -> pl.DataFrame:
        """query_id, document_id, value, and rank where the lists have an order."""
        pairs = pl.DataFrame(
            {
                "query_id": text_ids(self.queries, "query", self.reading),
                "document_id": text_ids(self.documents, "document", self.reading),
            }
        )
        if self.reading.kind == POOL:
            return pairs
        frame = pairs.with_columns(rank=pl.Series(self.places, dtype=pl.Int64)) if self.ranked else pairs
        absent = sum(value is None for value in self.values)
        if absent and absent == len(self.values) and self.ranked:
            if self.reading.kind == QRELS:
                return pairs.with_columns(value=pl.lit(1.0))
            if not self.by_order:
                self.reading.note("has no scores: the order of its lists counts.")
            return frame.with_columns(value=-pl.col("rank").cast(pl.Float64))
        if absent and absent < len(self.values) and self.ranked:
            raise self.reading.error(
                f"has no score for {counted(absent, 'document')} of {len(self.values):,}. "
                "Give every document a score, or none: then the order counts."
            )
        frame = frame.with_columns(numbers(self.values, pairs, self.reading).alias("value"))
        return self._falling(frame) if self.ranked and self.reading.kind == RUN else frame

    def _falling(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Scores that rise from the first document to the last are distances, in the lists of a search."""
        step = frame.select(pl.col("value").diff().over("query_id")).to_series()
        if not bool((step > 0).any()):
            return frame
        if self.may_be_distance and not bool((step < 0).any()):
            self.reading.note(
                "has scores that rise from the first document to the last: they are read as distances, the "
                "least first."
            )
            return frame.with_columns(value=-pl.col("value"))
        self.reading.note(
            "has scores that rise within its lists: the scores are followed, not the order. If they are "
            "distances, give them negative."
        )
        return frame


def frame_of_dict(source: Mapping[Any, Any], reading: Reading) -> pl.DataFrame:
    """A dict by query: {query: {document: number}}, {query: [document, ...]}, {query: {document, ...}}."""
    try:
        source = lists_inside(source, reading.kind)
    except BadValueError as bad:
        raise reading.error(f"{bad.problem}. {bad.remedy}") from bad
    refuse_merged_queries(list(source), reading)
    lists = Lists(reading)
    for query, documents in source.items():
        lists.add(query, documents)
    return lists.frame()


def frame_of_list(source: Sequence[Any], reading: Reading) -> pl.DataFrame:
    """Rows that name their query, or one ranked list per query of `query_ids`."""
    first = source[0]
    if is_frame(first):
        raise reading.error(f"is a list of {_plural_type(first)}. Give one frame.")
    if names_query(first):
        return _of_rows(source, reading)
    if isinstance(first, tuple) and len(first) == 3 and reading.keys.query_ids is None:
        return _of_triples(source, reading)
    queries = reading.keys.query_ids
    if queries is None:
        if hasattr(first, "__len__") and not isinstance(first, str | Mapping):
            raise reading.error("is a list with a list for each query. Name the queries with query_ids=.")
        problem = f"is a list of {_plural_type(first)} and does not say of which query. Give a dict by query."
        raise reading.error(problem)
    ids = list(queries)
    if len(ids) != len(source):
        raise reading.error(
            f"has {counted(len(source), 'list')}, and query_ids {counted(len(ids), 'id')}. Give one for each."
        )
    refuse_merged_queries(ids, reading)
    lists = Lists(reading)
    for query, documents in zip(ids, source, strict=True):
        lists.add(query, documents)
    return lists.frame()


def _of_rows(source: Sequence[Any], reading: Reading) -> pl.DataFrame:
    """Named tuples, objects or dicts, all with the fields of the first."""
    first = source[0]
    names: list[str] = list(first) if isinstance(first, Mapping) else list(getattr(first, "_fields", ()))
    if not names:
        fields = (*QUERY, *DOCUMENT, *SCORE, *RELEVANCE)
        names = [name for name in fields if hasattr(first, name)]

    def column(name: str) -> list[Any]:
        try:
            if isinstance(first, Mapping):
                return [row[name] for row in source]
            return [getattr(row, name) for row in source]
        except (KeyError, AttributeError, TypeError):
            raise reading.error(f"has a row without {name}, which the first one has.") from None

    if column_named(names, DOCUMENT) is None:  # rows of a search engine call it _id
        names = ["doc_id" if name in ("_id", "id") else name for name in names]
        inner = column

        def column(name: str) -> list[Any]:
            return inner(("_id" if "_id" in first else "id") if name == "doc_id" else name)

    return frame_of_columns(Columns(names, column), reading)


def _of_triples(source: Sequence[Any], reading: Reading) -> pl.DataFrame:
    if any(not isinstance(row, tuple | list) or len(row) != 3 for row in source):
        raise reading.error("is a list of tuples, not all of which are (query, document, number).")
    names = list(reading.columns) if reading.kind != POOL else [*PAIR, "score"]
    return frame_of_columns(Columns(names, lambda name: [row[names.index(name)] for row in source]), reading)


def frame_of_arrays(documents: Any, scores: Any, reading: Reading) -> pl.DataFrame:
    """Arrays with a row for each query: ids or numbers of documents, the best first, and their scores."""
    documents, scores = (None if one is None else np.asarray(one) for one in (documents, scores))
    if documents.ndim != 2 or (scores is not None and scores.shape != documents.shape):
        shapes = f"{documents.shape}" + ("" if scores is None else f" and {scores.shape}")
        raise reading.error(f"has arrays of the shape {shapes}. Give two of the shape (queries, depth).")
    if reading.keys.query_ids is None:
        raise reading.error("is an array with a row for each query. Name the queries with query_ids=.")
    ids = list(reading.keys.query_ids)
    if len(ids) != len(documents):
        raise reading.error(
            f"has {counted(len(documents), 'row')}, and query_ids {counted(len(ids), 'id')}. "
            "Give one for each."
        )
    refuse_merged_queries(ids, reading)
    lists = Lists(reading)
    for place, query in enumerate(ids):
        lists.add(query, documents[place], None if scores is None else scores[place])
    return lists.frame()


def arrays_in(source: Any) -> tuple[Any, Any] | None:
    """Documents and scores of what bm25s or FAISS returns, or of one array its documents; else None."""
    if hasattr(source, "documents") and hasattr(source, "scores"):
        return source.documents, source.scores
    if isinstance(source, np.ndarray) and not source.dtype.names and source.ndim == 2:
        return source, None
    if not isinstance(source, tuple) or len(source) != 2:
        return None
    first, second = source
    if not all(isinstance(one, np.ndarray) for one in source):
        return None
    return (second, first) if first.dtype.kind == "f" and second.dtype.kind != "f" else (first, second)


def _plural_type(value: Any) -> str:
    return {"str": "texts", "int": "numbers", "float": "numbers", "dict": "dicts"}.get(
        type(value).__name__, f"{type(value).__name__} objects"
    )
