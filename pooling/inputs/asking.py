"""Retrievers of LangChain, LlamaIndex and Haystack, or functions, asked query by query."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from pooling.formats.errors import excerpt
from pooling.formats.names import QUERY, TEXT, column_named
from pooling.formats.records import read_queries
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.inputs.checks import checked_run
from pooling.inputs.columns import columns_of
from pooling.inputs.given import RUN, Keys, Reading, described
from pooling.inputs.hits import inside
from pooling.inputs.lists import Lists

Ask: TypeAlias = Callable[[str], Any]
Progress: TypeAlias = Callable[[float, str], None]

# What functions call the number of documents that they return.
_DEPTHS = ("k", "top_k", "n", "limit")


def asking(retriever: Any, k: int) -> Ask:
    """A function that asks a retriever for `k` documents; ValueError where it is none."""
    if callable(getattr(retriever, "invoke", None)):
        return _langchain(retriever, k)
    if callable(getattr(retriever, "similarity_search", None)):  # a vector store of LangChain
        return lambda text: retriever.similarity_search(text, k=k)
    if callable(getattr(retriever, "retrieve", None)):
        return _llama_index(retriever, k)
    if callable(getattr(retriever, "run", None)):
        return _haystack(retriever, k)
    if callable(retriever) and not isinstance(retriever, type):
        depth = next((name for name in _DEPTHS if name in _parameters(retriever)), None)
        return retriever if depth is None else lambda text: retriever(text, **{depth: k})
    raise ValueError(
        f"The retriever is {described(retriever)}, which cannot be asked. Give a retriever of LangChain "
        "(invoke), LlamaIndex (retrieve) or Haystack (run), or a function from a text to a list of documents."
    )


def _langchain(retriever: Any, k: int) -> Ask:
    if hasattr(retriever, "search_kwargs"):
        return lambda text: retriever.invoke(text, k=k)
    if isinstance(getattr(retriever, "k", None), int) and callable(getattr(retriever, "model_copy", None)):
        copied = retriever.model_copy(update={"k": k})
        return lambda text: copied.invoke(text)
    return lambda text: retriever.invoke(text)


def _llama_index(retriever: Any, k: int) -> Ask:
    """Its depth is an attribute, which it has back after every query."""
    usual = getattr(retriever, "similarity_top_k", None)
    if not isinstance(usual, int):
        return lambda text: retriever.retrieve(text)

    def ask(text: str) -> Any:
        retriever.similarity_top_k = k
        try:
            return retriever.retrieve(text)
        finally:
            retriever.similarity_top_k = usual

    return ask


def _haystack(retriever: Any, k: int) -> Ask:
    parameters = _parameters(retriever.run)
    if "query" not in parameters:
        raise ValueError(
            f"The retriever is {described(retriever)}, whose run takes {', '.join(parameters) or 'nothing'} "
            "and no query. Give a function from a text to its documents instead."
        )
    more = {"top_k": k} if "top_k" in parameters else {}
    return lambda text: retriever.run(query=text, **more)


def _parameters(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # written in C
        return []


def texts_of(queries: Any) -> dict[Any, str]:
    """Query id -> text, from a dict, a file of queries, a frame, or records with an id and a text."""
    texts = dict(_texts(queries))
    for query, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"Query {excerpt(query)} is {described(text)}; give its text.")
    if not texts:
        raise ValueError("There are no queries to ask.")
    return texts


def _texts(queries: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(queries, str | Path):
        return [(query.id, query.text) for query in read_queries(queries)]
    columns = columns_of(queries)
    if columns is not None:
        text = column_named(columns.names, TEXT)
        id = column_named([name for name in columns.names if name != text], (*QUERY, "_id", "id"))
        if text is None or id is None:
            has = excerpt(", ".join(columns.names), 80)
            raise ValueError(f"The queries have the columns {has}; they need query_id and text.")
        return list(zip(columns.column(id), columns.column(text), strict=True))
    if isinstance(queries, Mapping):
        return list(queries.items())
    if isinstance(queries, Iterable):
        return [_record(query) for query in queries]
    raise ValueError(
        f"The queries are {described(queries)}; give a dict {{query: text}} or a file of queries."
    )


def _record(query: Any) -> tuple[Any, Any]:
    if isinstance(query, str):
        raise ValueError("The queries are texts without ids; give a dict {query: text}.")
    fields = query if isinstance(query, Mapping) else {name: getattr(query, name) for name in _fields(query)}
    text = column_named(fields, TEXT)
    id = column_named([name for name in fields if name != text], (*QUERY, "_id", "id"))
    if text is None or id is None:
        raise ValueError(f"A query is {described(query)} without an id and a text; give {{query: text}}.")
    return fields[id], fields[text]


def _fields(query: Any) -> list[str]:
    names = ("query_id", "qid", "id", "text", "query")
    return [name for name in names if isinstance(getattr(query, name, None), str | int)]


def retriever_run(
    retriever: Any, queries: Any, k: int, keys: Keys, *, progress: Progress
) -> tuple[pl.DataFrame, list[str]]:
    """The answers as a run, and notes for people; `progress` gets the share of the queries that is done."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"K is {k!r}; it must be a whole number of at least 1.")
    texts, ask = texts_of(queries), asking(retriever, k)
    reading = Reading("The retriever", RUN, keys, [])
    lists, deepest = Lists(reading, by_order=True), 0
    for place, (query, text) in enumerate(texts.items()):
        progress(place / len(texts), f"{place:,} of {counted(len(texts), 'query')}")
        answer = inside(ask(text))
        if answer is None:
            raise reading.error(f"answered query {excerpt(query)} with nothing. Return a list of documents.")
        if isinstance(answer, Iterable) and not isinstance(answer, Mapping | str | set | frozenset):
            answer = list(islice(answer, k))
        lists.add(query, answer)
        deepest = max(deepest, len(answer) if hasattr(answer, "__len__") else 0)
    progress(1.0, f"{counted(len(texts), 'query')}")
    if deepest < k:
        reading.note(f"returned at most {counted(deepest, 'document')} for a query; {k:,} were asked for.")
    return checked_run(lists.frame(), reading), reading.notes
