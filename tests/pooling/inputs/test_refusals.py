"""What cannot be read is told in one sentence that says what was given and what would do."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

import soundings

QRELS = {"q1": {"a": 1, "b": 0}}


FRAME = pd.DataFrame({"qid": ["q1"], "docno": ["a"], "score": [1.0]})


class Scored(NamedTuple):
    query_id: str
    doc_id: str
    score: Any


class Broken:
    def __dataframe__(self, **options: Any) -> None:
        raise AttributeError("nothing here")


def document(**metadata: Any) -> SimpleNamespace:
    return SimpleNamespace(id=None, metadata=metadata, page_content="")


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "nothing": (None, {}, "Run run is None, which cannot be read. Give a path"),
    "a number": (7, {}, "is an int, '7', which cannot be read"),
    "an object": (object(), {}, "is an object, which cannot be read"),
    "a failing frame": (Broken(), {}, "does not give its rows (AttributeError: nothing here)"),
    "empty dict": ({"run": {}}, {}, "Run run is empty."),
    "empty list": ({"run": []}, {}, "Run run is empty."),
    "empty frame": (pd.DataFrame({"qid": [], "docno": [], "score": []}), {}, "Run run is empty."),
    "no document": (
        pd.DataFrame({"qid": ["q1"], "score": [1.0]}),
        {},
        "no column document_id: it has 'qid, score'",
    ),
    "no score": (pl.DataFrame({"qid": ["q1"], "docno": ["a"]}), {}, "has no column score"),
    "empty id": (
        pl.DataFrame({"qid": ["q1", None], "docno": ["a", "b"], "score": [1, 2]}),
        {},
        "an empty query id",
    ),
    "id of a list": ({"run": {"q1": [["a", 1.0, 2.0]]}}, {}, "in a list of documents"),
    "id of a float": ({"run": {"q1": {1.5: 1.0}}}, {}, "has the document id '1.5' of the type float"),
    "id of half a character": ({"run": {"q1": {"\ud800": 1.0}}}, {}, "half a character"),
    "merged ids": (
        {"run": {1: {"a": 1.0}, "1": {"a": 2.0}}},
        {},
        "has the query ids 1 and '1', which are the same",
    ),
    "a score in words": ({"run": {"q1": {"a": "high"}}}, {}, "has the score \"'high'\" for query 'q1'"),
    "words in a frame": (
        pl.DataFrame({"qid": ["q1"], "docno": ["a"], "score": ["high"]}),
        {},
        "which is not a number",
    ),
    "a score that is true": ({"run": {"q1": {"a": True}}}, {}, "which is not a number"),
    "not finite": (
        {"run": {"q1": {"a": 1.0, "b": float("inf")}}},
        {},
        "has the score inf for query 'q1' and document 'b': it is missing, NaN or infinite",
    ),
    "nested too deep": ({"run": {"q1": {"a": {"b": 1.0}}}}, {}, "is nested too deep"),
    "text for a list": ({"run": {"q1": "a"}}, {}, "has a str, 'a' for query 'q1'. Give a list of documents"),
    "a set as a run": ({"run": {"q1": {"a"}}}, {}, "has a set for query 'q1', which has no order"),
    "some scores": ({"run": {"q1": [("a", 1.0), "b"]}}, {}, "has no score for 1 document of 2"),
    "twice": ({"run": {"q1": ["a", "a"]}}, {}, "more than once; keep one row, or collapse='best'"),
    "no id in a document": (
        {"run": {"q1": [document(source="a", page=2)]}},
        {},
        "the keys are 'source, page'",
    ),
    "another id": (
        {"run": {"q1": [document(source="a")]}},
        {"id_key": "url"},
        "without 'url'; its keys are 'source'",
    ),
    "no id in a dict": ({"run": {"q1": [{"text": "a"}]}}, {}, "Name its key with id_key="),
    "an unknown collapse": ({"run": {"q1": ["a"]}}, {"collapse": "first"}, "There is no collapse 'first'"),
    "an array": (np.array([[1, 2]]), {}, "Name the queries with query_ids="),
    "arrays of two sizes": ((np.ones((1, 2)), np.ones((1, 3))), {"query_ids": ["q1"]}, "of the shape (1, 2)"),
    "a row too many": (np.array([[1], [2]]), {"query_ids": ["q1"]}, "has 2 rows, and query_ids 1 id"),
    "a number too high": (
        np.array([[1, 7]]),
        {"query_ids": ["q1"], "document_ids": ["a", "b"]},
        "has the document number 7",
    ),
    "ids that are a text": (np.array([[1]]), {"query_ids": "q1"}, "query_ids is 'q1'; give a list of ids"),
    "lists without queries": ({"run": [["a"]]}, {}, "is a list with a list for each query"),
    "ids without queries": ({"q1": ["a"], "x": 1}, {}, "has an int, '1' for query 'x'"),
    "short rows": ([("q1", "a", 1.0), ("q1", "b")], {}, "not all of which are (query, document, number)"),
    "a row that lacks a field": (
        [{"qid": "q1", "docno": "a", "score": 1}, {"qid": "q1"}],
        {},
        "a row without docno",
    ),
    "rows of two kinds": ([Scored("q1", "a", 1.0), 3], {}, "has a row without query_id"),
    "two subsets": (
        {"mteb_model_meta": {}, "de": {"test": {}}, "en": {"test": {}}},
        {},
        "one subset and split",
    ),
    "no runs by name": ({}, {}, "An evaluation needs at least one run."),
    "no runs in a list": ([], {}, "An evaluation needs at least one run."),
    "frames without names": ([FRAME, FRAME], {}, "Two runs are called run. Give them as a dict by name."),
    "frames as one run": ({"run": [FRAME]}, {}, "Run run is a list of DataFrame objects. Give one frame."),
    "a retriever": ({"run": SimpleNamespace(invoke=print)}, {}, "Ask it with soundings.run_of"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_run_that_cannot_be_read_is_refused_in_a_sentence(name: str) -> None:
    runs, options, sentence = REFUSED[name]

    with pytest.raises(ValueError) as refused:  # noqa: PT011
        soundings.evaluate(QRELS, runs, k=1, **options)

    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("qrels", "sentence"),
    [
        ({"q1": {"a": 0.7}}, "The qrels have the relevance 0.7 for query 'q1' and document 'a'"),
        (pd.DataFrame({"qid": ["q1"], "docno": ["a"], "label": [0.5]}), "Choose a threshold"),
        ({"q1": {"a": 2**40}}, "whole number"),
        ({"q1": "a"}, "Give a list of documents"),
        ({}, "empty"),
        ([FRAME], "are a list of DataFrame objects. Give one frame."),
        (3, "cannot be read"),
        (pl.DataFrame({"a": [1]}), "have no column query_id, document_id, relevance"),
    ],
)
def test_labels_that_cannot_be_read_are_refused_in_a_sentence(qrels: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        soundings.evaluate(qrels, {"run": {"q1": {"a": 1.0}}}, k=1)

    assert sentence in str(refused.value)


def test_a_folder_without_labels_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"qrels/test\.tsv, as BEIR has it"):
        soundings.evaluate(tmp_path, {"run": {"q1": {"a": 1.0}}}, k=1)


def test_the_labels_of_test_are_taken_and_the_others_named(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    for split, document in (("train", "x"), ("test", "a")):
        (tmp_path / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\t{document}\t1\n")

    result = soundings.evaluate(tmp_path, {"run": {"q1": ["a"]}}, k=1)

    assert result.figure("run", "recall", 1)["mean"] == 1.0
    assert f"{tmp_path.name}: the labels are those of test; there are train too." in result.notes


@pytest.mark.parametrize(
    ("retriever", "sentence"),
    [
        (None, "The retriever is None, which cannot be asked"),
        ("bm25", "which cannot be asked"),
        (lambda text: None, "answered query 'q1' with nothing"),
        (lambda text: [document(source="a")], "Name the key of its metadata"),
        (lambda text: "a", "Give a list of documents"),
        (lambda text: [], "is empty"),
        (SimpleNamespace(run=lambda query_embedding: {}), "whose run takes query_embedding and no query"),
    ],
)
def test_a_retriever_that_cannot_be_asked_is_refused_in_a_sentence(retriever: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        soundings.run_of(retriever, {"q1": "night bus"}, k=1)

    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("queries", "sentence"),
    [
        (["night bus"], "texts without ids"),
        ({"q1": 3}, "Query 'q1' is an int"),
        ({}, "no queries"),
        (7, "The queries are an int"),
        (pd.DataFrame({"qid": ["q1"]}), "they need query_id and text"),
    ],
)
def test_queries_that_cannot_be_asked_are_refused_in_a_sentence(queries: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        soundings.run_of(lambda text: ["a"], queries, k=1)

    assert sentence in str(refused.value)
