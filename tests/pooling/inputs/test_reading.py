"""The same run is the same frame in whatever shape it comes, and what is assumed about it is said."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import soundings
from pooling.inputs.given import KeyedSource, Keys
from pooling.inputs.reading import run_frame

IDS = st.text(alphabet="abc0189-_ é", min_size=1, max_size=4)
SCORES = st.floats(-1e6, 1e6).map(lambda score: score + 0.0)
RUNS = st.dictionaries(IDS, st.dictionaries(IDS, SCORES, min_size=1, max_size=5), min_size=1, max_size=4)
QRELS = {"q1": {"a": 1, "b": 1}}


class Scored(NamedTuple):
    query_id: str
    doc_id: str
    score: float


def shapes_of(run: dict[str, dict[str, float]]) -> dict[str, Any]:
    rows = [(query, document, score) for query, held in run.items() for document, score in held.items()]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    lists = {query: list(held.items()) for query, held in run.items()}
    documents = {
        query: [SimpleNamespace(id=None, metadata={"source": one}, score=score) for one, score in held]
        for query, held in lists.items()
    }
    ids = sorted({document for _, document, _ in rows})
    deepest = max(map(len, lists.values()))
    numbers, scores = np.full((len(run), deepest), -1), np.zeros((len(run), deepest))
    for place, held in enumerate(lists.values()):
        numbers[place, : len(held)] = [ids.index(one) for one, _ in held]
        scores[place, : len(held)] = [score for _, score in held]
    keys = Keys(query_ids=list(run), document_ids=ids)
    return {
        "rows": rows,
        "named rows": [Scored(*row) for row in rows],
        "records": frame.to_dict("records"),
        "columns": frame.to_dict("list"),
        "pandas": frame,
        "index": frame.set_index(["qid", "docno"]),
        "series": frame.set_index(["qid", "docno"])["score"],
        "Polars": pl.DataFrame(frame.to_dict("list")),
        "lazy": pl.DataFrame(frame.to_dict("list")).lazy(),
        "pairs": lists,
        "dicts": {
            query: [{"_id": one, "score": score} for one, score in held] for query, held in lists.items()
        },
        "documents": KeyedSource(documents, Keys(id_key="source")),
        "arrays": KeyedSource((numbers, scores), keys),
        "objects": SimpleNamespace(to_dict=lambda: run),
    }


@given(RUNS)
def test_one_run_in_every_shape_is_one_frame(run: dict[str, dict[str, float]]) -> None:
    # The lists of a search come best first.
    run = {query: dict(sorted(held.items(), key=lambda pair: -pair[1])) for query, held in run.items()}
    frame = run_frame("a", run)

    for name, shape in shapes_of(run).items():
        assert run_frame("a", shape).equals(frame), name


def test_whole_numbers_become_text_with_a_note() -> None:
    result = soundings.evaluate({7: {1: 1}}, {"run": {7: {np.int64(1): 2.0}}}, k=1)

    assert result.figure("run", "recall", 1)["mean"] == 1.0
    assert "Run run has whole numbers as document ids; they are read as text." in result.notes
    assert "The qrels have whole numbers as query ids; they are read as text." in result.notes


def test_distances_of_a_search_count_the_least_first_and_plain_pairs_are_followed() -> None:
    far = (np.array([[0.1, 0.9]]), np.array([[0, 1]]))
    result = soundings.evaluate(QRELS, far, k=1, query_ids=["q1"], document_ids=["a", "x"])
    assert result.figure("run", "recall", 1)["mean"] == 0.5
    assert "read as distances" in result.notes[0]

    pairs = soundings.evaluate(QRELS, {"run": {"q1": [("a", 0.1), ("x", 0.9)]}}, k=1)
    assert pairs.figure("run", "recall", 1)["mean"] == 0.0
    assert "If they are distances, give them negative" in pairs.notes[0]


def test_the_best_passage_of_a_document_counts_and_the_convention_says_so() -> None:
    found = {
        "q1": [({"source": "x"}, 0.9), ({"source": "a"}, 0.8), ({"source": "x"}, 0.7), ({"source": "b"}, 0.1)]
    }

    result = soundings.evaluate(QRELS, {"run": found}, k=2, id_key="source", collapse="best")

    assert result.figure("run", "recall", 2)["mean"] == 0.5
    assert "best passage per document (id from 'source')" in result.convention_line("run", "recall", 2)
    assert "4 passages of 3 documents" in result.notes[0]
    with pytest.warns(UserWarning, match="4 passages of 3 documents"):
        pool = soundings.pool({"run": found}, depth=3, id_key="source", collapse="best")
    assert pool["document_id"].to_list() == ["x", "a", "b"]


@pytest.mark.parametrize("ties", ["rank", "docid"])
def test_lists_have_ranks(ties: str) -> None:
    from evaluation import Conventions

    equal = {"run": {"q1": [("a", 1.0), ("x", 1.0)]}}
    result = soundings.evaluate(QRELS, equal, k=1, conventions=Conventions(ties=ties))

    assert result.figure("run", "recall", 1)["mean"] == (0.5 if ties == "rank" else 0.0)


def test_an_iterator_can_be_compared_though_it_is_read_twice() -> None:
    rows = [("q1", "a", 2.0), ("q1", "x", 1.0)]
    result = soundings.evaluate(QRELS, {"one": iter(rows), "two": iter(rows[1:])}, k=1)

    assert soundings.compare(result, "one", "two").difference == 0.5


@pytest.mark.parametrize(
    "retriever",
    [
        SimpleNamespace(search_kwargs={"k": 4}, invoke=lambda text, k=4: ["b", "a", "c"][:k]),
        SimpleNamespace(similarity_search=lambda text, k=4: ["b", "a", "c"][:k]),
        SimpleNamespace(similarity_top_k=1, retrieve=lambda text: [("b", 0.9), ("a", 0.8), ("c", 0.1)]),
        SimpleNamespace(run=lambda query, top_k=1: {"documents": ["b", "a", "c"][:top_k]}),
        lambda text: ["b", "a", "c"],
        lambda text, top_k=1: ["b", "a", "c"][:top_k],
        lambda text: {"b": 0.9, "a": 0.8},
    ],
)
def test_a_retriever_is_asked_for_as_many_documents_as_wanted(retriever: Any) -> None:
    run = soundings.run_of(retriever, {"q1": "night bus"}, k=2)

    assert run.rows() in (
        [("q1", "b", -1.0), ("q1", "a", -2.0)],
        [("q1", "b", 0.9), ("q1", "a", 0.8)],
    )


def test_lists_that_are_shorter_than_asked_for_are_told() -> None:
    with pytest.warns(UserWarning, match="at most 1 documents? for a query; 5 were asked for"):
        soundings.run_of(lambda text: ["a"], pd.DataFrame({"qid": ["q1"], "query": ["night bus"]}), k=5)


def test_a_notebook_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    handle = SimpleNamespace(update=lambda data, raw: shown.append(data["text/html"]))
    module = SimpleNamespace(display=lambda data, raw, display_id: shown.append(data["text/html"]) or handle)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=module))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)

    soundings.run_of(lambda text: ["a"], {"q1": "one", "q2": "two"}, k=1)

    assert "Asking 1 of 2 queries" in shown[1]
    assert '<progress max="1" value="1.000">' in shown[-1]
