"""Lists by query inside what another program answered or stored: predictions of MTEB, the relevant documents
of sentence-transformers and LlamaIndex, and answers of Elasticsearch and OpenSearch to `_rank_eval`: a run,
and which of its documents have no rating. And files for other tools, which hold no such lists.

Unrated documents are listed out of the hits (`EvaluationMetric.filterUnratedDocuments`), so the hits are all
there is to read.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.values import BadValueError
from pooling.formats.wording import counted

#: What the whole answer's value is called, in versions before 7 `quality_level`.
_VALUES = ("metric_score", "quality_level")
_AGAIN = "Save what the engine answered, whole and unchanged."
#: Names that only a file for another tool has together -> what such a file is.
_OTHER_TOOLS = {
    ("judgmentRatings",): "a judgment list for OpenSearch",
    ("querySetQueries",): "a query set for OpenSearch",
    ("requests", "metric"): "a request to _rank_eval",
    ("query_doc_pairs",): "a book for Quepid",
    ("user_input", "reference_context_ids"): "a file of samples for Ragas",
}
#: `grade qid:N # document`, or with features before the document.
_LEARNING_TO_RANK = re.compile(rb"(?:#[^\n]*\n|\s)*\d+[ \t]+qid:\S+[ \t]+(?:#|\d+:)")


def other_tool(names: Container[str], kind: str) -> tuple[str, str] | None:
    """What a file with these names is and what to give instead of it, where it is one for another tool."""
    for needed, what in _OTHER_TOOLS.items():
        if all(name in names for name in needed):
            return _not_read(what, kind)
    return None


def learning_to_rank(beginning: bytes, kind: str) -> tuple[str, str] | None:
    """The same of a file that begins so."""
    if _LEARNING_TO_RANK.match(beginning):
        return _not_read("a judgment list for Learning to Rank", kind)
    return None


def _not_read(what: str, kind: str) -> tuple[str, str]:
    if kind == "run":
        return f"this is {what}, and no run", "Give the lists of documents that a retriever returned."
    return f"this is {what}, which is not read as qrels", "Export the labels as TREC qrels instead."


def is_rank_eval(content: Mapping[Any, Any]) -> bool:
    """A dict that is such an answer, or the error that came instead.

    >>> is_rank_eval({"metric_score": 0.5, "details": {}}), is_rank_eval({"details": {"d1": 1.0}})
    (True, False)
    """
    named = any(name in content and not isinstance(content[name], Mapping) for name in _VALUES)
    return (named and "details" in content) or ("error" in content and isinstance(content.get("status"), int))


def lists_of_rank_eval(content: Mapping[Any, Any], kind: str) -> dict[Any, tuple[tuple[Any, Any], ...]]:
    """{query: ((document, score), …)} in the engine's order; without scores (a sorted search) -rank is one.

    BadValueError for an answer of another shape, for failed requests, and for an id that two indexes have.
    """
    if kind != "run":
        problem = "this is an answer of _rank_eval, which is a run and holds no labels but those of its hits"
        raise BadValueError(problem, "Read it as a run.")
    if "error" in content:
        raise BadValueError(
            f"the engine answered with an error ({_reason(content['error'])})", "Ask it again."
        )
    details, failures = content["details"], content.get("failures")
    if not isinstance(details, Mapping):
        raise BadValueError("the details of the answer are not an object", _AGAIN)
    if isinstance(failures, Mapping) and failures:
        query, why = next(iter(failures.items()))
        many = counted(len(failures), "query")
        problem = f"the engine failed for {many}, such as {excerpt(query)} ({_reason(why)})"
        raise BadValueError(problem, "Ask again: queries without an answer would count as 0.")
    lists = {query: _hits(query, detail) for query, detail in details.items()}
    _refuse_two_indexes(lists)
    if not any(lists.values()):
        raise BadValueError("there is no hit in this answer", "Check the index and the search request.")
    return {query: _scored(query, hits) for query, hits in lists.items()}


def _hits(query: Any, detail: Any) -> list[Mapping[Any, Any]]:
    hits = detail.get("hits") if isinstance(detail, Mapping) else None
    if not isinstance(hits, list):
        raise BadValueError(f"the details of query {excerpt(query)} have no list of hits", _AGAIN)
    records = []
    for one in hits:
        hit = one.get("hit") if isinstance(one, Mapping) else None
        if not isinstance(hit, Mapping) or not isinstance(hit.get("_id"), str):
            raise BadValueError(f"a hit of query {excerpt(query)} has no _id", _AGAIN)
        records.append(hit)
    return records


def _scored(query: Any, hits: list[Mapping[Any, Any]]) -> tuple[tuple[Any, Any], ...]:
    scores = [hit.get("_score") for hit in hits]
    if all(score is None for score in scores):
        scores = [-float(place) for place in range(1, len(hits) + 1)]
    for hit, score in zip(hits, scores, strict=True):
        if isinstance(score, bool) or not isinstance(score, int | float):
            pair = f"query {excerpt(query)}, document {excerpt(hit['_id'])}"
            raise BadValueError(f"{pair}: the score {excerpt(score)} is not a number", _AGAIN)
    return tuple((hit["_id"], score) for hit, score in zip(hits, scores, strict=True))


def _refuse_two_indexes(lists: Mapping[Any, list[Mapping[Any, Any]]]) -> None:
    """One id in two indexes may be two documents."""
    indexes: dict[str, Any] = {}
    for hit in (hit for hits in lists.values() for hit in hits):
        document, index = hit["_id"], hit.get("_index")
        if (first := indexes.setdefault(document, index)) != index:
            problem = f"document {excerpt(document)} is in the indexes {excerpt(first)} and {excerpt(index)}"
            raise BadValueError(problem, "Ask one index at a time, or give the documents unique ids.")


def _reason(error: Any) -> str:
    while isinstance(error, Mapping):
        error = error.get("reason") or error.get("error") or error.get("type")
    return excerpt(error)[1:-1] if error else "no reason is given"


def lists_of_predictions(content: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Predictions of MTEB, unwrapped; others as they are. BadValueError for several subsets or splits."""
    if "mteb_model_meta" not in content:
        return content
    subsets = {name: splits for name, splits in content.items() if name != "mteb_model_meta"}
    parts = [
        (f"{subset}, {split}", lists)
        for subset, splits in subsets.items()
        for split, lists in (splits.items() if isinstance(splits, Mapping) else ())
    ]
    if len(parts) != 1 or not isinstance(parts[0][1], Mapping):
        there = excerpt("; ".join(name for name, _ in parts), 80) if parts else "none"
        problem = f"predictions of MTEB with one subset and split are read, and here are {there}"
        raise BadValueError(problem, "Give what one of them holds, {query: {document: score}}.")
    lists: Mapping[Any, Any] = parts[0][1]
    return lists


def lists_of_retrieval_dicts(content: Mapping[Any, Any], kind: str) -> Mapping[Any, Any]:
    """`relevant_docs` of queries, corpus and relevant documents in one object; others as they are.

    BadValueError where they are read as a run.
    """
    if not {"queries", "corpus", "relevant_docs"} <= content.keys():
        return content
    if kind != "qrels":
        problem = "these are queries, corpus and relevant_docs of an evaluation, which hold labels and no run"
        raise BadValueError(problem, "Read it as qrels.")
    lists: Mapping[Any, Any] = content["relevant_docs"]
    if not isinstance(lists, Mapping):
        raise BadValueError("relevant_docs is not an object", "Write {query: [document, …]} there.")
    return lists
